"""Revisions, read with git: nothing is checked out, and no hook, filter or textconv of the repository runs.

Git runs in the root of the repository, where it finds `.git`. In a folder further down it would first look whether that
folder is a bare repository, which a branch can make of any folder, with a configuration that names commands.
"""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Collection, Iterator, Sequence
from io import BytesIO
from pathlib import Path, PurePosixPath
from typing import NamedTuple

from torchgen_lite.diagnostics import Diagnostic
from torchgen_lite.loader.sources import MAX_BYTES

# Names of branches and tags, hashes, `HEAD~2`, `v1^{commit}`, `main@{yesterday}`; never an option, and no
# `:`, which would name a file.
_REVISION = re.compile(r"[A-Za-z0-9_@][A-Za-z0-9_@./+~^{}-]*")
# The kinds of files a project is read from: schemas, configuration, templates, kernel modules.
_SUFFIXES = (".yaml", ".yml", ".toml", ".j2", ".py", ".pyi")
_REGULAR = ("100644", "100755")
# How many files are held in memory at once.
_AT_ONCE = 500


class NoRevisionError(ValueError):
    """The revision or git itself is missing."""


class Commit(NamedTuple):
    """A commit by its hash, and the root of the repository that has it."""

    hash: str
    top: Path


def no_base(message: str) -> Diagnostic:
    hint = "give a schema file, a folder of them, or a revision such as `main` or `HEAD~1`"
    return Diagnostic("TG014", message, help=hint)


def find_commit(revision: str, root: Path) -> Commit:
    """The commit that a revision names in the repository of a folder. Raises NoRevisionError."""
    wrong = f"`{revision}` is neither a file nor a git revision"
    if not _REVISION.fullmatch(revision):
        raise NoRevisionError(wrong)
    there = root.resolve()
    top = next((one for one in (there, *there.parents) if (one / ".git").exists()), None)
    if top is None:
        raise NoRevisionError(f"{wrong}: not in a git repository")
    try:
        done = _git(top, "rev-parse", "--verify", "--quiet", f"{revision}^{{commit}}")
    except OSError as error:
        raise NoRevisionError(
            f"cannot run git: {(error.strerror or str(error)).lower()}"
        ) from error
    if done.returncode != 0:
        reason = done.stderr.decode("utf-8", "replace").strip().removeprefix("fatal: ")
        raise NoRevisionError(f"{wrong}: {reason.splitlines()[0]}" if reason else wrong)
    return Commit(done.stdout.decode("ascii").strip(), top)


def show_file(commit: Commit, path: Path) -> bytes | None:
    """The content of a file in a commit; None if the commit does not have it."""
    name = os.path.relpath(path, commit.top).replace(os.sep, "/")
    shown = _git(commit.top, "show", "--no-textconv", f"{commit.hash}:{name}")
    return shown.stdout if shown.returncode == 0 else None


def write_files(commit: Commit, to: Path, names: Collection[str]) -> None:
    """Write a commit's version of a project's input files to a folder.

    Names are paths from the repository's root: files are written, and of folders all files of
    known kinds. Symbolic links and files too large for a source are skipped.
    """
    listed = _git(commit.top, "ls-tree", "-r", "-l", "-z", "--full-tree", commit.hash).stdout
    files = [
        (path, blob)
        for path, blob in _blobs(listed)
        if path.as_posix() in names
        or (path.suffix in _SUFFIXES and any(path.is_relative_to(name) for name in names))
    ]
    for start in range(0, len(files), _AT_ONCE):
        _write_blobs(commit.top, to, files[start : start + _AT_ONCE])


def _write_blobs(top: Path, to: Path, files: Sequence[tuple[PurePosixPath, str]]) -> None:
    wanted = "".join(f"{blob}\n" for _, blob in files).encode("ascii")
    stream = BytesIO(_git(top, "cat-file", "--batch", input=wanted).stdout)
    for path, _ in files:
        header = stream.readline().split()
        if len(header) != 3:
            continue  # Missing, since the clone is partial.
        destination = to.joinpath(*path.parts)
        destination.parent.mkdir(parents=True, exist_ok=True)
        destination.write_bytes(stream.read(int(header[2])))
        stream.read(1)


def _blobs(listed: bytes) -> Iterator[tuple[PurePosixPath, str]]:
    """Paths and hashes of the regular files that `git ls-tree -l -z` lists."""
    for line in listed.split(b"\0"):
        facts, _, name = line.partition(b"\t")
        mode, _, blob, size = (facts.decode("ascii").split() + [""] * 4)[:4]
        path = PurePosixPath(name.decode("utf-8", "surrogateescape"))
        is_inside = not path.is_absolute() and not {"..", ".git"} & set(path.parts)
        if mode in _REGULAR and is_inside and int(size) <= MAX_BYTES:
            yield path, blob


def _git(
    top: Path, *arguments: str, input: bytes | None = None
) -> subprocess.CompletedProcess[bytes]:
    command: Sequence[str] = ["git", *arguments]
    return subprocess.run(command, cwd=top, capture_output=True, check=False, input=input or b"")
