"""The plan: what `generate` would do to each file, computed without touching any.

Note [Where orphans are looked for]
A full run into a folder inside the project looks everywhere below it. Of any other folder (`..`,
say) only a part is the project's, and a run of some targets cannot judge the others' files. In both
cases it looks only in the folders that have files of this run, and below the Python packages of
this run. Folders with their own configuration belong to another project.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path, PurePosixPath
from typing import Literal, NamedTuple

from torchgen_lite.diagnostics import Diagnostic
from torchgen_lite.emit.header import MARKER, marked_sources
from torchgen_lite.emit.owner import Owner
from torchgen_lite.loader.config.project import find_in_folder
from torchgen_lite.loader.sources import UNFIT

TEMPORARY = ".torchgen-lite-tmp-"
"""The prefix of the names of files not yet in place; see Note [Temporary files]."""

Action = Literal["create", "update", "delete", "keep"]


class Change(NamedTuple):
    """What happens to one file: `old` and `new` are its texts, or None if it doesn't exist.

    Bytes of `old` that are not UTF-8 are lone surrogates in it (`surrogateescape`).
    """

    path: str
    action: Action
    old: str | None
    new: str | None
    is_executable: bool = False


class Plan(NamedTuple):
    """Every file of a run, sorted by path, and the errors that prevent the run.

    `leftovers` are temporary files of other runs, killed or not; messages call the folder `shown`.
    """

    root: Path
    changes: Sequence[Change]
    diagnostics: Sequence[Diagnostic] = ()
    leftovers: Sequence[Path] = ()
    shown: str = ""

    def path(self, path: str) -> str:
        """What messages call one of the files."""
        return "/".join(filter(None, (self.shown, path))) or "."

    @property
    def pending(self) -> Sequence[Change]:
        """The changes that are not `keep`."""
        return [change for change in self.changes if change.action != "keep"]


# How many bytes file systems take for one part of a path.
_LONGEST = 255
_NO_FOLDER = "is a file where a folder should be"


def build_plan(
    files: Mapping[str, str],
    root: Path,
    shown: str,
    *,
    project: Path | None = None,
    schemas: Collection[Path] = (),
    is_whole: bool = True,
) -> Plan:
    """Compare the files with the disk.

    `project` is the folder of the configuration; without it, no other project can own the output
    folder. `schemas` are the schema files of this run. `is_whole`: nothing else is generated there.
    """
    owner = Owner(files, root, project, schemas)
    plan = Plan(root, (), shown=shown)
    changes: list[Change] = []
    diagnostics: list[Diagnostic] = []
    for path in sorted(files):
        problem = check_path(path) or _check_disk(root, path)
        if problem is not None:
            place = _file_above(root, path) if problem == _NO_FOLDER else path
            message = f"`{plan.path(place)}` {problem}"
            wrong = Diagnostic("TG013", message)
            if wrong not in diagnostics:
                diagnostics.append(wrong)
            continue
        old = _read(root / path)
        new = files[path]
        # CRLF line ends do not make a checkout stale.
        if old is not None and (old == new or old.replace("\r\n", "\n") == new):
            changes.append(Change(path, "keep", old, new))
        elif old is not None and not owner.wrote(path, old):
            diagnostics.append(_in_the_way(plan.path(path), old))
        else:
            changes.append(Change(path, "create" if old is None else "update", old, new))
    on_disk = [*_find_files(root, files, owner.is_alone and is_whole)]
    leftovers = [path for path in on_disk if path.name.startswith(TEMPORARY)]
    for file in sorted({*on_disk} - {root / path for path in files} - {*leftovers}):
        first = _first_line(file)
        path = file.relative_to(root).as_posix()
        if MARKER in first and owner.wrote(path, first):
            executable = os.access(file, os.X_OK)
            changes.append(Change(path, "delete", _read(file), None, executable))
    changes.sort(key=lambda change: change.path)
    return Plan(root, changes, diagnostics, leftovers, shown)


def check_path(path: str) -> str | None:
    """Why a target may not write to `path`, or None."""
    parts = PurePosixPath(path).parts
    if not path or path.startswith(("/", "\\")) or ":" in path or "\\" in path:
        return "is not a relative path with forward slashes"
    if UNFIT.search(path):
        return "has control characters"
    if ".." in parts or "." in path.split("/") or "" in path.split("/"):
        return "leaves the output directory"
    if any(len(part.encode()) > _LONGEST for part in parts):
        return f"has a name of more than {_LONGEST} bytes, which no disk takes"
    return None


def _check_disk(root: Path, path: str) -> str | None:
    """Refuse symbolic links: writing through them would leave the output directory."""
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
    if stat.S_ISDIR(mode):
        return "is a directory"
    return None if stat.S_ISREG(mode) else "is not a regular file"


def _file_above(root: Path, path: str) -> str:
    """The part of `path` that exists and is not a folder; `""` is the output directory itself."""
    parts = PurePosixPath(path).parts
    for length in range(len(parts)):
        above = "/".join(parts[:length])
        place = root / above
        if place.exists() and not place.is_dir():
            return above
    return path


def _in_the_way(path: str, old: str) -> Diagnostic:
    message = f"`{path}` was not generated and is in the way"
    help_ = "move or delete it; a file without the marker is never overwritten"
    if named := marked_sources(old):
        message = f"`{path}` is in the way: another project generated it, from `{', '.join(named)}`"
        help_ = "give one of them another output folder; if nothing generates the file any more, delete it"
    return Diagnostic("TG010", message, help=help_)


def _read(path: Path) -> str | None:
    try:
        return path.read_bytes().decode("utf-8", "surrogateescape")
    except FileNotFoundError:
        return None


def _find_files(
    root: Path,
    files: Iterable[str],
    everywhere: bool,
) -> Iterator[Path]:
    """Regular files that may be orphans or leftovers (Note [Where orphans are looked for])."""
    packages = {os.path.dirname(path) for path in files if os.path.basename(path) == "__init__.py"}
    folders = [""] if everywhere else sorted({os.path.dirname(path) for path in files})
    for folder in folders:
        for directory, names, file_names in os.walk(root / folder, followlinks=False):
            inner = [n for n in sorted(names) if n != "__pycache__" and not n.startswith(".")]
            is_deep = everywhere or folder in packages
            names[:] = [n for n in inner if is_deep and not find_in_folder(Path(directory, n), [])]
            for name in sorted(file_names):
                path = Path(directory, name)
                with suppress(OSError):  # Another run may be writing.
                    if stat.S_ISREG(path.lstat().st_mode):
                        yield path


def _first_line(path: Path) -> str:
    try:
        with path.open("rb") as stream:
            return stream.readline(1 << 16).decode("utf-8", "surrogateescape")
    except OSError:
        return ""
