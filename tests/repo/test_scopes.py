"""Tests that run in parallel stay together where they share what is built once for each process."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from tests.conftest import ROOT, SHARING, pytest_xdist_make_scheduler

pytest.importorskip("xdist")
# What the scheduler of pytest-xdist reads of the configuration.
OPTIONS = {"dist": "load", "tx": ["popen"]}
CONFIG: Any = SimpleNamespace(option=SimpleNamespace(), getoption=OPTIONS.get, getvalue=OPTIONS.get)


@pytest.mark.parametrize(
    ("test", "scope"),
    [
        ("tests/unit/test_key_tables.py::test_one[a::b]", "tests/unit/test_key_tables.py"),
        ("tests/unit/test_key_tables.py::Class::test_one", "tests/unit/test_key_tables.py"),
        ("tests/torch_stubs/test_functions.py::test_one", "tests/torch_stubs/"),
        ("tests/shipping/test_wheels.py::test_one[a]", "tests/shipping/"),
    ],
)
def test_a_file_is_a_scope_or_its_folder(test: str, scope: str) -> None:
    scheduler = pytest_xdist_make_scheduler(CONFIG, None)
    assert scheduler._split_scope(test) == scope
    assert CONFIG.option.loadscopereorder is False


@pytest.mark.parametrize("folder", SHARING)
def test_a_folder_shares_what_lasts_a_session(folder: str) -> None:
    assert 'scope="session"' in (ROOT / folder / "conftest.py").read_text()


def test_who_asks_for_another_distribution_gets_it() -> None:
    other: Any = SimpleNamespace(getoption={"dist": "worksteal"}.get)
    assert pytest_xdist_make_scheduler(other, None) is None
