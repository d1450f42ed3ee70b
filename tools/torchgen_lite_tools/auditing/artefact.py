"""The file that is audited: a shared library, or a wheel, whose files go to a temporary folder."""

from __future__ import annotations

import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from lzma import LZMAError
from pathlib import Path, PurePosixPath
from tempfile import TemporaryDirectory
from typing import NamedTuple

from torchgen_lite.cli.session import Refused
from torchgen_lite.diagnostics import Diagnostic
from torchgen_lite.loader.sources import reason_of
from torchgen_lite_tools.auditing.elf import MAGIC, Binary, read_binary

# A wheel of PyTorch itself is smaller.
MOST_BYTES = 4 * 1024**3
MOST_FILES = 100_000
_STEP = 1024 * 1024
_UNREADABLE = (
    zipfile.BadZipFile,
    zlib.error,
    LZMAError,
    EOFError,
    OSError,
    # Passwords, methods of compression that are not known, and names that are no text.
    RuntimeError,
    ValueError,
)


class Artefact(NamedTuple):
    """What is audited. `platforms` are the tags in the name of a wheel; `loads` is what PyTorch is asked to load, from
    `folder`: packages, or a shared library."""

    name: str
    binaries: tuple[Binary, ...]
    platforms: tuple[str, ...]
    loads: tuple[str, ...]
    folder: Path

    @property
    def has_packages(self) -> bool:
        """Whether it is a wheel, which has the Python of a library with it."""
        return not any(Path(one).is_absolute() for one in self.loads)


@contextmanager
def opened(path: Path) -> Iterator[Artefact]:
    """What a file is, for as long as the context lasts. Raises Refused."""
    try:
        with path.open("rb") as stream:
            start = stream.read(len(MAGIC))
    except OSError as error:
        raise _unreadable(path, reason_of(error)) from None
    if start == MAGIC:
        binary = read_binary(path, path.name)
        yield Artefact(path.name, (binary,), (), (str(path.resolve()),), Path.cwd())
        return
    if not zipfile.is_zipfile(path):
        raise _unreadable(path, "it is neither a shared library of Linux nor a wheel")
    with TemporaryDirectory(prefix="torchgen-lite-audit-") as name:
        folder = Path(name).resolve()
        _extract(path, folder)
        yield _wheel(path, folder)


def _wheel(path: Path, folder: Path) -> Artefact:
    binaries = []
    for file in sorted(folder.rglob("*")):
        if file.is_file() and is_elf(file):
            binaries.append(read_binary(file, file.relative_to(folder).as_posix()))
    tags: list[str] = []
    if path.name.endswith(".whl") and path.name.count("-") >= 4:
        platforms = path.name.removesuffix(".whl").rpartition("-")[2]
        tags = platforms.split(".")
    packages = sorted(file.parent.name for file in folder.glob("*/__init__.py"))
    modules = sorted(file.stem for file in folder.glob("*.py"))
    return Artefact(path.name, tuple(binaries), tuple(tags), (*packages, *modules), folder)


def is_elf(path: Path) -> bool:
    """Whether a file is an executable or a shared library of Linux."""
    with path.open("rb") as stream:
        return stream.read(len(MAGIC)) == MAGIC


def _extract(path: Path, folder: Path) -> None:
    """The files of a wheel, within bounds: what would be elsewhere is refused, and links are files with their text."""
    left = MOST_BYTES
    try:
        with zipfile.ZipFile(path) as wheel:
            members = [member for member in wheel.infolist() if not member.is_dir()]
            if not members:
                raise _unreadable(path, "it has no files")
            if len(members) > MOST_FILES:
                raise _unreadable(path, f"it has more than {MOST_FILES} files")
            for member in members:
                place = folder / _inside(path, member.filename)
                place.parent.mkdir(parents=True, exist_ok=True)
                with wheel.open(member) as stream, place.open("xb") as out:
                    while data := stream.read(_STEP):
                        left -= len(data)
                        if left < 0:
                            raise _unreadable(path, f"its files have more than {MOST_BYTES} bytes")
                        out.write(data)
    except _UNREADABLE as error:
        raise _unreadable(path, str(error) or type(error).__name__) from None


def _inside(path: Path, name: str) -> PurePosixPath:
    place = PurePosixPath(name)
    if place.is_absolute() or not place.parts or ".." in place.parts or {"\\", ":", "\0"} & {*name}:
        raise _unreadable(path, "it has a file that would be outside of it")
    return place


def _unreadable(path: Path, why: str) -> Refused:
    return Refused(Diagnostic("TG006", f"cannot read `{path}`: {why}"))
