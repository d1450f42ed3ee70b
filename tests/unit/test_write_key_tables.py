"""Every file written from `key_tables.py` is up to date."""

from __future__ import annotations

from pathlib import Path

import pytest

from torchgen_lite.write_key_tables import render_files

FILES = render_files()


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_files_follow_from_the_table(path: Path) -> None:
    assert path.read_text() == FILES[path]
