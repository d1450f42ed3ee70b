"""What of a library in C++ can move to entries, and its files without what has moved.

Note [All of an operator, or nothing]
An operator moves if entries express all that the files register for it. Of what stays, nothing is touched: its
statements go on registering, beside the generated ones.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import groupby
from pathlib import PurePath
from typing import NamedTuple

from torchgen_lite.diagnostics import Diagnostic, Label, Source, Span
from torchgen_lite.targets.cpp.registrations import REGISTER, file_of
from torchgen_lite_tools.importing.cpp_functions import Function
from torchgen_lite_tools.importing.cpp_preprocessor import without_comments, without_quoted
from torchgen_lite_tools.importing.library import Implementation, Library

HEADERS = (".cuh", ".h", ".h++", ".hh", ".hpp", ".hxx")
_QUALIFIED = re.compile(r"[A-Za-z_]\w*(?:::\w+)*")
# The namespaces of types that `torch/types.h` declares, and words of C++.
_WORDS = "const bool char double float int long short signed unsigned void struct size_t ptrdiff_t"
_INTEGERS = [f"{sign}int{bits}_t" for sign in ("", "u") for bits in (8, 16, 32, 64)]
_KNOWN = frozenset({"at", "c10", "std", "torch", *_WORDS.split(), *_INTEGERS})
_STABLE = ("torch::stable::", "torch::headeronly::")
_STABLE_HEADERS = ("device.h", "library.h", "tensor.h")
# What types are called where a file says nothing else, such as below `using namespace at`.
_OF_AT = (
    "Tensor TensorList IntArrayRef ArrayRef OptionalArrayRef OptionalIntArrayRef Scalar ScalarType"
)
_OF_AT += " Device Layout MemoryFormat Generator Storage Stream Dimname DimnameList ITensorListRef"
_OF_C10 = "SymInt SymIntArrayRef OptionalSymIntArrayRef IValue List Dict DispatchKeySet"
_OF_STD = "vector array optional tuple pair string string_view"
_WHOLE = {word: f"at::{word}" for word in _OF_AT.split()}
_WHOLE |= {word: f"c10::{word}" for word in _OF_C10.split()}
_WHOLE |= {word: f"std::{word}" for word in _OF_STD.split()}
# How many names may stand for each other.
_MAX_DEPTH = 8


def moving_operators(library: Library, problems: Iterable[Diagnostic]) -> frozenset[str]:
    """The operators that move; `problems` are what is wrong with them besides, each with its place."""
    places: dict[str, list[Span]] = {}
    for problem in problems:
        if problem.label is not None:
            span = problem.label.span
            places.setdefault(span.source.path, []).append(span)
    defined = {definition.name for definition in library.definitions if not definition.binder}
    stay = {*library.refused}
    for statement in library.read:
        in_its_file = places.get(statement.span.source.path, [])
        has_problem = any(place.is_in(statement.span) for place in in_its_file)
        if has_problem or not statement.is_whole:
            stay |= statement.operators
        stay |= statement.operators - defined
    grown = True
    while grown:  # Of one statement, all operators move or none, and of what one line expands to.
        kept = set()
        for statement in library.read:
            if statement.operators & stay or not statement.operators:
                kept.add(statement.span)
        more = set[str]()
        for statement in library.read:
            if statement.span in kept:
                more |= statement.operators
        grown = not more <= stay
        stay |= more
    return frozenset(defined - stay)


def without_statements(
    library: Library, names: frozenset[str]
) -> tuple[list[tuple[Source, str]], bool]:
    """The files without what registers these operators, and whether they still define a namespace, or never did."""
    texts = list[tuple[Source, str]]()
    kept = False
    is_defined = False
    by_file = sorted(library.read, key=lambda one: (one.span.source.path, one.block.start))
    for _, in_file in groupby(by_file, key=lambda one: one.span.source.path):
        gone = list[Span]()
        for span, in_block in groupby(in_file, key=lambda one: one.block):
            block = list(in_block)
            moved = [
                statement
                for statement in block
                if statement.operators and statement.operators <= names
            ]
            gone += [span] if moved == block else [statement.span for statement in moved]
            is_defined |= block[0].defines
            kept |= block[0].defines and moved != block
        if gone:
            source = gone[0].source
            blank = without_quoted(source.text)
            cuts = [_lines(source.text, span.start, _end(blank, span)) for span in gone]
            texts.append((source, _cut(source.text, cuts)))
    return texts, kept or not is_defined


def _end(blank: str, span: Span) -> int:
    """The end of a block, of an `#include`, or of a statement: behind its semicolon, or a macro's call that has none."""
    if blank[span.start] == "#":
        if "\n" in blank[span.start :]:
            return blank.find("\n", span.start)
        return len(blank)
    if blank[span.end - 1] == "}":
        return span.end
    depth = 0
    for at in range(span.start, len(blank)):
        depth += (blank[at] in "([{") - (blank[at] in ")]}")
        if depth == 0 and blank[at] == ";":
            return at + 1
        if depth == 0 and blank[at] == ")" and not re.compile(r"\s*[.;]").match(blank, at + 1):
            return at + 1
    return len(blank)


