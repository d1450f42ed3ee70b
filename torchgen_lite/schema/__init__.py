"""The schema language: its frozen model, its parser, and facts that follow from one schema alone.

Standard library only. No YAML, no Python text, no C++ text.
"""

from __future__ import annotations

from .defaults import NamedConstant, default_value
from .function_schema import FunctionSchema, SchemaError, parse_schema
from .kind import SchemaKind
from .model import (
    AliasAnnotation,
    Argument,
    BaseType,
    GenericType,
    ListType,
    OptionalType,
    Return,
    TupleType,
    Type,
    find_annotation,
    walk_type,
)
from .type_names import BASE_TYPES, GENERIC_TYPES

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
    "parse_schema",
    "walk_type",
]
