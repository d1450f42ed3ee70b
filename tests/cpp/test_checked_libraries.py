"""Whole libraries, built and loaded: autograd, structured kernels, and a backend.

A test here is a check of `autograd_ops/checks.py` and its like; those ran when the library was built.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest

from tests.conformance.backends import differences
from tests.cpp.checked_library import WRITTEN, check_names, run_checks
from tests.cpp.compiling import needs_compiler
from tests.installed import todays_torchgen

pytestmark = [pytest.mark.torch, needs_compiler]

LIBRARIES = ("autograd_ops", "structured_ops", "device_ops", "backend_ops", WRITTEN)
CASES = [(library, check) for library in LIBRARIES for check in check_names(library)]


Built = Callable[[str], tuple[Path, dict[str, list[str]]]]


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory, precompiled: tuple[str, ...]) -> Built:
    """Where a library is, which is built once, and what is wrong by each check of it."""

    @cache
    def run(library: str) -> tuple[Path, dict[str, list[str]]]:
        folder = tmp_path_factory.mktemp(library)
        return folder, run_checks(library, folder, precompiled)

    return run


@pytest.mark.parametrize(("library", "check"), CASES)
def test_check(built: Built, library: str, check: str) -> None:
    problems = built(library)[1][check]
    if problems:
        pytest.fail("\n".join(problems), pytrace=False)


@todays_torchgen
def test_every_cell_and_call_is_known_from_the_files(built: Built) -> None:
    """As `tests/conformance/backends.py` compares the files of vendors, by hand."""
    folder, _ = built("backend_ops")
    wrong, alike = differences(folder, folder / "library.so")
    assert wrong == [] and alike > 300_000
