"""Revisions, read with git: nothing is checked out, and no hook, filter or textconv of the repository runs.

Git runs in the root of the repository, where it finds `.git`. In a folder further down it would first look whether that
folder is a bare repository, which a branch can make of any folder, with a configuration that names commands.

Note [What git says]
A clone may lack trees or files, and git may fail for reasons of its own. So a path is not in a revision only if git
listed the revision, and everything that is read has the size that git announced. All else is a RevisionError.
"""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from io import BytesIO
from pathlib import Path, PurePosixPath
from typing import NamedTuple

from torchgen_lite.cli.places import repository_of
from torchgen_lite.diagnostics.text import ended
from torchgen_lite.loader.sources import MAX_BYTES, reason_of

_HASH = re.compile(r"[0-9a-f]{40,64}\n")
_REGULAR = ("100644", "100755")
# How many files are held in memory at once.
_AT_ONCE = 500


class RevisionError(ValueError):
    """There is no such revision, or it cannot be read."""


class Tree(NamedTuple):
    """Every path in a commit, with mode and hash; `top` is the root of the repository."""

    revision: str
    top: Path
    entries: Mapping[PurePosixPath, tuple[str, str]]


def find_commit(revision: str, folder: Path) -> tuple[Path, str]:
    """The root of a folder's repository, and the commit that a revision names there. Raises RevisionError."""
    wrong = f"`{revision}` is neither a file nor a git revision"
    top = repository_of(folder)
    if top is None:
        raise RevisionError(f"{wrong}: not in a git repository")
    question = ("rev-parse", "--verify", "--quiet", "--end-of-options", f"{revision}^{{commit}}")
    done = _run_git(top, *question)
    answer = done.stdout.decode("utf-8", "replace")
    # With `--quiet`, 1 says that there is none. `^main` names what to leave out, not a commit.
    names_nothing = done.returncode == 1
    names_no_commit = done.returncode == 0 and not _HASH.fullmatch(answer)
    if names_nothing or names_no_commit:
        raise RevisionError(wrong)
    commit = _checked(done, revision).decode("ascii")
    return top, commit.strip()


def list_tree(revision: str, folder: Path) -> Tree:
    """What a revision has. Raises RevisionError."""
    top, commit = find_commit(revision, folder)
    listed = _checked(_run_git(top, "ls-tree", "-r", "-z", "--full-tree", commit), revision)
    entries = {}
    for line in listed.split(b"\0")[:-1]:
        facts, _, name = line.partition(b"\t")
        mode, _, hash_ = facts.decode("ascii").split()
        path = PurePosixPath(name.decode("utf-8", "surrogateescape"))
        is_outside = path.is_absolute() or ".." in path.parts or ".git" in path.parts
        if not is_outside:
            entries[path] = mode, hash_
    return Tree(revision, top, entries)


def write_files(
    tree: Tree,
    to: Path,
    files: Sequence[str],
    folders: Sequence[str],
    suffixes: Sequence[str],
) -> None:
    """Write the files that a revision has, and of the folders all regular files with these suffixes.

    Of a file too large for a source there is one byte too many, so that who reads it says so.
    Raises RevisionError, also for a file behind a symbolic link or in a submodule, which is not there
    but not absent either.
    """
    wanted = {PurePosixPath(name) for name in files}
    for name in files:
        _check_regular(tree, PurePosixPath(name))
    paths = []
    for path, (mode, _) in tree.entries.items():
        is_source = mode in _REGULAR and path.suffix in suffixes
        is_inside = is_source and any(map(path.is_relative_to, folders))
        if is_inside or path in wanted:
            paths.append(path)
    for start in range(0, len(paths), _AT_ONCE):
        some = paths[start : start + _AT_ONCE]
        for path, data in _contents(tree, some):
            destination = to.joinpath(*path.parts)
            destination.parent.mkdir(parents=True, exist_ok=True)
            destination.write_bytes(data)


def _check_regular(tree: Tree, path: PurePosixPath) -> None:
    """Refuse a path that is, or leads through, anything but files and folders."""
    for above in (path, *path.parents):
        if above not in tree.entries:
            continue
        mode, _ = tree.entries[above]
        if mode in _REGULAR:
            continue
        kind = "symbolic link" if mode == "120000" else "submodule"
        raise RevisionError(f"`{tree.revision}:{above}` is a {kind}, which is not followed")


def _contents(tree: Tree, paths: Sequence[PurePosixPath]) -> Iterator[tuple[PurePosixPath, bytes]]:
    lines = _ask(tree, "--batch-check", paths).splitlines()
    sizes = dict(zip(paths, map(_size, lines)))
    small = [path for path in paths if sizes.get(path, -1) <= MAX_BYTES]
    stream = BytesIO(_ask(tree, "--batch", small))
    for path in paths:
        if path not in small:
            yield path, bytes(MAX_BYTES + 1)
            continue
        size = _size(stream.readline())
        data = stream.read(max(size, 0))
        is_cut_off = len(data) < size or stream.read(1) != b"\n"
        if size < 0 or is_cut_off:
            raise RevisionError(f"`{tree.revision}:{path}` cannot be read: git does not have it")
        yield path, data


def _size(header: bytes) -> int:
    """That of a file, in a line of `git cat-file --batch`; -1 where it is missing, as in a partial clone."""
    _, kind, size = (*header.split(), b"", b"")[:3]
    return int(size) if kind == b"blob" else -1


def _ask(tree: Tree, how: str, paths: Sequence[PurePosixPath]) -> bytes:
    hashes = ended(tree.entries[path][1] for path in paths)
    done = _run_git(tree.top, "cat-file", how, input=hashes.encode("ascii"))
    return _checked(done, tree.revision)


def _checked(done: subprocess.CompletedProcess[bytes], revision: str) -> bytes:
    """What git printed. Raises RevisionError if it failed."""
    if done.returncode == 0:
        return done.stdout
    text = done.stderr.decode("utf-8", "replace").strip()
    first_line, _, _ = text.partition("\n")
    reason = first_line.removeprefix("fatal: ") or f"git exits with {done.returncode}"
    raise RevisionError(f"`{revision}` cannot be read: {reason}")


def _run_git(top: Path, *arguments: str, input: bytes = b"") -> subprocess.CompletedProcess[bytes]:
    try:
        command = ["git", *arguments]
        return subprocess.run(command, cwd=top, capture_output=True, check=False, input=input)
    except (OSError, ValueError) as error:  # No git, or a NUL in a name.
        raise RevisionError(f"cannot run git: {reason_of(error)}") from error
