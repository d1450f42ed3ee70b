"""The outline of a schema file: its operators, and the fields of each."""

from __future__ import annotations

from lsprotocol import types

from torchgen_lite.diagnostics import Source, Span
from torchgen_lite_tools.lsp.places import Units, entries_of, range_of


def outline(source: Source, units: Units) -> list[types.DocumentSymbol]:
    """A symbol for each entry, in order; found from lines, so that it is there while YAML is being typed."""
    symbols = []
    for entry in entries_of(source):
        fields = []
        for name, span in entry.fields:
            fields.append(_symbol(name, types.SymbolKind.Field, span, span, units))
        named = entry.operator or entry.span.first_line
        kind = types.SymbolKind.Function
        symbols.append(_symbol(named.text, kind, entry.span, named, units, fields))
    return symbols


def _symbol(
    name: str,
    kind: types.SymbolKind,
    span: Span,
    selected: Span,
    units: Units,
    children: list[types.DocumentSymbol] | None = None,
) -> types.DocumentSymbol:
    whole, part = range_of(span, units), range_of(selected, units)
    return types.DocumentSymbol(name, kind, whole, part, children=children)
