"""The schema language: its frozen model, its parser, and facts that follow from one schema alone.

Standard library only. No YAML, no Python text, no C++ text.
"""

from __future__ import annotations

# `X as X` exports it (PEP 484).
from .defaults import NamedConstant as NamedConstant
from .defaults import default_value as default_value
from .function_schema import FunctionSchema as FunctionSchema
from .function_schema import SchemaError as SchemaError
from .function_schema import parse_schema as parse_schema
from .function_schema import return_names as return_names
from .kind import SchemaKind as SchemaKind
from .model import AliasAnnotation as AliasAnnotation
from .model import Argument as Argument
from .model import BaseType as BaseType
from .model import GenericType as GenericType
from .model import ListType as ListType
from .model import OptionalType as OptionalType
from .model import Return as Return
from .model import TupleType as TupleType
from .model import Type as Type
from .model import find_annotation as find_annotation
from .model import walk_type as walk_type
from .type_names import BASE_TYPES as BASE_TYPES
from .type_names import GENERIC_TYPES as GENERIC_TYPES
