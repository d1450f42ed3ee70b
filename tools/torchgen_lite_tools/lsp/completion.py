"""Completion: fields, keys, tags, kernels, types and operators, where each may stand."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any

from lsprotocol import types

from torchgen_lite.key_tables import CURRENT, registrable_keys
from torchgen_lite.loader.entry.dispatch_table import renamed_keys
from torchgen_lite.loader.entry.fakes import RULE_FIELDS
from torchgen_lite.loader.entry.fields import FIELDS
from torchgen_lite.loader.entry.reader import KERNEL_NAME, PYTORCH
from torchgen_lite.schema.type_names import BASE_TYPES
from torchgen_lite_tools.lsp.analysis import Analysis, find_operator
from torchgen_lite_tools.lsp.names import EXPRESSIONS
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
        renamed = renamed_keys(program.config.privateuse1)
        for key in (*renamed, *registrable_keys(CURRENT)):
            yield _word(key, _Kind.EnumMember, renamed.get(key, ""), ": ")
    elif field == "dispatch":
        yield from _kernels(analysis, place)
    elif field == "tags":
        for tag, text in program.tags.items():
            yield _word(tag, _Kind.EnumMember, " ".join(text.split()))
    elif field == "structured_delegate":
        yield from _operators(place, [f.func for f in program.functions if f.structured])
    elif field == "autogen":
        yield from _operators(place, [f.func for f in program.functions])
    elif field in EXPRESSIONS:
        yield from _in_expression(analysis, place, field)
    elif field == "func":
        yield from _in_schema(analysis, place)
    elif field in FIELDS:
        schema = FIELDS[field].shape.schema(PYTORCH)
        for choice in _choices(schema):
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
    defined = set[str]()
    for options in analysis.program.modules.values():
        if "kernels" in options:
            names = options["kernels"].names()
            defined.update(name for name in names if not name.startswith("_"))
    named = set[str]()
    for function in analysis.program.functions:
        for entry in function.dispatch:
            named.update(implementation.kernel for implementation in entry.kernels)
    # The word that is being typed is no kernel yet.
    named.discard(place.word)
    for name in sorted(defined | named):
        if KERNEL_NAME.fullmatch(name):
            detail = "" if name in defined else "named by an entry"
            yield _word(name, _Kind.Function, detail)


def _operators(place: Place, schemas: Iterable[Any]) -> Iterator[types.CompletionItem]:
    namespace, _, local_name = place.operator.rpartition("::")
    for schema in schemas:
        its_namespace, _, _ = schema.full_name.rpartition("::")
        name = schema.local_name if its_namespace == namespace else schema.full_name
        if name != local_name:
            yield _word(name, _Kind.Reference, schema.local_text)


def _in_schema(analysis: Analysis, place: Place) -> Iterator[types.CompletionItem]:
    """Types where an argument or a result begins; for a bare name, PyTorch's operators."""
    if re.search(r"(?:[(,*]|->)\s*\w*$", place.before):
        for name in sorted(BASE_TYPES):
            yield _word(name, _Kind.TypeParameter)
    elif "(" not in place.before:
        for function in analysis.program.resolved.context:
            yield _word(function.func.local_name, _Kind.Reference, function.func.local_text)


def _in_expression(analysis: Analysis, place: Place, field: str) -> Iterator[types.CompletionItem]:
    """The arguments, and what else a key or an expression of this field begins with."""
    is_key = place.is_key and "(" not in place.before
    more = ": " if is_key else ""
    if is_key and field == "fake":
        for rule in RULE_FIELDS:
            yield _word(rule, _Kind.Field, "", more)
    operator = find_operator(analysis, place.operator, place.operator)
    if operator is None or (is_key and field != "derivatives"):
        return
    for argument in operator.schema.arguments:
        yield _word(argument.name, _Kind.Variable, str(argument.type), more)
    if field == "derivatives" and not is_key:
        results = [value.name for value in operator.schema.returns]
        gradients = [f"grad_{name}" for name in results if name] or ["grad"]
        for name in (*gradients, *(name or "result" for name in results)):
            yield _word(name, _Kind.Variable)
        yield from _operators(place, [f.func for f in analysis.program.functions])


def _choices(schema: Any) -> Iterator[str]:
    """The words listed in the JSON Schema of a field."""
    if isinstance(schema, dict):
        if schema.get("type") == "boolean":
            yield "True"
            yield "False"
        for word in schema.get("enum", ()):
            yield str(word)
        for name, inner in schema.items():
            if name in ("anyOf", "items"):
                yield from _choices(inner)
    elif isinstance(schema, (list, tuple)):
        for inner in schema:
            yield from _choices(inner)
