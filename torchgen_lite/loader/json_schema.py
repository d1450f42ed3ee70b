"""The JSON Schema (Draft-07) of native_functions.yaml, for editors."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from torchgen_lite.loader.fields import FIELDS, Field
from torchgen_lite.loader.known_tags import KNOWN_TAGS
from torchgen_lite.loader.native_fields import dispatch_schema
from torchgen_lite.loader.options import Json


def build_json_schema(
    tags: Mapping[str, str] | None = None, extra_fields: Collection[str] = (), privateuse1: str = ""
) -> Json:
    """The schema as JSON data.

    `tags` are the known tags, by default PyTorch's. `reader.Dialect` describes the other parameters.
    """
    if tags is None:
        tags = KNOWN_TAGS
    properties: dict[str, object] = {
        field.name: {"description": _description(field), **field.shape.schema(tuple(tags))}
        for field in FIELDS.values()
    }
    if privateuse1:
        properties["dispatch"] = {
            "description": _description(FIELDS["dispatch"]),
            **dispatch_schema(privateuse1),
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
