"""Random rounds of registrations and calls, in torch and here, with a fixed seed; others by hand."""

from __future__ import annotations

import pytest

from tests.installed import needs_the_keys_of_the_runtime

pytest.importorskip("torch")
pytestmark = [pytest.mark.torch, needs_the_keys_of_the_runtime]


def test_a_thousand_rounds_through_both_dispatchers() -> None:
    from bench.differential import run

    assert run(seed=1, rounds=1000) == ""
