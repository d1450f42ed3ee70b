"""Reads C++ files and folders into a library: which to parse, in what order, with what macros."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from torchgen_lite.diagnostics import Diagnostic, Label, Source, has_errors
from torchgen_lite.loader.sources import read_source
from torchgen_lite_tools.importing.conditions import join_branches
from torchgen_lite_tools.importing.cpp_functions import Functions
from torchgen_lite_tools.importing.cpp_preprocessor import (
    CppText,
    Macro,
    defined_macros,
    preprocess,
    unclosed,
    without_quoted,
)
from torchgen_lite_tools.importing.cpp_registrations import read_registrations
from torchgen_lite_tools.importing.cpp_tree import parse_cpp
from torchgen_lite_tools.importing.cpp_unread import PYTORCH_MACROS, has_registrations
from torchgen_lite_tools.importing.library import Library

_SOURCES = {".C", ".c", ".c++", ".cc", ".cp", ".cpp", ".cppm", ".cu", ".cxx", ".hip", ".ixx", ".mm"}
_HEADERS = {".cuh", ".h", ".h++", ".hh", ".hpp", ".hxx"}
ENDINGS = frozenset(_SOURCES | _HEADERS)
# Those of parts of files, which others include.
_PARTS = frozenset({".def", ".inc", ".inl", ".ipp", ".tcc", ".tpp", ".txx"})
# What registers in Python, in a file that is not text.
_PYTHON = re.compile(r"\b(?:library|custom_op|triton_op)\b")
# How much of such a file is searched.
_MAX_MENTION = 4 * 1024 * 1024
_WORD = re.compile(r"[A-Za-z_]\w*")
# A macro that puts the name of a block together: `TORCH_##kind(name, m)`.
_PASTED = re.compile(r"\b(?:STABLE_)?TORCH\w*\s*##|##\s*(?:_?TORCH)?_?LIBRARY")
# Another name for a class that registers.
_CLASS = r"(?:::)?(?:\w+::)*(?:Library|RegisterOperators)"
_ALIAS = re.compile(
    rf"\busing\s+(?P<using>\w+)\s*=\s*(?P<class>{_CLASS})\s*;"
    rf"|\btypedef\s+(?P<defined>{_CLASS})\s+(?P<typedef>\w+)\s*;"
)
# How such a name is used: `Ops ops(Ops::DEF, ...)`, or as the type of what a function registers in.
_USED = re.compile(r"\b(?P<name>\w+)\s*(?:::\s*(?:DEF|IMPL|FRAGMENT)\b|&\s*\w+\s*[,)])")
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
    every = [macro for source in sources for macro in defined_macros(source)]
    classes = {class_.name: class_ for source in sources for class_ in _classes_of(source)}
    shared = one_meaning(every)
    reaching = _reaching([*every, *given.values()])

    def known_in(source: Source) -> dict[str, Macro]:
        its_macros = one_meaning(defined_macros(source))
        return {**shared, **_classes_in(source, classes), **its_macros, **given}

    by_path = {Path(source.path).resolve(): source for source in sources}

    def find(name: str, source: Source) -> Source | None:
        """The given file that another one includes: beside it, or the only one whose path ends so."""
        beside = by_path.get(Path(source.path).parent.joinpath(name).resolve())
        ending = Path("/", name).parts[1:]
        several = []
        for path, candidate in by_path.items():
            if path.parts[-len(ending) :] == ending:
                several.append(candidate)
        return beside or (several[0] if len(several) == 1 else None)

    def prepared(source: Source) -> CppText:
        return preprocess(source, known_in(source), given, find)

    def may_register(source: Source) -> bool:
        if has_registrations(source.text):
            return True
        if any(name in source.text for name in reaching):
            return True
        return bool(_classes_in(source, classes))

    texts = [prepared(source) for source in sources if may_register(source)]
    for text in texts:
        library.diagnostics += _not_expanded(text, reaching)
        library.diagnostics += _cut_off(text.source)
    texts = [text for text in texts if has_registrations(text.text)]
    trees = [parse_cpp(text) for text in progress(texts)]
    functions = Functions()
    for tree in trees:
        functions.add(tree)
    read_registrations(trees, functions, Library())
    # Parsing takes the time of `import`: of the other files only those that have a kernel's name are parsed.
    read_already = {tree.text.source.path for tree in trees}
    for source in progress(sources):
        if source.path not in read_already and not functions.asked.isdisjoint(_words(source.text)):
            functions.add(parse_cpp(prepared(source)))
    read_registrations(trees, functions, library)
    join_branches(library)
    library.files += len(sources)
    return library


def sources_of(
    paths: Sequence[Path], endings: Collection[str], diagnostics: list[Diagnostic]
) -> Iterator[Source]:
    """The files, and those in folders by name, each once; in folders, files that are not text are skipped, unless they
    register."""
    read = set[str]()
    for path in paths:
        inside = path.is_dir()
        files = _files_below(path, endings) if inside else [path]
        for file in files:
            # A file may have several names: links, and what is given beside its folder.
            place = os.path.realpath(file)
            if place in read:
                continue
            read.add(place)
            source, problems = read_source(file, Path.cwd())
            if source is not None:
                yield source
            elif not inside:
                diagnostics += problems
            elif _may_register_unread(file):
                diagnostics += [
                    replace(problem, code="TG601", message=f"{problem.message}: it may register")
                    for problem in problems
                ]


def _may_register_unread(path: Path) -> bool:
    """Whether a file that cannot be read as text mentions what registers; also one that cannot be opened at all."""
    try:
        with path.open("rb") as stream:
            data = stream.read(_MAX_MENTION)
    except (OSError, ValueError):
        return True
    # UTF-16 has zeros between the letters.
    text = data.replace(b"\0", b"").decode("latin-1")
    return has_registrations(text) or ("torch" in text and _PYTHON.search(text) is not None)


def _files_below(folder: Path, endings: Collection[str]) -> Iterable[Path]:
    found = (path for path in folder.rglob("*") if path.suffix in endings and path.is_file())
    return sorted(found, key=lambda path: path.as_posix())


def _classes_of(source: Source) -> Iterator[Macro]:
    """A file's own names for the classes that register, which are read as macros."""
    for match in _ALIAS.finditer(source.text):
        name = match["using"] or match["typedef"]
        class_ = match["class"] or match["defined"]
        if name != class_.rpartition("::")[2]:
            yield Macro(name, None, class_)


