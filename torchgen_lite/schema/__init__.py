"""The schema language: its frozen model, its parser, and facts that follow from one schema alone.

Standard library only. No YAML, no Python text, no C++ text.
"""

from __future__ import annotations

from torchgen_lite.schema.defaults import NamedConstant, default_value
from torchgen_lite.schema.kind import kind_of
from torchgen_lite.schema.model import (
    AliasAnnotation,
    Argument,
    BaseType,
    FunctionSchema,
    GenericType,
    ListType,
    OptionalType,
    Return,
    SchemaKind,
    TupleType,
    Type,
    find_annotation,
    walk_type,
)
from torchgen_lite.schema.parser import SchemaError, parse_schema, parse_schema_or_raise
from torchgen_lite.schema.type_names import BASE_TYPES, GENERIC_TYPES

__all__ = [
    "BASE_TYPES",
    "GENERIC_TYPES",
    "AliasAnnotation",
    "Argument",
    "BaseType",
    "FunctionSchema",
    "GenericType",
    "ListType",
    "NamedConstant",
    "OptionalType",
    "Return",
    "SchemaError",
    "SchemaKind",
    "TupleType",
    "Type",
    "default_value",
    "find_annotation",
    "kind_of",
    "parse_schema",
    "parse_schema_or_raise",
    "walk_type",
]
