"""Reads C++ files and folders into a library: which to parse, in what order, with what macros."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from torchgen_lite.diagnostics import Diagnostic, Source, has_errors
from torchgen_lite.loader.importing.cpp_functions import Functions
from torchgen_lite.loader.importing.cpp_kernels import read_kernel
from torchgen_lite.loader.importing.cpp_preprocessor import (
    CppText,
    Macro,
    defined_macros,
    preprocess,
)
from torchgen_lite.loader.importing.cpp_registrations import (
    LEGACY,
    has_registrations,
    read_registrations,
)
from torchgen_lite.loader.importing.cpp_tree import CppTree, arguments, parse_cpp
from torchgen_lite.loader.importing.library import Library
from torchgen_lite.loader.sources import read_source

if TYPE_CHECKING:
    from tree_sitter import Node

ENDINGS = frozenset({".c", ".cc", ".cpp", ".cu", ".cuh", ".cxx", ".h", ".hip", ".hpp", ".mm"})
# What macros before a function expand to in some build; the parser needs none of it.
_EXPORT = re.compile(r"(?:__declspec\(\w+\)|__attribute__\(\(.*\)\)|)")

_REGISTERING = frozenset({"def", "impl", "op", LEGACY})


def read_cpp(paths: Sequence[Path], given: Mapping[str, Macro]) -> Library:
    """What files and folders register. `given` macros (command line) override those of files."""
    library = Library()
    sources = list(_sources(paths, library.diagnostics))
    if has_errors(library.diagnostics):
        return library
    shared = _one_meaning(macro for source in sources for macro in defined_macros(source))
    heads = {name for name, macro in {**shared, **given}.items() if has_registrations(macro.body)}

    def read(source: Source) -> CppText:
        return preprocess(source, {**shared, **_one_meaning(defined_macros(source)), **given})

    texts = [
        read(source)
        for source in sources
        if has_registrations(source.text) or any(name in source.text for name in heads)
    ]
    trees = [parse_cpp(text) for text in texts if has_registrations(text.text)]
    functions = Functions()
    wanted = {name for tree in trees for name in _kernel_names(tree)}
    registering = {tree.text.source.path: tree for tree in trees}
    for source in sources:
        tree = registering.get(source.path)
        if tree is None and wanted & _every_word(source.text):
            tree = parse_cpp(read(source))
        if tree is not None:
            functions.add(tree)
    for tree in trees:
        read_registrations(tree, functions, library)
    return library


def _every_word(text: str) -> set[str]:
    """The words of a file, any of which may name a kernel."""
    return set(re.findall(r"[A-Za-z_]\w*", text))


def _sources(paths: Sequence[Path], diagnostics: list[Diagnostic]) -> Iterator[Source]:
    """The files, and those in folders by name; in folders, files that are not text are skipped."""
    for path in paths:
        inside = path.is_dir()
        for one in _files_below(path) if inside else [path]:
            source, problems = read_source(one, Path.cwd())
            if source is not None:
                yield source
            elif not inside:
                diagnostics += problems


def _files_below(folder: Path) -> Iterable[Path]:
    found = (path for path in folder.rglob("*") if path.suffix in ENDINGS and path.is_file())
    return sorted(found, key=lambda path: path.as_posix())


def _one_meaning(macros: Iterable[Macro]) -> dict[str, Macro]:
    """The macros with one meaning, ignoring bodies that only export a function (else empty).

    PyTorch's own macros, which some libraries repeat, are not expanded.
    """
    found: dict[str, set[Macro]] = {}
    for macro in macros:
        if not macro.name.startswith(("TORCH_", "STABLE_TORCH_", "C10_")):
            several = found.setdefault(macro.name, set())
            if not _EXPORT.fullmatch(macro.body):
                several.add(macro)
    return {
        name: next(iter(several), Macro(name, None, ""))
        for name, several in found.items()
        if len(several) < 2
    }


def _kernel_names(tree: CppTree) -> Iterator[str]:
    """The last part of each name that may be a kernel: the arguments of `def`, `impl` and `op`."""
    stack = [tree.root]
    while stack:
        node = stack.pop()
        stack += node.named_children
        for one in _registered(tree, node)[1:3]:
            name = read_kernel(tree, one).name.partition("<")[0].rpartition("::")[2]
            if name:
                yield name


def _registered(tree: CppTree, node: Node) -> list[Node]:
    """The arguments of `m.def(..)`, `RegisterOperators(..)` and `RegisterOperators r(..)`."""
    if node.type == "declaration":
        is_object = LEGACY in tree.of(node.child_by_field_name("type"))
        declarator = node.child_by_field_name("declarator") if is_object else None
        value = declarator.child_by_field_name("value") if declarator else None
        return arguments(value) if value else []
    function = node.child_by_field_name("function") if node.type == "call_expression" else None
    if function is None:
        return []
    called = tree.of(function.child_by_field_name("field") or function)
    name = re.sub(r"^template\s+|<.*", "", called, flags=re.S).rpartition("::")[2].strip()
    return arguments(node) if name in _REGISTERING else []
