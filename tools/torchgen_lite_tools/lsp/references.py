"""Find references: everywhere that an argument, a function or an operator is named, in schema files and sources."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain

from torchgen_lite.diagnostics import Span
from torchgen_lite_tools.lsp import cpp_names, python_callers, python_names
from torchgen_lite_tools.lsp.analysis import Analysis, find_operator
from torchgen_lite_tools.lsp.definition import definition_of
from torchgen_lite_tools.lsp.names import (
    Named,
    Scope,
    author_functions,
    named_at,
    scopes_in_entries,
)
from torchgen_lite_tools.lsp.places import Place


def references(analysis: Analysis, place: Place, with_definition: bool) -> list[Span]:
    """Where the name at a place stands."""
    named = named_at(analysis, place)
    if named is None:
        return []
    spans: list[Span] = []
    for scope in scopes(analysis, named):
        spans += scope.names
    defined = None if with_definition else definition_of(analysis, named)
    return [span for span in dict.fromkeys(spans) if not _is_within(span, defined)]


def scopes(analysis: Analysis, named: Named) -> Iterator[Scope]:
    """The parts of the project's files that may name the same; some of them do not."""
    yield from scopes_in_entries(analysis, named)
    if named.kind == "function":
        yield from python_names.scopes_of_function(analysis, named.name)
        if analysis.defined_at(named.name) is None:
            namespaces = _namespaces(analysis, named.name)
            yield from cpp_names.scopes_of_function(analysis, named.last, namespaces)
    elif named.kind == "argument":
        functions = _functions_of(analysis, named.operator)
        yield from python_callers.scopes_of_keyword(analysis, named, functions)
        for function in functions:
            yield from python_names.scopes_of_parameter(analysis, function, named.name)
            if analysis.defined_at(function) is None:
                last = function.rpartition("::")[2]
                yield from cpp_names.scopes_of_parameter(analysis, last, named.name)


def _namespaces(analysis: Analysis, name: str) -> set[str]:
    """The last part of each namespace that a function of C++ may be in."""
    known = {one.namespace for one in author_functions(analysis, name)}
    return {one.rpartition("::")[2] for one in {*known, name.rpartition("::")[0]}}


def _functions_of(analysis: Analysis, name: str) -> list[str]:
    """The functions that an operator's entry names, which take its arguments."""
    operator = find_operator(analysis, name, name)
    if operator is None:
        return []
    function = operator.function
    entries = chain.from_iterable(entry.kernels for entry in function.dispatch)
    names = [entry.kernel for entry in entries]
    if function.fake is not None:
        names.append(function.fake.function)
    return list(dict.fromkeys(filter(None, names)))


def _is_within(span: Span, other: Span | None) -> bool:
    """Whether a span is a part of another."""
    if other is None or span.source.path != other.source.path:
        return False
    return other.start <= span.start < other.end
