"""Default values of the schema as C++ expressions of the stable ABI's types."""

from __future__ import annotations

from torchgen_lite.dialects import stable
from torchgen_lite.dialects.cpp_signature import CppParameter
from torchgen_lite.dialects.cpp_text import quote
from torchgen_lite.dialects.cpp_values import braced, integer, real
from torchgen_lite.schema import (
    Argument,
    BaseType,
    FunctionSchema,
    ListType,
    NamedConstant,
    OptionalType,
    Type,
    default_value,
)

SCALAR_TYPES = {
    "uint8": "Byte",
    "byte": "Byte",
    "int8": "Char",
    "char": "Char",
    "int16": "Short",
    "short": "Short",
    "int32": "Int",
    "int": "Int",
    "int64": "Long",
    "long": "Long",
    "uint16": "UInt16",
    "uint32": "UInt32",
    "uint64": "UInt64",
    "float16": "Half",
    "half": "Half",
    "float32": "Float",
    "float": "Float",
    "float64": "Double",
    "double": "Double",
    "complex32": "ComplexHalf",
    "chalf": "ComplexHalf",
    "complex64": "ComplexFloat",
    "cfloat": "ComplexFloat",
    "complex128": "ComplexDouble",
    "cdouble": "ComplexDouble",
    "bool": "Bool",
    "bfloat16": "BFloat16",
    "qint8": "QInt8",
    "quint8": "QUInt8",
    "qint32": "QInt32",
}
_CONSTANTS = {
    "ScalarType": SCALAR_TYPES,
    "MemoryFormat": {
        "contiguous_format": "Contiguous",
        "preserve_format": "Preserve",
        "channels_last": "ChannelsLast",
        "channels_last_3d": "ChannelsLast3d",
    },
    "Layout": {
        "strided": "Strided",
        "sparse_coo": "Sparse",
        "sparse_csr": "SparseCsr",
        "sparse_csc": "SparseCsc",
        "sparse_bsr": "SparseBsr",
        "sparse_bsc": "SparseBsc",
        "jagged": "Jagged",
    },
    # PyTorch's `Reduction`, which has no stable header.
    "int": {"Mean": "1", "Sum": "2"},
    "SymInt": {"Mean": "1", "Sum": "2"},
}


def parameters(schema: FunctionSchema) -> tuple[CppParameter, ...]:
    """The parameters with defaults. In C++ what stands before one without a default has none either."""
    found: list[CppParameter] = []
    for argument, plain in zip(reversed(schema.arguments), reversed(stable.arguments(schema))):
        usable = not found or found[-1].default is not None
        default = default_expression(argument) if usable else None
        found.append(CppParameter(plain.type, plain.name, default))
    return tuple(reversed(found))


def default_expression(argument: Argument) -> str | None:
    """The default as C++; None if there is none, or it is one that C++ has no word for."""
    if argument.default is None:
        return None
    return _expression(argument.type, default_value(argument))


def _expression(type_: Type, value: object) -> str | None:
    if isinstance(type_, OptionalType):
        if value is None:
            return "::std::nullopt"
        if isinstance(type_.elem, ListType):
            # Bare braces could as well be an argument of the optional itself.
            inner = _expression(type_.elem, value)
            return None if inner is None else stable.owned_type(type_.elem) + inner
        return _expression(type_.elem, value)
    if isinstance(type_, ListType):
        if not isinstance(value, (list, tuple)):
            value = [value] * (type_.size or 1)
        return braced([_expression(type_.elem, item) for item in value])
    assert isinstance(type_, BaseType)
    return _single(type_.name, value)


def _single(name: str, value: object) -> str | None:
    if isinstance(value, NamedConstant):
        constant = _CONSTANTS.get(name, {}).get(value.name)
        if constant is None or name in ("int", "SymInt"):
            return constant
        return f"torch::headeronly::{name}::{constant}"
    if isinstance(value, bool):
        return str(value).lower() if name == "bool" else None
    if isinstance(value, int) and name in ("int", "SymInt", "DeviceIndex"):
        return integer(value)
    if isinstance(value, float) and name == "float":
        return real(value)
    if isinstance(value, str) and name == "str":
        return quote(value)
    return None
