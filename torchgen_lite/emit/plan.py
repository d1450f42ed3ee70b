"""The plan: what `generate` would do to each file, worked out without touching any.

Note [Ownership by marker]
Inside the output directory a file belongs to us if its first line carries our marker. Such a file that is
not in the plan is an orphan and is deleted; a file without the marker is an error when it is in the way,
and is otherwise not looked at, unless it says word for word what would be written. There is no list of files to keep up to date, and nothing to lose.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Literal

from torchgen_lite.diagnostics import Diagnostic
from torchgen_lite.emit.header import MARKER, is_marked

Action = Literal["create", "update", "delete", "keep"]


@dataclass(frozen=True, slots=True)
class Change:
    """What happens to one file: `old` and `new` are its texts, None where it doesn't exist."""

    path: str
    action: Action
    old: str | None
    new: str | None


@dataclass(frozen=True, slots=True)
class Plan:
    """Every file of a run, sorted by path, and what forbids the run."""

    root: Path
    changes: tuple[Change, ...]
    diagnostics: tuple[Diagnostic, ...] = ()

    @property
    def pending(self) -> tuple[Change, ...]:
        """The changes that are not `keep`."""
        return tuple(c for c in self.changes if c.action != "keep")


_NO_FOLDER = "is a file where a folder should be"


def build_plan(files: Mapping[str, str], root: Path, folders: Iterable[str], shown: str) -> Plan:
    """Compare the files with the disk. `folders` (below `root`) are searched for orphans.

    `shown` is how the output directory is called in messages.
    """
    changes: list[Change] = []
    diagnostics: list[Diagnostic] = []
    for path in sorted(files):
        problem = check_path(path) or _check_disk(root, path)
        if problem is not None:
            place = _file_above(root, path) if problem == _NO_FOLDER else path
            found = _located(problem, f"{shown}/{place}".rstrip("/"))
            diagnostics += [found] if found not in diagnostics else []
            continue
        old = _read(root / path)
        if old is not None and not is_marked(old) and old != files[path]:
            diagnostics.append(_in_the_way(f"{shown}/{path}"))
            continue
        changes.append(Change(path, _action(old, files[path]), old, files[path]))
    for path in sorted(set(find_marked(root, folders)) - set(files)):
        changes.append(Change(path, "delete", _read(root / path), None))
    changes.sort(key=lambda change: change.path)
    return Plan(root, tuple(changes), tuple(diagnostics))


def _action(old: str | None, new: str) -> Action:
    if old is None:
        return "create"
    # A checkout with CRLF line ends is as fresh as one without.
    return "keep" if old == new or old.replace("\r\n", "\n") == new else "update"


def check_path(path: str) -> str | None:
    """Why a target may not write to `path`, or None."""
    parts = PurePosixPath(path).parts
    if not path or path.startswith(("/", "\\")) or ":" in path or "\\" in path:
        return "is not a relative path with forward slashes"
    if ".." in parts or "." in path.split("/") or "" in path.split("/"):
        return "leaves the output directory"
    return None


def _check_disk(root: Path, path: str) -> str | None:
    """Refuse symbolic links: they would take a write out of the output directory."""
    current = root
    for part in PurePosixPath(path).parts:
        current = current / part
        try:
            mode = current.lstat().st_mode
        except FileNotFoundError:
            return None
        except NotADirectoryError:
            return _NO_FOLDER
        if stat.S_ISLNK(mode):
            return "is, or is below, a symbolic link"
    return "is a directory" if stat.S_ISDIR(mode) else None


def _file_above(root: Path, path: str) -> str:
    """The part of `path` that is a file and no folder; `""` is the output directory itself."""
    parts = PurePosixPath(path).parts
    folders = ["/".join(parts[:length]) for length in range(len(parts))]
    return next((folder for folder in folders if (root / folder).is_file()), path)


def _located(problem: str, path: str) -> Diagnostic:
    return Diagnostic("TG013", f"`{path}` {problem}", help="nothing was written")


def _in_the_way(path: str) -> Diagnostic:
    return Diagnostic(
        "TG010",
        f"`{path}` was not generated and is in the way",
        help="move or delete it; a file without the marker is never overwritten",
    )


def _read(path: Path) -> str | None:
    try:
        return path.read_bytes().decode("utf-8", "replace")
    except FileNotFoundError:
        return None


def find_marked(root: Path, folders: Iterable[str]) -> Iterator[str]:
    """Files below the folders that carry the marker, as paths relative to `root`."""
    for folder in dict.fromkeys(folders):
        base = root / folder if folder else root
        for directory, names, files in os.walk(base, followlinks=False):
            names[:] = sorted(n for n in names if n != "__pycache__" and not n.startswith("."))
            for name in sorted(files):
                path = Path(directory, name)
                if not path.is_symlink() and _starts_marked(path):
                    yield path.relative_to(root).as_posix()


def _starts_marked(path: Path) -> bool:
    try:
        with path.open("rb") as stream:
            first = stream.readline(400)
    except OSError:
        return False
    return MARKER.encode() in first
