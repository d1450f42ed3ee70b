"""The JSON Schema (Draft-07) of native_functions.yaml, for editors."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping

from torchgen_lite.loader.dispatch_table import key_names
from torchgen_lite.loader.fakes import RULE_FIELDS
from torchgen_lite.loader.fields import (
    AUTOCAST_RULES,
    DEVICE_CHECKS,
    FIELDS,
    UFUNC_KEYS,
    VARIANTS,
    Field,
)
from torchgen_lite.loader.known_tags import KNOWN_TAGS

Json = dict[str, object]

_NAME = "[A-Za-z_][A-Za-z0-9_]*"
_OPERATOR = rf"(?:{_NAME}::)*{_NAME}(?:\.{_NAME})?"
_KERNEL = rf"^{_NAME}(?:(?:\.|::){_NAME})*$"
_FUNC = rf"^\s*{_OPERATOR}\s*\([\s\S]*\)\s*->\s*[\s\S]*\S[\s\S]*$"


def _comma_list(words: Iterable[str]) -> str:
    one = "|".join(re.escape(word) for word in words)
    return rf"^\s*(?:{one})\s*(?:,\s*(?:{one})\s*)*$"


def _words(pattern: str, words: Collection[str] = ()) -> Json:
    item: Json = {"enum": list(words)} if words else {"type": "string", "pattern": pattern}
    return {"anyOf": [{"type": "string", "pattern": pattern}, {"type": "array", "items": item}]}


def build_json_schema(
    tags: Mapping[str, str] | None = None, extra_fields: Collection[str] = ()
) -> Json:
    """The schema as JSON data. Tags are those of `tags`, by default PyTorch's."""
    if tags is None:
        tags = KNOWN_TAGS
    properties: dict[str, object] = {
        field.name: {"description": _description(field), **_value(field, tags)}
        for field in FIELDS.values()
    }
    for name in extra_fields:
        properties[name] = {"description": "A field of a vendor, declared in the configuration."}
    entry: Json = {
        "type": "object",
        "required": ["func"],
        "properties": properties,
        "additionalProperties": False,
        "not": {
            "required": ["structured", "structured_delegate"],
            "properties": {"structured": {"const": True}},
        },
    }
    return {
        "$schema": "http://json-schema.org/draft-07/schema#",
        "title": "native_functions.yaml",
        "description": "Operators, declared in PyTorch's format with the extensions of "
        "torchgen-lite.",
        "type": "array",
        "items": {"$ref": "#/definitions/entry"},
        "definitions": {"entry": entry},
    }


def _description(field: Field) -> str:
    text = field.description
    if field.retired:
        text += f" Retired in PyTorch {field.retired}."
    if field.ours:
        text += " An extension of torchgen-lite."
    return text


def _value(field: Field, tags: Mapping[str, str]) -> Json:
    special: dict[str, Json] = {
        "func": {"type": "string", "pattern": _FUNC},
        "variants": _words(_comma_list(VARIANTS), VARIANTS),
        "device_check": {"enum": list(DEVICE_CHECKS)},
        "dispatch": _dispatch(),
        "autogen": _words(rf"^\s*{_OPERATOR}\s*(?:,\s*{_OPERATOR}\s*)*$"),
        "ufunc_inner_loop": {
            "anyOf": [
                {"type": "string"},
                {
                    "type": "object",
                    "propertyNames": {"enum": list(UFUNC_KEYS)},
                    "additionalProperties": {"type": "string"},
                },
            ]
        },
        "precomputed": {"type": "array", "items": {"type": "string"}},
        "cpp_no_default_args": {"type": "array", "items": {"type": "string"}},
        "samples": {"type": "array"},
        "derivatives": {"type": "object"},
        "fake": _fake(),
        "vmap": {"type": "string", "pattern": _KERNEL},
        "autocast": {"enum": list(AUTOCAST_RULES)},
        "guard": {"type": "string", "pattern": r"^#(?:if|ifdef|ifndef)[ \t]+\S"},
        "torch": {"type": "string", "pattern": r"^\s*(?:>=|<=|==|!=|~=|<|>)\s*[0-9]"},
    }
    if field.name == "tags":
        return _words(_comma_list(tags), tuple(tags))
    if field.name in special:
        return special[field.name]
    if field.shape == "bool":
        return {"type": "boolean"}
    if field.shape == "name":
        return {"type": "string", "pattern": rf"^{_OPERATOR}$"}
    return {} if field.shape == "any" else {"type": "string"}


def _fake() -> Json:
    """A name, a rule, a list of rules, or a mapping from results to rules."""
    rule: Json = {
        "type": "object",
        "propertyNames": {"enum": list(RULE_FIELDS)},
        "additionalProperties": {"type": ["string", "number", "array"]},
        "minProperties": 1,
    }
    named: Json = {"type": "object", "additionalProperties": rule, "minProperties": 1}
    several: Json = {"type": "array", "items": rule, "minItems": 1}
    return {"anyOf": [{"type": "string", "pattern": _KERNEL}, rule, named, several]}


def _dispatch() -> Json:
    return {
        "anyOf": [
            {
                "type": "object",
                "propertyNames": {"pattern": _comma_list(sorted(key_names()))},
                "additionalProperties": {"type": "string", "pattern": _KERNEL},
            },
            {"type": "string", "pattern": _KERNEL},
        ]
    }
