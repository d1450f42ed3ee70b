"""Completion: fields, keys, tags, kernels, types and operators, where each may stand."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import chain
from typing import Any

from lsprotocol import types

from torchgen_lite.key_tables import CURRENT, registrable_keys
from torchgen_lite.loader.entry.dispatch_table import renamed_keys
from torchgen_lite.loader.entry.fields import FIELDS
from torchgen_lite.loader.entry.reader import KERNEL_NAME, PYTORCH
from torchgen_lite.schema.type_names import BASE_TYPES
from torchgen_lite_tools.lsp.analysis import Analysis
from torchgen_lite_tools.lsp.places import Place

_Kind = types.CompletionItemKind


def _word(text: str, kind: _Kind, detail: str = "", more: str = "") -> types.CompletionItem:
    """A completion: the word, its description, and the text inserted after it."""
    return types.CompletionItem(text, kind=kind, detail=detail or None, insert_text=text + more)


def complete(analysis: Analysis, place: Place) -> Iterator[types.CompletionItem]:
    """The words allowed at a place; the editor filters them by what is typed."""
    program = analysis.program
    field = place.keys[0] if place.keys else ""
    if place.is_key and not field:
        yield from _fields(place, program.config.extra_fields)
    elif place.is_key and field == "dispatch":
        mine = renamed_keys(program.config.privateuse1)
        for key in (*mine, *registrable_keys(CURRENT)):
            yield _word(key, _Kind.EnumMember, mine.get(key, ""), ": ")
    elif field == "dispatch":
        yield from _kernels(analysis, place)
    elif field == "tags":
        for tag, text in program.tags.items():
            yield _word(tag, _Kind.EnumMember, " ".join(text.split()))
    elif field == "structured_delegate":
        yield from _operators(place, [f.func for f in program.functions if f.structured])
    elif field == "autogen" or field == "derivatives":
        yield from _operators(place, [f.func for f in program.functions])
    elif field == "func":
        yield from _in_schema(analysis, place)
    elif field in FIELDS:
        for choice in _choices(FIELDS[field].shape.schema(PYTORCH)):
            yield _word(choice, _Kind.Value)


def _fields(place: Place, extra: Iterable[str]) -> Iterator[types.CompletionItem]:
    """The fields that the entry lacks; the one being typed counts as present."""
    there = set(place.fields) - {place.word}
    for field in FIELDS.values():
        if field.name not in there and not field.retired:
            yield _word(field.name, _Kind.Field, field.description, ": ")
    for name in extra:
        yield _word(name, _Kind.Field, "", ": ")


def _kernels(analysis: Analysis, place: Place) -> Iterator[types.CompletionItem]:
    """Functions of the configured modules, and kernels that other lines name."""
    defined = {
        name
        for options in analysis.program.modules.values()
        for name in (options["kernels"].names() if "kernels" in options else ())
        if not name.startswith("_")
    }
    entries = chain.from_iterable(one.dispatch for one in analysis.program.functions)
    kernels = chain.from_iterable(entry.kernels for entry in entries)
    named = {one.kernel for one in kernels} - {place.word}
    for name in sorted(defined | named):
        if KERNEL_NAME.fullmatch(name):
            yield _word(name, _Kind.Function, "" if name in defined else "named by an entry")


def _operators(place: Place, schemas: Iterable[Any]) -> Iterator[types.CompletionItem]:
    namespace = place.operator.rpartition("::")[0]
    for schema in schemas:
        is_own = schema.full_name.rpartition("::")[0] == namespace
        name = schema.local_name if is_own else schema.full_name
        if name != place.operator.rpartition("::")[2]:
            yield _word(name, _Kind.Reference, schema.local_text)


def _in_schema(analysis: Analysis, place: Place) -> Iterator[types.CompletionItem]:
    """Types where an argument or a result begins; for a bare name, PyTorch's operators."""
    if re.search(r"(?:[(,*]|->)\s*\w*$", place.before):
        for name in sorted(BASE_TYPES):
            yield _word(name, _Kind.TypeParameter)
    elif "(" not in place.before:
        for function in analysis.program.resolved.context:
            yield _word(function.func.local_name, _Kind.Reference, function.func.local_text)


def _choices(schema: Any) -> Iterator[str]:
    """The words listed in the JSON Schema of a field."""
    if isinstance(schema, dict):
        if schema.get("type") == "boolean":
            yield "True"
            yield "False"
        yield from (str(one) for one in schema.get("enum", ()))
        for name, inner in schema.items():
            if name in ("anyOf", "items"):
                yield from _choices(inner)
    elif isinstance(schema, (list, tuple)):
        for inner in schema:
            yield from _choices(inner)
