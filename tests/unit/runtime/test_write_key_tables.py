"""Every file written from `key_tables.py` is up to date."""

from __future__ import annotations

import runpy
from pathlib import Path

import pytest

from tests.conftest import ROOT

FILES: dict[Path, str] = runpy.run_path(str(ROOT / "runtime" / "write_key_tables.py"))[
    "render_files"
]()


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_files_follow_from_the_table(path: Path) -> None:
    assert path.read_text() == FILES[path]
