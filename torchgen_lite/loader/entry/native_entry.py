"""Turns one entry of native_functions.yaml, a mapping node, into a `NativeFunction`."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace
from functools import lru_cache
from sys import intern
from typing import Any

from torchgen_lite.diagnostics import Help, Span, did_you_mean, meant
from torchgen_lite.key_tables import CURRENT
from torchgen_lite.loader.entry.dispatch_table import key_names
from torchgen_lite.loader.entry.entry import FieldSpans, NativeFunction
from torchgen_lite.loader.entry.fields import FIELDS, read_fields
from torchgen_lite.loader.entry.reader import OPERATOR_NAME, EntryReader, short
from torchgen_lite.loader.formats.earlier import Earlier
from torchgen_lite.loader.yaml.nodes import MapNode, Node, ScalarNode
from torchgen_lite.schema import Argument, FunctionSchema, parse_schema

MAX_ARGUMENTS = 64
"""The limit of c10's dispatcher, and of this project's."""


def load_entry(
    reader: EntryReader, node: Node, earlier: Earlier | None = None
) -> NativeFunction | None:
    """One entry, or None if its schema can't be read. Mistakes in other fields don't drop it.

    With `earlier`, the entry may give only an operator's name. The name then stands for the whole
    schema and, for a PyTorch operator, for every field that the entry leaves out.
    """
    if not isinstance(node, MapNode):
        reader.report(
            "TG101",
            "an entry must be a mapping",
            node,
            "here",
            reader.missing_space(node) or "begin the entry with `- func: ...`",
        )
        return None
    name = _name_alone(reader, earlier)
    base = None
    if name is not None and earlier is not None:
        base = earlier.look_up(reader, name)
        if base is not None:
            reader.func = base.func
            reader.is_structured = base.structured
    elif "func" in reader.fields or "op" not in reader.fields:
        reader.func = _read_func(reader, node)
    extra = _check_fields(reader)
    # Fields are read even if the schema is wrong, so that one run reports everything.
    values = read_fields(reader)
    return None if reader.func is None else _build(reader, node, base, values, extra)


def _name_alone(reader: EntryReader, earlier: Earlier | None) -> ScalarNode | None:
    """The name in `- func: amax.out` or ExecuTorch's `op:`; None for a schema or anything else."""
    field = "func" if "func" in reader.fields else "op"
    if earlier is None or field not in reader.fields or not (earlier.has_names or field == "op"):
        return None
    name = reader.fields[field][1]
    if (field == "op" and reader.text(field) is None) or not isinstance(name, ScalarNode):
        return None
    if not OPERATOR_NAME.fullmatch(name.value):
        if field == "op":
            reader.refuse("TG123", name.value, "the name of an operator", name)
        return None
    reader.head = name
    return name


# Of the fields of an entry this one is required.
_NO_SCHEMA = "write a schema: `func: relu(Tensor self) -> Tensor`"


def _read_func(reader: EntryReader, entry: MapNode) -> FunctionSchema | None:
    reader.known_fields = FIELDS
    pair = reader.fields.get("func")
    if pair is None:
        unknown = (name for name in reader.fields if name not in FIELDS)
        near = next((name for name in unknown if _nearest_field(name, ("func",))), None)
        at, hint = (reader.fields[near][0], meant(near, "func")) if near else (entry, None)
        reader.report("TG104", "an entry without `func`", at, "here", hint)
        return None
    node = reader.scalar("func", pair[1], "a schema", _NO_SCHEMA)
    if node is None:
        return None
    reader.head = node
    schema, problems = parse_schema(
        node.value, locate=reader.locator(node), opaque=reader.dialect.opaque
    )
    reader.diagnostics += [replace(d, **reader.about) for d in problems]
    if schema is None:
        return None
    _check_duplicates(reader, schema)
    if len(schema.arguments) > MAX_ARGUMENTS:
        reader.report(
            "TG223",
            f"{len(schema.arguments)} arguments; an operator has at most {MAX_ARGUMENTS}",
            schema.arguments[MAX_ARGUMENTS].span or reader.span(node),
            "too many from here",
            "take several as a list",
        )
    namespace = reader.dialect.namespace
    if namespace and not schema.namespace:
        schema = replace(schema, name=f"{namespace}::{schema.name}")
    return schema


