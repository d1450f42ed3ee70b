"""Lines of registration sites, in modules long enough for the cursor."""

from __future__ import annotations

import sys

from torchgen_lite.runtime.sites import LONG, line_of


def lines_of(text: str) -> list[tuple[int, int]]:
    """(line by the cursor, line by the frame) of every call of `here()` in a module."""
    found: list[tuple[int, int]] = []

    def here(*arguments: object) -> None:
        frame = sys._getframe(1)
        found.append((line_of(frame), frame.f_lineno))

    code = compile(text, "long.py", "exec")
    assert len(code.co_linetable) >= LONG
    exec(code, {"here": here})
    return found


def test_one_registration_a_line() -> None:
    found = lines_of("here()\n" * 1500)
    assert found == [(line, line) for line in range(1, 1501)]


def test_blank_lines_and_calls_over_several_lines() -> None:
    text = "\n\nhere(\n    1,\n    2,\n)\n" * 500
    found = lines_of(text)
    assert len(found) == 500
    assert all(line == expected for line, expected in found)


def test_loops_go_back() -> None:
    body = "    here()\n" * 1500
    found = lines_of(f"for _ in range(3):\n{body}here()\n")
    assert len(found) == 4501
    assert all(line == expected for line, expected in found)


def test_two_modules_in_turns() -> None:
    inner = compile("here()\n" * 300, "inner.py", "exec")
    found: list[tuple[int, int]] = []

    def here() -> None:
        frame = sys._getframe(1)
        found.append((line_of(frame), frame.f_lineno))

    outer = compile("exec(inner, scope)\nhere()\n" * 200, "outer.py", "exec")
    scope = {"here": here, "inner": inner}
    exec(outer, {**scope, "scope": scope})
    assert all(line == expected for line, expected in found)
    assert len(found) == 200 * 301
