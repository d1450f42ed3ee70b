"""Reads C++ files and folders into a library: which to parse, in what order, with what macros."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from torchgen_lite.diagnostics import Diagnostic, Source, has_errors
from torchgen_lite.loader.sources import read_source
from torchgen_lite_tools.importing.cpp_functions import Functions
from torchgen_lite_tools.importing.cpp_preprocessor import (
    CppText,
    Macro,
    defined_macros,
    preprocess,
)
from torchgen_lite_tools.importing.cpp_registrations import has_registrations, read_registrations
from torchgen_lite_tools.importing.cpp_tree import parse_cpp
from torchgen_lite_tools.importing.library import Library

ENDINGS = frozenset({".c", ".cc", ".cpp", ".cu", ".cuh", ".cxx", ".h", ".hip", ".hpp", ".mm"})
# Those of parts of files, which others include.
_PARTS = frozenset({".def", ".inc", ".inl", ".ipp"})
# What macros before a function expand to in some build; the parser needs none of it.
_EXPORT = re.compile(r"(?:__declspec\(\w+\)|__attribute__\(\(.*\)\)|)")


def read_cpp(
    paths: Sequence[Path],
    given: Mapping[str, Macro],
    progress: Callable[[Sequence[Any]], Iterable[Any]] = iter,
) -> Library:
    """What files and folders register. `given` macros (command line) override those of files; `progress` passes files on."""
    library = Library()
    sources = list(sources_of(paths, ENDINGS | _PARTS, library.diagnostics))
    if has_errors(library.diagnostics):
        return library
    shared = one_meaning(macro for source in sources for macro in defined_macros(source))
    heads = {name for name, macro in {**shared, **given}.items() if has_registrations(macro.body)}

    def known_in(source: Source) -> dict[str, Macro]:
        return {**shared, **one_meaning(defined_macros(source)), **given}

    by_path = {Path(source.path).resolve(): source for source in sources}

    def find(name: str, source: Source) -> Source | None:
        """The given file that another one includes: beside it, or the only one whose path ends so."""
        beside = by_path.get(Path(source.path).parent.joinpath(name).resolve())
        ending = Path("/", name).parts[1:]
        several = [one for path, one in by_path.items() if path.parts[-len(ending) :] == ending]
        return beside or (several[0] if len(several) == 1 else None)

    def prepared(source: Source) -> CppText:
        return preprocess(source, known_in(source), given, find)

    texts = [
        prepared(source)
        for source in sources
        if has_registrations(source.text) or any(name in source.text for name in heads)
    ]
    texts = [text for text in texts if has_registrations(text.text)]
    trees = [parse_cpp(text) for text in progress(texts)]
    functions = Functions()
    for tree in trees:
        functions.add(tree)
    read_registrations(trees, functions, Library())
    # Parsing takes the time of `import`: of the other files only those that have a kernel's name are parsed.
    read_already = {tree.text.source.path for tree in trees}
    for source in progress(sources):
        words = re.findall(r"[A-Za-z_]\w*", source.text)
        if source.path not in read_already and not functions.asked.isdisjoint(words):
            functions.add(parse_cpp(prepared(source)))
    read_registrations(trees, functions, library)
    library.files += len(sources)
    return library


def sources_of(
    paths: Sequence[Path], endings: Collection[str], diagnostics: list[Diagnostic]
) -> Iterator[Source]:
    """The files, and those in folders by name; in folders, files that are not text are skipped."""
    for path in paths:
        inside = path.is_dir()
        for one in _files_below(path, endings) if inside else [path]:
            source, problems = read_source(one, Path.cwd())
            if source is not None:
                yield source
            elif not inside:
                diagnostics += problems


def _files_below(folder: Path, endings: Collection[str]) -> Iterable[Path]:
    found = (path for path in folder.rglob("*") if path.suffix in endings and path.is_file())
    return sorted(found, key=lambda path: path.as_posix())


def one_meaning(macros: Iterable[Macro]) -> dict[str, Macro]:
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
