"""A function with what grouping needs to know of it."""

from __future__ import annotations

from typing import NamedTuple

from torchgen_lite.analysis.derive.aliasing import is_aliasing, returns_alias
from torchgen_lite.analysis.derive.signature import Signature, signature_of
from torchgen_lite.loader.entry import NativeFunction
from torchgen_lite.schema import SchemaKind, find_annotation
from torchgen_lite.schema.kind import is_inplace_name


class Member(NamedTuple):
    """A function, its name, kind and signature, and whether its schema says that a result aliases."""

    function: NativeFunction
    name: str
    kind: SchemaKind
    signature: Signature
    aliasing: bool


def member_of(function: NativeFunction) -> Member:
    """A function with its name, kind and signature."""
    schema = function.func
    # Most schemas have no annotation at all, and need not be asked what the annotations say.
    if any(map(find_annotation, [argument.type for argument in schema.arguments])):
        kind = schema.kind()
        aliasing = is_aliasing(schema)
    else:
        in_place = is_inplace_name(schema.base_name)
        kind = SchemaKind.inplace if in_place else SchemaKind.functional
        aliasing = returns_alias(schema)
    signature = signature_of(function, kind)
    return Member(function, function.name, kind, signature, aliasing)
