"""Whether a new type, default or alias annotation still admits what the old one did.

The rules are those that PyTorch 2.13 applies in `FunctionSchema.is_backward_compatible_with`, found out
by calling it; `tests/conformance/test_compare.py` compares again.
"""

from __future__ import annotations

import re

from torchgen_lite.schema import (
    Argument,
    GenericType,
    ListType,
    NamedConstant,
    OptionalType,
    TupleType,
    Type,
    default_value,
    walk_type,
)
from torchgen_lite.schema.defaults import ENUMERATORS
from torchgen_lite.schema.grouped import places_of
from torchgen_lite.schema.model import bare_type

# PyTorch passes all of these as integers, so a caller can't tell one from another.
INTEGERS = frozenset(
    {"ConstQuantizerPtr", "DeviceIndex", "Layout", "MemoryFormat", "ScalarType", "SymInt", "int"}
)
_NUMBERS = frozenset({"int", "float", "complex"})

# Canonical values for constants with two names, or a name and a number.
_SAME_CONSTANTS = {
    **ENUMERATORS["ScalarType"],
    **places_of(ENUMERATORS["MemoryFormat"]),
    "Mean": 1,
    "Sum": 2,
}
_NAME = re.compile(r"[\w.]+")
_SIZE = re.compile(r"\[\d+\]")


def accepts(wide: Type, narrow: Type) -> bool:
    """Whether every value of `narrow` is also a value of `wide`; alias annotations don't count.

    `Tensor?` accepts `Tensor`, `Scalar` accepts `int`, `Any` accepts everything; the elements of a list
    must have the same type. Sizes, as in `int[2]`, are compared by `size_of`.
    """
    key = type_key(wide)
    other = type_key(narrow)
    if key in ("Any", other):
        return True
    if isinstance(wide, OptionalType):
        if isinstance(narrow, OptionalType):
            return accepts(wide.elem, narrow.elem)
        return other == "NoneType" or accepts(wide.elem, narrow)
    if isinstance(wide, GenericType) and wide.name == "Union":
        if isinstance(narrow, GenericType) and narrow.name == "Union":
            return all(accepts(wide, member) for member in narrow.args)
        return any(accepts(member, narrow) for member in wide.args)
    if isinstance(wide, TupleType) and isinstance(narrow, TupleType):
        same_length = len(wide.elems) == len(narrow.elems)
        return same_length and all(map(accepts, wide.elems, narrow.elems))
    return key == "Scalar" and other in _NUMBERS


def type_key(type_: Type) -> str:
    """The text of a type without annotations and sizes, with one name for all kinds of integers.

    >>> from torchgen_lite.schema import FunctionSchema
    >>> type_key(FunctionSchema.parse("f(SymInt[2]? x) -> ()").arguments[0].type)
    'int[]?'
    """
    text = _SIZE.sub("[]", bare_type(type_))
    return _NAME.sub(lambda name: "int" if name[0] in INTEGERS else name[0], text)


def accepts_in_size(wide: Type, narrow: Type) -> bool:
    """The same, for lists of one size."""
    return accepts(wide, narrow) and size_of(wide) == size_of(narrow)


def size_of(type_: Type) -> int | None:
    """The size of a type's outermost list: 2 for `int[2]` and `int[2]?`."""
    while isinstance(type_, OptionalType):
        type_ = type_.elem
    if isinstance(type_, ListType):
        return type_.size
    return None


AliasKey = tuple[tuple[frozenset[str], frozenset[str], bool] | None, ...]


def alias_key(type_: Type) -> AliasKey:
    """The alias annotations of a type, outermost first; equal keys mean the same aliasing.

    An optional is not a container: `Tensor(a)?` and `Tensor?(a)` are the same.
    """
    keys: list[tuple[frozenset[str], frozenset[str], bool] | None] = []
    inherited = None
    for node in walk_type(type_):
        annotation = node.annotation or inherited
        inherited = annotation if isinstance(node, OptionalType) else None
        if isinstance(node, OptionalType):
            continue
        if annotation is None:
            keys.append(None)
            continue
        before = frozenset(("!",) if annotation.shorthand else annotation.before)
        after = frozenset(annotation.after) or before
        keys.append((before, after, annotation.is_write))
    while keys and keys[-1] is None:
        keys.pop()
    return tuple(keys)


def same_default(old: Argument, new: Argument) -> bool:
    """Whether two defaults are equal: `1e-5` and `0.00001`, or `0` and `[0, 0]` for `int[2]`."""
    return _default_key(old) == _default_key(new)


def _default_key(argument: Argument) -> object:
    value = default_value(argument)
    if isinstance(value, bool) and argument.default not in ("True", "False"):
        # PyTorch keeps the `1` of `bool x=1` as an integer, which is not the same as True.
        value = int(argument.default or 0)
    size = size_of(argument.type)
    if size is not None and value is not None and not isinstance(value, list):
        value = [value] * size
    return _value_key(value)


def _value_key(value: object) -> object:
    """A value with its type, since `1`, `1.0` and `True` are equal in Python."""
    if isinstance(value, list):
        return [_value_key(item) for item in value]
    if isinstance(value, NamedConstant):
        value = _SAME_CONSTANTS.get(value.name, value.name)
    return type(value).__name__, repr(value)
