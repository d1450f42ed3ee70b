"""Go to definition: a function, an argument in its schema, a delegate's operator, an operator's generated code."""

from __future__ import annotations

from collections.abc import Iterator

from torchgen_lite.diagnostics import Span
from torchgen_lite.emit.header import marked_sources
from torchgen_lite_tools.lsp.analysis import Analysis, find_operator
from torchgen_lite_tools.lsp.names import Named, named_at
from torchgen_lite_tools.lsp.places import Place
from torchgen_lite_tools.lsp.sources import function_at, output_sources


def definitions(analysis: Analysis, place: Place) -> list[Span]:
    """The places that a word of an entry leads to."""
    named = named_at(analysis, place)
    field = place.keys[0] if place.keys else ""
    if named is not None and field not in ("func", "op"):
        span = definition_of(analysis, named)
        return [span] if span is not None else []
    is_schema = field in ("func", "op") and not place.is_key and place.word
    return list(_generated(analysis, place)) if is_schema else []


def definition_of(analysis: Analysis, named: Named) -> Span | None:
    """Where a function is defined, and an argument or an operator declared."""
    if named.kind == "function":
        return function_at(analysis, named.name)
    if named.kind == "operator":
        operator = find_operator(analysis, named.name, named.operator)
        return None if operator is None else operator.schema.name_span
    operator = find_operator(analysis, named.operator, named.operator)
    if operator is None:
        return None
    for argument in operator.schema.arguments:
        if argument.name == named.name:
            return argument.name_span
    return None


def _generated(analysis: Analysis, place: Place) -> Iterator[Span]:
    """The first place of each generated file that quotes the schema of the operator."""
    operator = find_operator(analysis, place.operator, place.operator)
    if operator is None:
        return
    text = operator.schema.local_text
    for source in output_sources(analysis):
        at = source.text.find(text)
        if at >= 0 and marked_sources(source.text):
            yield Span(source, at, at + len(text))
