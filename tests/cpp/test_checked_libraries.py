"""Whole libraries, built and loaded: autograd, structured kernels, and a backend.

A test here is a check of `autograd_ops/checks.py` and its like; those ran when the library was built.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import pytest

from tests.cpp.checked_library import check_names, run_checks
from tests.cpp.compiling import needs_compiler

pytestmark = [pytest.mark.torch, needs_compiler]

LIBRARIES = ("autograd_ops", "structured_ops", "device_ops", "backend_ops")
CASES = [(library, check) for library in LIBRARIES for check in check_names(library)]


@pytest.fixture(scope="module")
def outcomes(
    tmp_path_factory: pytest.TempPathFactory, precompiled: tuple[str, ...]
) -> Callable[[str], dict[str, list[str]]]:
    """What is wrong by each check of a library, which is built once."""

    @cache
    def run(library: str) -> dict[str, list[str]]:
        return run_checks(library, tmp_path_factory.mktemp(library), precompiled)

    return run


@pytest.mark.parametrize(("library", "check"), CASES)
def test_check(outcomes: Callable[[str], dict[str, list[str]]], library: str, check: str) -> None:
    problems = outcomes(library)[check]
    if problems:
        pytest.fail("\n".join(problems), pytrace=False)