def _check_duplicates(reader: EntryReader, schema: FunctionSchema) -> None:
    """Refuse repeated names; not in the parser, since PyTorch registers such operators."""
    arguments = [(a.name, a) for a in schema.arguments]
    results = [(r.name, r) for r in schema.returns if r.name]
    for what, named in (("argument", arguments), ("result", results)):
        if len(dict(named)) == len(named):
            continue
        seen: dict[str, Span | None] = {}
        for name, part in named:
            span = part.name_span if isinstance(part, Argument) else part.span
            first = seen.setdefault(name, span)
            if first is not span and span is not None:
                reader.report(
                    "TG203",
                    f"duplicate {what} `{name}`",
                    span,
                    "named again here",
                    other=(first, "first named here"),
                )


# Names that other tools use for a field, and that users try first.
_OTHER_WORDS = {
    **dict.fromkeys(("backward", "gradient"), "derivatives"),
    **dict.fromkeys(("impl", "kernel", "kernels"), "dispatch"),
    **dict.fromkeys(("name", "op", "schema", "signature"), "func"),
    "meta": "fake",
}


def _nearest_field(word: str, fields: Iterable[str]) -> Help | None:
    """A hint at the field that is meant; retired fields are not recommended."""
    names = [name for name in fields if name not in FIELDS or not FIELDS[name].retired]
    other = _OTHER_WORDS.get(word)
    return meant(word, other) if other in names else did_you_mean(word, names)


def _written_otherwise(name: str) -> str | None:
    """The help for `fake:{like`, `fake = {like`, `fake {like`, and a dispatch key beside `dispatch`."""
    match = re.match(r"(\w+)(?:\s*[:=]|\s+(?=\S))", name)
    if match is not None and match[1] in FIELDS:
        return f"write `{match[1]}: `, with a colon and a space behind it"
    if name in key_names():
        return (
            f"`{name}` is a dispatch key: write it below `dispatch:`, indented by two spaces more"
        )
    return None


def _check_fields(reader: EntryReader) -> tuple[tuple[str, str], ...]:
    """Refuse unknown fields, report retired ones, and keep the text of fields that do nothing."""
    extra = []
    extra_fields = reader.dialect.extra_fields
    for name, (key, value) in reader.fields.items():
        field = FIELDS.get(name)
        if field is None and name not in extra_fields:
            reader.unknown.add(name)
            if not ("func" not in reader.fields and _nearest_field(name, ("func",))):
                hint = None
                if not reader.is_full:
                    hint = _written_otherwise(name) or did_you_mean(name, extra_fields)
                    hint = hint or _nearest_field(name, FIELDS)
                reader.report(
                    "TG102",
                    f"unknown field `{short(name)}`",
                    key,
                    "not a field",
                    hint,
                )
        elif field is None or field.retired or (field.shape.read is None and name != "func"):
            if field is not None and field.retired:
                reader.report(
                    "TG112",
                    f"field `{name}` is retired since PyTorch {field.retired}",
                    key,
                    "has no effect",
                )
            text = value.value if isinstance(value, ScalarNode) else reader.written(value)
            extra.append((name, text))
    return tuple(extra)


def _build(
    reader: EntryReader,
    node: MapNode,
    base: NativeFunction | None,
    values: dict[str, Any],
    extra: tuple[tuple[str, str], ...],
) -> NativeFunction:
    source = reader.source
    func = reader.func
    fields = reader.fields
    offsets = [at for _, value in fields.values() for at in (value.start, value.end)]
    number = source.keep(node.start, node.end, *offsets)
    if base is None:
        assert func is not None
        return NativeFunction(
            func,
            intern(func.namespace or "aten"),
            extra=extra,
            field_spans=FieldSpans(source, _shared(tuple(fields)), number),
            **values,
        )
    if not values.get("structured", base.structured):
        values = {"structured_inherits": None, "precomputed": (), **values}
    if any(entry.key in CURRENT.backends for entry in values.get("dispatch", ())):
        # An entry with its own kernel is not part of a structured group.
        values = {"structured_delegate": None, **values}
    places = FieldSpans(source, (), number)
    if base.is_written:
        # An operator that PyTorch derives stays derived when it gets a kernel.
        others = tuple([(n, at) for n, at in base.field_spans if n not in fields])
        places = FieldSpans(source, tuple(fields), number, others)
    return base._replace(
        is_part_of_structured=base.shares_structured, extra=extra, field_spans=places, **values
    )


# One tuple for all entries with the same field names.
_shared = lru_cache(maxsize=256)(tuple[str, ...])
