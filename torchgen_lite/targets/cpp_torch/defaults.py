"""Defaults of operators that are not PyTorch's: whatever its dispatcher reads has an expression in C++.

The dialect has those that occur in PyTorch's file, as torchgen writes them. There a list with a size and one
number for a default, `int[2] x=1`, has one element in C++ and two in Python; here it has two.
"""

from __future__ import annotations

from torchgen_lite.analysis.registrable import NUMBER_NAMES
from torchgen_lite.dialects.cpp_text import quote
from torchgen_lite.dialects.cpp_values import real
from torchgen_lite.dialects.stable_defaults import SCALAR_TYPES
from torchgen_lite.schema import (
    Argument,
    BaseType,
    ListType,
    NamedConstant,
    OptionalType,
    Type,
    default_value,
)
from torchgen_lite.schema.model import bare_type

_ENUMERATORS = {
    "ScalarType": SCALAR_TYPES,
    "Layout": {"strided": "Strided"},
    "MemoryFormat": {"contiguous_format": "Contiguous"},
}
_REDUCTION = "at::Reduction::Mean"


def own_default(argument: Argument, usual: str) -> str | None:
    """The expression for a default; `usual` is the dialect's, which most of them have.

    None for lists of complex numbers, for which g++ 12 gives every function the first one's.
    """
    if bare_type(argument.type).startswith("complex["):
        return None
    value = default_value(argument)
    return usual if value is None else _expression(argument.type, value) or usual


def _expression(type_: Type, value: object) -> str:
    """Empty where the dialect is right."""
    if isinstance(type_, OptionalType):
        return _expression(type_.elem, value)
    if isinstance(type_, ListType):
        if not isinstance(value, list):
            value = [value] * (type_.size or 1)
        items = [_expression(type_.elem, item) or _plain(item) for item in value]
        return f"{{{', '.join(items)}}}"
    return _single(type_.name, value) if isinstance(type_, BaseType) else ""


def _single(name: str, value: object) -> str:
    if isinstance(value, NamedConstant):
        enumerators = _ENUMERATORS.get(name)
        if enumerators is not None:
            return f"at::{name}::{enumerators[value.name]}"
        return _REDUCTION if value.name == "Mean" else str(NUMBER_NAMES[value.name])
    if isinstance(value, complex):
        return f"c10::complex<double>({_plain(value.real)}, {_plain(value.imag)})"
    if isinstance(value, str) and name == "Device":
        return f"at::Device({quote(value)})"
    if isinstance(value, int) and name in _ENUMERATORS:
        return f"static_cast<at::{name}>({value})"
    if isinstance(value, float) and value.is_integer():
        # Without a point it would be an integer, which may be too large for one.
        return repr(value)
    # The smallest number has no literal: the sign is an operator.
    return "INT64_MIN" if value == -(2**63) else ""


def _plain(value: object) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    return real(value) if isinstance(value, float) else repr(value)
