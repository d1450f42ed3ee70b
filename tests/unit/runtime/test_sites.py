"""The places of registrations, and their lines."""

from __future__ import annotations

import sys
from types import CodeType

import pytest

from torchgen_lite.runtime import sites
from torchgen_lite.runtime.sites import line_at, place, site


def lines_of(text: str) -> list[tuple[int, int]]:
    """For every call of `here()` in a module: (line computed afterwards, line of the frame during the call)."""
    found: list[tuple[CodeType, int, int]] = []

    def here(*arguments: object) -> None:
        frame = sys._getframe(1)
        found.append((frame.f_code, frame.f_lasti, frame.f_lineno))

    exec(compile(text, "module.py", "exec"), {"here": here})
    return [(line_at(code, offset), line) for code, offset, line in found]


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("here()\n" * 1500, 1500),
        ("\n\nhere(\n    1,\n    2,\n)\n" * 500, 500),
        (f"for _ in range(3):\n{'    here()' + chr(10)}here()\n", 4),
        ("def inner():\n\n    here()\nhere()\ninner()\n", 2),
    ],
)
def test_lines(text: str, count: int) -> None:
    found = lines_of(text)
    assert len(found) == count
    assert [line for line, _ in found] == [expected for _, expected in found]


def test_a_site_in_words() -> None:
    frame = sys._getframe()
    assert site(*place(frame, "by hand")) == "by hand"
    where, offset = place(frame, None)
    assert site(where, offset) == f"registered at {__file__}:{frame.f_lineno - 1}"


def test_what_was_decoded_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sites, "DECODED_LIMIT", 3)
    sites._decoded.clear()
    for number in range(8):
        assert lines_of("\n" * number + "here()") == [(number + 1, number + 1)]
    assert len(sites._decoded) <= 3
