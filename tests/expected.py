"""Texts that tests keep in files."""

from __future__ import annotations

import os
from pathlib import Path


def expect(path: Path, text: str) -> None:
    """The text is that of the file, which `UPDATE_EXPECT=1` writes."""
    if os.environ.get("UPDATE_EXPECT"):
        path.write_text(text, "utf-8")
    assert text == path.read_text("utf-8")