def _lines(text: str, start: int, end: int) -> tuple[int, int]:
    """The whole lines, if nothing else is on them, with the comment right above."""
    first = text.rfind("\n", 0, start) + 1
    last = text.find("\n", end) + 1 or len(text)
    if text[first:start].strip() or without_comments(text[end:last]).strip():
        return start, end
    above = re.search(r"(?:^[ \t]*//[^\n]*\n)+\Z", text[:first], re.M)
    if above:
        first = above.start()
    return first, last


def _cut(text: str, cuts: Sequence[tuple[int, int]]) -> str:
    """The text without these parts, and without the second of two blank lines that meet."""
    parts = list[str]()
    at = 0
    for start, end in sorted(set(cuts)):
        parts.append(text[at:start])
        at = max(at, end)
        if text[:start].endswith("\n\n") and text.startswith("\n", at):
            at += 1
    kept = "".join([*parts, text[at:]])
    if text.endswith("\n\n"):
        return kept
    return re.sub(r"\n{2,}\Z", "\n", kept)


def kernel_headers(library: Library) -> tuple[list[str], str]:
    """The headers that declare the kernels, and the text of one for those that none of them declares.

    Every generated file includes all of them, also where a device is missing. So a kernel of a device is declared anew
    where its header has no other kernel, which may need the device's own headers, or declares it under a condition.
    """
    headers = dict[str, None]()
    undeclared = list[Function]()
    of_devices = list[Implementation]()
    for kernel in library.implementations:
        declared = _headers_of(kernel)
        if file_of(kernel.key) != REGISTER:
            of_devices.append(kernel)
            continue
        headers.update(dict.fromkeys(declared))
        undeclared += [] if declared else kernel.functions
    of_every_build = frozenset(headers)
    for kernel in of_devices:
        declared = _headers_of(kernel)
        is_known = not any(_strange_types(kernel, library))
        is_apart = not of_every_build.issuperset(declared) or bool(kernel.conditions)
        if not declared or (is_known and is_apart):
            undeclared += kernel.functions
        else:
            headers.update(dict.fromkeys(declared))
    undeclared.sort(key=lambda one: (_file(one), one.spans[-1].start))
    lines = list(dict.fromkeys(map(_declaration, undeclared)))
    types = ["torch/types.h"]
    if is_stable(library):
        types = [f"torch/csrc/stable/{name}" for name in _STABLE_HEADERS]
    includes = [f"#include <{header}>" for header in types]
    text = "\n".join(["#pragma once", "", *includes, "", *lines, ""])
    return list(headers), text if lines else ""


def is_stable(library: Library) -> bool:
    """Whether most of the operators are defined with libtorch's stable ABI: what moves has one target."""
    names = {one.name for one in library.definitions if not one.binder}
    return len(names & library.stable) * 2 > len(names)


def of_another_abi(library: Library) -> Iterator[Diagnostic]:
    """TG606: operators that are defined with the other ABI than most."""
    most = is_stable(library)
    for definition in library.definitions:
        if not definition.binder and (definition.name in library.stable) != most:
            message = f"`{definition.name}` is defined with another ABI than most operators"
            label = Label(definition.span, "a target has one ABI") if definition.span else None
            help_ = "it stays; a project of its own generates the other ABI"
            yield Diagnostic("TG606", message, label, help=help_)


