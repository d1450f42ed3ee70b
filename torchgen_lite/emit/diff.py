"""Unified diffs that `git apply` takes: `a/` and `b/` paths, `/dev/null`, missing final newlines."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Iterator

from torchgen_lite.emit.plan import Change

_NO_NEWLINE = "\\ No newline at end of file\n"


def render_diff(changes: Iterable[Change], prefix: str) -> str:
    """One patch of all changes; `prefix` is the output directory as git sees it."""
    return "".join(
        diff_change(change, f"{prefix}/{change.path}" if prefix else change.path)
        for change in changes
        if change.action != "keep"
    )


def diff_change(change: Change, path: str) -> str:
    """
    diff --git a/generated/x.py b/generated/x.py
    --- a/generated/x.py
    +++ b/generated/x.py
    @@ -1,2 +1,2 @@
    """
    path = path.lstrip("/")  # A folder outside the project is shown whole, as `git diff` shows it.
    head = f"diff --git a/{path} b/{path}\n"
    before, after = f"a/{path}", f"b/{path}"
    if change.old is None:
        head, before = f"{head}new file mode 100644\n", "/dev/null"
    if change.new is None:
        head, after = f"{head}deleted file mode 100644\n", "/dev/null"
    # Line ends stay as they are on disk, else git could not find the lines that it is to replace.
    old, new = (change.old or "").splitlines(True), (change.new or "").splitlines(True)
    body = "".join(_finished(difflib.unified_diff(_lines(old), _lines(new), before, after)))
    return head + body


def _lines(lines: list[str]) -> list[str]:
    """`splitlines` also splits at form feeds and their kin, which are no line ends to git."""
    joined: list[str] = []
    for line in lines:
        if joined and not joined[-1].endswith("\n"):
            joined[-1] += line
        else:
            joined.append(line)
    return joined


def _finished(lines: Iterable[str]) -> Iterator[str]:
    """Mark lines that end without a newline, as diff does."""
    for line in lines:
        yield line if line.endswith("\n") else f"{line}\n{_NO_NEWLINE}"


def count_lines(change: Change) -> tuple[int, int]:
    """How many lines a change adds and removes."""
    old, new = (change.old or "").splitlines(), (change.new or "").splitlines()
    if not old or not new:
        return len(new), len(old)
    added = removed = 0
    for line in difflib.unified_diff(old, new, n=0, lineterm=""):
        added += line.startswith("+") and not line.startswith("+++ ")
        removed += line.startswith("-") and not line.startswith("--- ")
    return added, removed
