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
    texts = dict[Path, str]()
    for folder in folders:
        for path in _files(folder):
            texts[path] = read_any_text(path)
    cpp = {path: text for path, text in texts.items() if path.suffix != ".py"}
    macros = list[Macro]()
    for path, text in cpp.items():
        macros += defined_macros(Source(path.as_posix(), text))
    shared = one_meaning(macros)
    # What a text with a block contains: the block's name, or that of a macro which makes one.
    marks = ["_IMPL"]
    for name, macro in shared.items():
        if "TORCH_LIBRARY_IMPL" in macro.body:
            marks.append(name)
    scan = Scanned({}, set(), [])
    for path, text in texts.items():
        if path.suffix == ".py":
            _scan_python(scan, path.as_posix(), text)
        elif path.suffix in ENDINGS and any(mark in text for mark in marks):
            whole = Source(path.as_posix(), _with_includes(text, cpp, _MAX_INCLUDED))
            its_macros = one_meaning(defined_macros(whole))
            _scan_cpp(scan, whole, {**shared, **its_macros})
    has_kernels = any(key in by_key for by_key in scan.kernels.values())
    if not has_kernels and key not in scan.fallbacks:
        where = ", ".join(f"`{folder.as_posix()}`" for folder in folders)
        message = f"nothing in {where} registers kernels for {key}"
        read = f"{counted(len(texts), 'file')} of C++ and Python were read"
        help_ = f"{read} for `m.impl` and `torch.library.impl`; `--import MODULE` asks PyTorch"
        raise Refused(Diagnostic("TG012", message, help=help_))
    return scan


def _files(folder: Path) -> Iterator[Path]:
    suffixes = (*ENDINGS, ".py", ".inc", ".inl", ".def")
    every = [folder] if folder.is_file() else sorted(folder.rglob("*"))
    return (path for path in every if path.suffix in suffixes and path.is_file())


def _with_includes(text: str, texts: Mapping[Path, str], depth: int) -> str:
    """The text with the files in place that it includes and that are no headers, which are read by themselves."""

    def included(match: re.Match[str]) -> str:
        name = match[1]
        named_so = [other for path, other in texts.items() if path.name == name]
        is_header = Path(name).suffix in ENDINGS
        if len(named_so) != 1 or is_header or not depth:
            return match[0]
        return _with_includes(named_so[0], texts, depth - 1)

    return _INCLUDE.sub(included, text)


def _scan_cpp(scan: Scanned, source: Source, macros: Mapping[str, Macro]) -> None:
    text = without_comments(preprocess(source, macros).text)
    keys = dispatch_keys(CURRENT)
    blocks = list(_BLOCK.finditer(text))
    starts = [block.start() for block in blocks]
    # A block goes on until the next one.
    ends = [*starts[1:], len(text)]
    for block, start, end in zip(blocks, starts, ends):
        namespace, key, library = block.groups()
        if key not in keys:
            continue
        fallback = re.compile(rf"\b{library}\s*\.\s*fallback\s*\(")
        if namespace == "_" and fallback.search(text, start, end):
            scan.fallbacks.add(key)
        for registration in _IMPL.finditer(text, start, end):
            receiver, name = registration.groups()
            if receiver == library:
                scan.add(name, namespace, key, source.path)


def _scan_python(scan: Scanned, path: str, text: str) -> None:
    libraries = dict[str, tuple[str, str]]()
    for assignment in _LIBRARY.finditer(text):
        variable, namespace, key = assignment.groups(default="")
        libraries[variable] = namespace, key
    for call in _PYTHON.finditer(text):
        receiver, method, name, written_key = call.groups()
        if receiver not in (*libraries, "library"):
            continue
        namespace, key_of_library = libraries.get(receiver, ("aten", ""))
        key_or_device = written_key or key_of_library
        known_key = _KEYS.get(key_or_device.lower())
        if known_key is None:
            continue
        if method == "fallback":
            scan.fallbacks.add(known_key)
            continue
        line = text.count("\n", 0, call.start()) + 1
        scan.add(name, namespace, known_key, f"{path}:{line}")


def called_names(text: str) -> set[str]:
    """The names of operators in a log, a profile or an exported graph: `aten::add.Tensor`, `aten.add.Tensor`.

    Graphs write an empty overload name as `aten.relu.default`; so does the result.
    """
    words = set(re.findall(r"\baten(?:::|\.)[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)?", text))
    names = {word.replace("aten.", "aten::", 1) for word in words}
    for line in {line.strip() for line in text.splitlines()}:
        is_bare_name = _NAME.fullmatch(line) and "::" not in line
        if is_bare_name:
            names.add(f"aten::{line}")
    return names