def _file(function: Function) -> str:
    return PurePath(function.spans[-1].source.path).as_posix()


def _headers_of(kernel: Implementation) -> list[str]:
    """The headers that declare a kernel."""
    files = map(_file, kernel.functions)
    return [file for file in files if file.endswith(HEADERS)]


def _strange_types(kernel: Implementation, library: Library) -> Iterator[str]:
    """The types of a kernel that mean nothing outside of its files."""
    is_stable_kernel = kernel.name in library.stable
    for function in kernel.functions:
        for word in _unknown_types(function):
            if not (is_stable_kernel and word.startswith(_STABLE)):
                yield word


def undeclarable_kernels(library: Library) -> Iterator[Diagnostic]:
    """TG606: kernels that no header declares, and whose types only their own file knows."""
    for kernel in library.implementations:
        unknown = set(_strange_types(kernel, library))
        if unknown and not _headers_of(kernel) and kernel.span is not None:
            message = f"kernel `{kernel.kernel}` of `{kernel.name}` is declared in no header"
            label = Label(kernel.span, f"the type `{min(unknown)}` is known in its file alone")
            yield Diagnostic("TG606", message, label, help="declare it in a header")


def _unknown_types(function: Function) -> Iterator[str]:
    """The words of a declaration that mean nothing outside of the function's file."""
    file = function.spans[-1].source.text
    types = [type_ for type_, _ in _parameters(function)]
    for text in (_spelled(type_, file) for type_ in (function.returns, *types)):
        for word in _QUALIFIED.findall(text):
            # The types of the stable ABI are declared elsewhere.
            if word.partition("::")[0] not in _KNOWN or word.startswith(_STABLE):
                yield word


def _parameters(function: Function) -> Iterator[tuple[str, str]]:
    """The type of each parameter, and its name with what is behind that; defaults are left out."""
    for span, name in zip(function.spans, function.names):
        text = " ".join(span.text.partition("=")[0].split())
        at = re.search(rf"\b{name}\b\W*\Z", text) if name else None
        yield (text[: at.start()], text[at.start() :]) if at else (text, "")


def _spelled(text: str, file: str, depth: int = 0) -> str:
    """Types in words that mean the same in every file: whole names, and what other names stand for."""
    named = _names_of(file)

    def whole(match: re.Match[str]) -> str:
        word = match[0]
        if "::" in word:
            return word
        means = named.means.get(word, [])
        brought = named.brought.get(word, [])
        if len(means) == 1 and depth < _MAX_DEPTH:
            return _spelled(means[0], file, depth + 1)
        if len(brought) == 1:
            return brought[0]
        return _WHOLE.get(word, word)

    return _QUALIFIED.sub(whole, text)


class _Names(NamedTuple):
    """For each name that a file gives a type: the types that it stands for, and the whole names that it is the end of."""

    means: Mapping[str, Sequence[str]]
    brought: Mapping[str, Sequence[str]]


@lru_cache(maxsize=1024)
def _names_of(file: str) -> _Names:
    """Of the text of a file: `using at::Tensor;`, `using Sizes = at::IntArrayRef;`, `typedef at::IntArrayRef Sizes;`."""
    brought = set(re.findall(r"\busing\s+((?:\w+::)+(\w+))\s*;", file))
    means = {(type_, word) for word, type_ in re.findall(r"\busing\s+(\w+)\s*=\s*([^;]+);", file)}
    means |= set(re.findall(r"\btypedef\s+([^;]+?)\s+(\w+)\s*;", file))
    return _Names(_by_word(means), _by_word(brought))


def _by_word(pairs: Iterable[tuple[str, str]]) -> Mapping[str, Sequence[str]]:
    types: dict[str, list[str]] = {}
    for type_, word in pairs:
        types.setdefault(word, []).append(type_)
    return types


def _declaration(function: Function) -> str:
    *around, name = function.path
    file = function.spans[-1].source.text
    given = ", ".join(_spelled(type_, file) + name for type_, name in _parameters(function))
    line = f"{_spelled(function.returns, file)} {name}({given});"
    if around:
        return f"namespace {'::'.join(around)} {{ {line} }}"
    return line
