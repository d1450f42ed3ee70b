"""Cases in a text file: `# what the case shows`, the statement, `-->`, its lines."""

from __future__ import annotations

from pathlib import Path

import pytest


def read_cases(name: str, comment: str) -> list[object]:
    """The parameters of a test: statements with their lines."""
    text = (Path(__file__).parent / name).read_text("utf-8")
    return [_case(case, comment) for case in text.rstrip("\n").split("\n\n")]


def _case(text: str, comment: str) -> object:
    shown, statement, arrow, *lines = text.split("\n")
    assert arrow == "-->" and shown.startswith(comment), text
    return pytest.param(statement, lines, id=shown.removeprefix(comment))
