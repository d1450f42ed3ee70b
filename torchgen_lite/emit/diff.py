"""Unified diffs that `git apply` accepts: `a/` and `b/` paths, `/dev/null`, missing final
newlines."""

from __future__ import annotations

from collections.abc import Iterable
from io import StringIO

from torchgen_lite.diagnostics import Label, Source, Span
from torchgen_lite.emit.plan import Change
from torchgen_lite.languages.cpp.text import quote


def render_diff(changes: Iterable[Change], prefix: str) -> str:
    """One patch of all changes; `prefix` is the output directory as git sees it.

    Bytes that are not UTF-8 appear as lone surrogates, as in the texts of changes.
    """
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
    from difflib import unified_diff  # Most runs find nothing to compare.

    path = path.lstrip("/")  # A folder outside the project is shown whole, as `git diff` shows it.
    before = _quoted(f"a/{path}")
    after = _quoted(f"b/{path}")
    head = f"diff --git {before} {after}\n"
    # A timestamp may follow the tab; without the tab git ends the name at a space.
    end = "\t" if " " in path else ""
    before = before + end
    after = after + end
    if change.old is None:
        head = f"{head}new file mode 100644\n"
        before = "/dev/null"
    if change.new is None:
        mode = "100755" if change.is_executable else "100644"
        head = f"{head}deleted file mode {mode}\n"
        after = "/dev/null"
    # Lines as git sees them, which has to find them: ended by a newline and by nothing else.
    old = [*StringIO(change.old or "")]
    new = [*StringIO(change.new or "")]
    lines = unified_diff(old, new, before, after)
    # Lines that end without a newline are marked, as diff does.
    marked = (x if x.endswith("\n") else f"{x}\n\\ No newline at end of file\n" for x in lines)
    return head + "".join(marked)


def _quoted(name: str) -> str:
    """A name as git writes it: quoted and escaped byte by byte unless it is plain ASCII.

    >>> _quoted('a/"x"')
    '"a/\\\\"x\\\\""'
    """
    if name.isascii() and name.isprintable() and not set(name) & {'"', "\\"}:
        return name
    return quote(name)


def count_lines(change: Change) -> tuple[int, int]:
    """How many lines a change adds and removes."""
    old = (change.old or "").splitlines()
    new = (change.new or "").splitlines()
    if not old or not new:
        return len(new), len(old)
    from difflib import unified_diff

    added = removed = 0
    for line in unified_diff(old, new, n=0, lineterm=""):
        added += line.startswith("+") and not line.startswith("+++ ")
        removed += line.startswith("-") and not line.startswith("--- ")
    return added, removed


def first_difference(
    change: Change,
    path: str,
    label: str,
) -> Label:
    """A label at the first line where the texts of a file differ, or at the old text's last line."""
    old = change.old or ""
    new = change.new or ""
    lines = old.splitlines(keepends=True)
    at = 0
    for line, other in zip(lines[:-1], new.splitlines(keepends=True)):
        if line != other:
            break
        at += len(line)
    return Label(Span(Source(path, old), at, at), label)
