"""What `coverage` and `add` read beside schema files: kernels that C++ and Python text registers, and logs of calls."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import click

from torchgen_lite.cli.session import Refused, require
from torchgen_lite.diagnostics import Diagnostic, Source
from torchgen_lite.diagnostics.text import counted
from torchgen_lite.key_tables import CURRENT, dispatch_keys
from torchgen_lite.loader.sources import read_bytes, shown_path
from torchgen_lite_tools.importing.cpp_files import ENDINGS, one_meaning
from torchgen_lite_tools.importing.cpp_preprocessor import (
    Macro,
    defined_macros,
    preprocess,
    without_comments,
)


class RegularFile(click.Path):
    """An existing regular file: a pipe or a device might never end."""

    def convert(
        self, value: Any, param: click.Parameter | None, context: click.Context | None
    ) -> Path:
        path = Path(os.fsdecode(super().convert(value, param, context)))
        if not path.is_file():
            self.fail(f"`{path}` is not a regular file", param, context)
        return path


input_option = partial(click.option, metavar="FILE", type=RegularFile(exists=True))
_BLOCK = re.compile(r"\bTORCH_LIBRARY_IMPL\s*\(\s*(\w+)\s*,\s*(\w+)\s*,\s*(\w+)\s*\)")
_IMPL = re.compile(r'\b(\w+)\s*\.\s*impl\s*\(\s*(?:TORCH_SELECTIVE_NAME\s*\(\s*)?(?:"([^"]+)")?')
_INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*"(?:[^"\n]*/)?([^"/\n]+)".*$', re.M)
_MAX_INCLUDED = 8
# `torch.library.Library("aten", "IMPL", "PrivateUse1")`, and `impl` of it or of `torch.library`.
_LIBRARY = re.compile(
    r"""(\w+)\s*=\s*(?:\w+\.)*Library\(\s*["'](\w+)["']\s*,\s*["']\w+["'](?:\s*,\s*["'](\w+)["'])?"""
)
_PYTHON = re.compile(
    r"""\b(\w+)\.(impl|fallback)\(\s*(?:["']([\w:.]+)["'])?(?:[^\n]*?,\s*["'](\w+)["']\s*,?\s*\))?"""
)
# Of a key in Python, the type of its device will do.
_KEYS = {**{key.lower(): key for key in dispatch_keys(CURRENT)}, "privateuseone": "PrivateUse1"}
_NAME = re.compile(r"(?:(\w+)::)?([A-Za-z_]\w*(?:\.[A-Za-z_]\w*)?)")


class Scanned(NamedTuple):
    """What texts register: places by operator and key, keys with a fallback, and names that are computed."""

    kernels: dict[str, dict[str, str]]
    fallbacks: set[str]
    unread: list[str]

    def add(self, name: str | None, namespace: str, key: str, place: str) -> None:
        if name is None:
            self.unread.append(place)
        else:
            whole = name if "::" in name else f"{namespace}::{name}"
            self.kernels.setdefault(whole, {})[key] = place


def read_any_text(path: Path) -> str:
    """The text of a foreign file, whatever its bytes. Raises Refused if unreadable or too large."""
    data, found = read_bytes(path, shown_path(path, Path.cwd()))
    require(found)
    return (data or b"").decode("utf-8", "replace")


def scanned(folders: Sequence[Path], key: str) -> Scanned:
    """Kernels that `m.impl("name", ...)` registers in `TORCH_LIBRARY_IMPL(aten, KEY, m)` blocks, and Python as well.

    The text is matched, after macros are expanded and `ops.inc` is put where it is included. A fallback is
    `m.fallback(...)` in a block for namespace `_`. Raises Refused if nothing is found for the key.
    """
    texts = {path: read_any_text(path) for folder in folders for path in _files(folder)}
    cpp = {path: text for path, text in texts.items() if path.suffix != ".py"}
    sources = [Source(path.as_posix(), text) for path, text in cpp.items()]
    shared = one_meaning(macro for source in sources for macro in defined_macros(source))
    makers = []
    for name, one in shared.items():
        if "TORCH_LIBRARY_IMPL" in one.body:
            makers.append(name)
    found = Scanned({}, set(), [])
    for path, text in texts.items():
        if path.suffix == ".py":
            _scan_python(found, path.as_posix(), text)
        elif path.suffix in ENDINGS and any(word in text for word in ("_IMPL", *makers)):
            whole = Source(path.as_posix(), _with_includes(text, cpp, _MAX_INCLUDED))
            _scan_cpp(found, whole, {**shared, **one_meaning(defined_macros(whole))})
    if key not in found.fallbacks and not any(key in own for own in found.kernels.values()):
        where = ", ".join(f"`{folder.as_posix()}`" for folder in folders)
        message = f"nothing in {where} registers kernels for {key}"
        read = f"{counted(len(texts), 'file')} of C++ and Python were read"
        help_ = f"{read} for `m.impl` and `torch.library.impl`; `--import MODULE` asks PyTorch"
        raise Refused(Diagnostic("TG012", message, help=help_))
    return found


def _files(folder: Path) -> Iterator[Path]:
    suffixes = (*ENDINGS, ".py", ".inc", ".inl", ".def")
    every = [folder] if folder.is_file() else sorted(folder.rglob("*"))
    return (path for path in every if path.suffix in suffixes and path.is_file())


def _with_includes(text: str, texts: Mapping[Path, str], depth: int) -> str:
    """The text with the files in place that it includes and that are no headers, which are read by themselves."""

    def included(match: re.Match[str]) -> str:
        found = [one for path, one in texts.items() if path.name == match[1]]
        is_header = Path(match[1]).suffix in ENDINGS
        if len(found) != 1 or is_header or not depth:
            return match[0]
        return _with_includes(found[0], texts, depth - 1)

    return _INCLUDE.sub(included, text)


def _scan_cpp(found: Scanned, source: Source, macros: Mapping[str, Macro]) -> None:
    text = without_comments(preprocess(source, macros).text)
    keys = dispatch_keys(CURRENT)
    blocks = list(_BLOCK.finditer(text))
    ends = [*(block.start() for block in blocks[1:]), len(text)]
    for block, end in zip(blocks, ends):
        start, (namespace, key, library) = block.start(), block.groups()
        if key not in keys:
            continue
        fallback = re.compile(rf"\b{library}\s*\.\s*fallback\s*\(")
        if namespace == "_" and fallback.search(text, start, end):
            found.fallbacks.add(key)
        for one in _IMPL.finditer(text, start, end):
            if one[1] == library:
                found.add(one[2], namespace, key, source.path)


def _scan_python(found: Scanned, path: str, text: str) -> None:
    libraries = {one[1]: (one[2], one[3] or "") for one in _LIBRARY.finditer(text)}
    for one in _PYTHON.finditer(text):
        if one[1] not in (*libraries, "library"):
            continue
        namespace, key = libraries.get(one[1], ("aten", ""))
        known = _KEYS.get((one[4] or key).lower())
        if known is not None and one[2] == "fallback":
            found.fallbacks.add(known)
        elif known is not None:
            line = text.count("\n", 0, one.start()) + 1
            found.add(one[3], namespace, known, f"{path}:{line}")


def called_names(text: str) -> set[str]:
    """The names of operators in a log, a profile or an exported graph: `aten::add.Tensor`, `aten.add.Tensor`.

    Graphs write an empty overload name as `aten.relu.default`; so does the result.
    """
    words = set(re.findall(r"\baten(?:::|\.)[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)?", text))
    names = {word.replace("aten.", "aten::", 1) for word in words}
    lines = {line.strip() for line in text.splitlines()}
    return names | {f"aten::{line}" for line in lines if _NAME.fullmatch(line) and "::" not in line}
