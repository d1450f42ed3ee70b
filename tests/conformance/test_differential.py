"""Random rounds of registrations and calls, in torch and here, with a fixed seed; others by hand."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from tests.conftest import ROOT
from tests.installed import needs_the_keys_of_the_runtime

pytest.importorskip("torch")
pytestmark = [pytest.mark.torch, needs_the_keys_of_the_runtime]


def test_a_thousand_rounds_through_both_dispatchers() -> None:
    """In a separate process: the rounds replace fallbacks of torch, which are gone afterwards."""
    command = [sys.executable, "-W", "ignore", "-m", "tests.conformance.differential"]
    command += ["--seed=1", "--rounds=1000"]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True)
    assert (done.stdout, done.stderr) == ("1000 rounds, no difference\n", "")
