"""Reads files: the bytes become a `Source`, or give a diagnostic; and the data beside modules of this project."""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Mapping
from pathlib import Path

from torchgen_lite.diagnostics import Diagnostic, Diagnostics, Label, Source, Span, meant, suggest

MAX_BYTES = 32 * 1024 * 1024
# File names go into headers of generated files, so they must be valid text on one line.
UNFIT = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]")


def shown_path(path: Path, root: Path) -> str:
    """A path as it is shown: with forward slashes, and relative to the project if it is inside."""
    try:
        return Path(os.path.realpath(path)).relative_to(os.path.realpath(root)).as_posix()
    except (ValueError, OSError):
        return path.as_posix()


def portable_path(shown: str) -> str:
    """A shown path as generated files have it; only the name of a file outside the project.

    >>> portable_path("src/ops.yaml"), portable_path("/opt/torch/native_functions.yaml")
    ('src/ops.yaml', 'native_functions.yaml')
    """
    is_elsewhere = shown.startswith(("/", "..")) or ":" in shown
    return shown.rsplit("/", 1)[-1] if is_elsewhere else shown


def read_source(path: Path, root: Path) -> tuple[Source | None, Diagnostics]:
    """Read a UTF-8 file; TG117 if it isn't UTF-8, and the diagnostics of `read_bytes`."""
    shown = shown_path(path, root)
    data, diagnostics = read_bytes(path, shown)
    return decode_source(data, shown) if data is not None else (None, diagnostics)


def read_or_take(
    path: Path, root: Path, texts: Mapping[Path, str]
) -> tuple[Source | None, Diagnostics]:
    """The same, or what `texts`, by resolved path, have in place of the file."""
    text = texts.get(path.resolve()) if texts else None
    if text is None:
        return read_source(path, root)
    return Source(shown_path(path, root), text), ()


def read_bytes(path: Path, shown: str) -> tuple[bytes | None, Diagnostics]:
    """Read a file; TG006 if it can't be read or its name is not text, TG110 if it is too large."""
    if UNFIT.search(shown):
        escaped = UNFIT.sub(lambda match: ascii(match[0])[1:-1], shown)
        return None, (
            Diagnostic(
                "TG006",
                f"cannot read `{escaped}`: its name has control characters, or is not UTF-8",
                help="rename it",
            ),
        )
    try:
        if not stat.S_ISREG(path.stat().st_mode) and not path.is_dir():
            return None, (Diagnostic("TG006", f"cannot read `{shown}`: not a regular file"),)
        with path.open("rb") as stream:
            data = stream.read(MAX_BYTES + 1)
    except (OSError, ValueError) as error:
        is_missing = isinstance(error, FileNotFoundError)
        stem = suggest(path.stem, _beside(path)) if is_missing else None
        return None, (
            Diagnostic(
                "TG006",
                f"cannot read `{shown}`: {reason_of(error)}",
                help=None if stem is None else meant(path.name, f"{stem}{path.suffix}"),
            ),
        )
    if len(data) > MAX_BYTES:
        return None, (
            Diagnostic("TG110", f"`{shown}` has more than the {MAX_BYTES} bytes allowed"),
        )
    return data, ()


def reason_of(error: Exception) -> str:
    """Why a file cannot be read or written, in the system's words."""
    return (getattr(error, "strerror", None) or str(error)).lower()


def _beside(path: Path) -> list[str]:
    """The names, without suffix, of files beside a missing file that have the same suffix."""
    try:
        stems = sorted(other.stem for other in path.parent.glob(f"*{path.suffix}"))
    except (OSError, ValueError):
        return []
    return [name for name in stems[:1000] if not UNFIT.search(name)]


def decode_source(data: bytes, shown: str) -> tuple[Source | None, Diagnostics]:
    """Bytes to a source; a diagnostic on the first byte that isn't UTF-8."""
    try:
        return Source(shown, data.decode("utf-8")), ()
    except UnicodeDecodeError as error:
        readable = data[: error.start].decode("utf-8")
        source = Source(shown, readable + "\N{REPLACEMENT CHARACTER}")
        span = Span(source, len(readable), len(readable) + 1)
        hint = "save the file as UTF-8"
        if data.startswith((b"\xff\xfe", b"\xfe\xff")):
            hint = "this looks like UTF-16; save the file as UTF-8"
        return None, (
            Diagnostic(
                "TG117",
                f"`{shown}` is not UTF-8",
                Label(span, "here"),
                help=hint,
            ),
        )


def lines_beside(module: str) -> list[str]:
    """The lines of the `.txt` file beside a module, without those that begin with `#`."""
    lines = Path(module).with_suffix(".txt").read_text("utf-8").splitlines()
    return [line for line in lines if not line.startswith("#")]


def blocks_beside(module: str) -> dict[str, str]:
    """The texts of such a file by name: after `name:`, each goes on to the next empty line."""
    texts = {}
    for block in "\n".join(lines_beside(module)).split("\n\n"):
        name, _, text = block.partition(":\n")
        texts[name] = text
    return texts


def words_beside(module: str) -> dict[str, frozenset[str]]:
    """The words in the blocks of such a file."""
    return {name: frozenset(text.split()) for name, text in blocks_beside(module).items()}