def _classes_in(source: Source, classes: Mapping[str, Macro]) -> dict[str, Macro]:
    """Those names that a file uses as such a class: others may use them for something else."""
    made = {one.name for one in _classes_of(source)}
    if classes:
        used = {match["name"] for match in _USED.finditer(source.text)}
    else:
        used = made
    return {name: macro for name, macro in classes.items() if name in made | used}


def _reaching(macros: Sequence[Macro]) -> frozenset[str]:
    """The macros in any of whose meanings there may be a registration: by itself, or by another macro."""
    reached = frozenset[str]()
    grown = frozenset(macro.name for macro in macros if _may_register(macro.body))
    while grown - reached:
        reached |= grown
        grown = frozenset(
            macro.name for macro in macros if not reached.isdisjoint(_words(macro.body))
        )
    return reached - PYTORCH_MACROS


def _may_register(body: str) -> bool:
    return has_registrations(body) or _PASTED.search(body) is not None


def _words(text: str) -> list[str]:
    return _WORD.findall(text)


def _not_expanded(text: CppText, reaching: Collection[str]) -> Iterator[Diagnostic]:
    """TG601: the macros that are left in a text and may register, as they have several meanings; each once."""
    by_name = dict[str, re.Match[str]]()
    for match in _WORD.finditer(without_quoted(text.text)):
        if match[0] in reaching:
            by_name.setdefault(match[0], match)
    for name, match in by_name.items():
        message = f"`{name}` may register, and is a macro that has several meanings here"
        label = Label(text.span(match.start(), match.end()), "what it registers here is not read")
        help_ = f"give `--macro '{name}=...'`, or the files of one meaning alone"
        yield Diagnostic("TG601", message, label, help=help_)


def _cut_off(source: Source) -> Iterator[Diagnostic]:
    """TG601: what is still open where a file ends hides what registers, or the condition of it."""
    for what, place in unclosed(source):
        message = f"the file ends before this {what} does"
        yield Diagnostic("TG601", message, Label(place, "opened here"), help="give the whole file")


def one_meaning(macros: Iterable[Macro]) -> dict[str, Macro]:
    """The macros with one meaning, ignoring bodies that only export a function (else empty).

    PyTorch's own macros, which some libraries repeat, are not expanded.
    """
    meanings: dict[str, set[Macro]] = {}
    for macro in macros:
        if macro.name not in PYTORCH_MACROS:
            several = meanings.setdefault(macro.name, set())
            if not _EXPORT.fullmatch(macro.body):
                several.add(_without_stable(macro))
    return {
        name: next(iter(several), Macro(name, None, ""))
        for name, several in meanings.items()
        if len(several) < 2
    }


def _without_stable(macro: Macro) -> Macro:
    """A macro that only renames a block of the stable ABI means the same here as one that renames the other block."""
    is_stable = macro.parameters is None and macro.body in PYTORCH_MACROS
    if is_stable:
        return replace(macro, body=macro.body.removeprefix("STABLE_"))
    return macro
