"""One operator under libtorch's stable ABI: its kernel, and the typed call, have the same signature.

    weighted_sum(Tensor[] xs, Tensor? weight=None, *, float? scale=None) -> Tensor

is

    torch::stable::Tensor weighted_sum(
        torch::headeronly::HeaderOnlyArrayRef<torch::stable::Tensor> xs,
        const std::optional<torch::stable::Tensor>& weight, std::optional<double> scale)

Note [What the stable ABI carries]
A call between libraries passes a stack of 64-bit values, which libtorch converts by their schema
types (`from_ivalue` and `to_ivalue` of `torch/csrc/shim_common.cpp`): `Tensor`, `int`, `SymInt` (as
an integer), `float`, `bool`, `str`, `ScalarType`, `Layout`, `Device`, `MemoryFormat`, `Generator`,
and optionals and lists of these. Nothing else is supported, not even `Scalar`, and this shows only
when the operator is called. The kernel converts by C++ types (`to<T>` and `from<T>` of
`torch/csrc/stable/stableivalue_conversions.h`), and nothing compares the two: the proof does that.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from torchgen_lite.analysis.derive.layout import element_name
from torchgen_lite.languages.cpp.defaults import Spelling, default_of, reduction
from torchgen_lite.languages.cpp.signature import CppParameter, CppSignature, trailing_defaults
from torchgen_lite.languages.cpp.types import (
    BOOL,
    DOUBLE,
    INT64,
    CType,
    Expression,
    const_ref,
    ref,
    std,
    tuple_of,
)
from torchgen_lite.schema import (
    Argument,
    BaseType,
    FunctionSchema,
    ListType,
    NamedConstant,
    OptionalType,
    Type,
    walk_type,
)
from torchgen_lite.schema.defaults import ENUMERATORS
from torchgen_lite.schema.model import bare_type

Release = tuple[int, int]
# The first release that has a stable ABI for operators.
FIRST_RELEASE: Release = (2, 9)
# The first release whose headers have everything that the generated code uses.
FIRST_HEADERS: Release = (2, 10)


class _Carried(NamedTuple):
    """A supported type: its C++ type, its first release, and whether it is passed by reference."""

    type: CType
    since: Release = FIRST_RELEASE
    by_reference: bool = False


def _stable(name: str) -> CType:
    return CType(f"torch::stable::{name}", headers=(f"torch/csrc/stable/{name.lower()}.h",))


def _headeronly(name: str) -> CType:
    return CType(f"torch::headeronly::{name}", headers=(f"torch/headeronly/core/{name}.h",))


_BASE_TYPES = {
    "Tensor": _Carried(_stable("Tensor"), by_reference=True),
    "int": _Carried(INT64),
    "DeviceIndex": _Carried(INT64),
    "SymInt": _Carried(INT64),
    "float": _Carried(DOUBLE),
    "bool": _Carried(BOOL),
    "ScalarType": _Carried(_headeronly("ScalarType")),
    "str": _Carried(std("string"), (2, 10), by_reference=True),
    "Layout": _Carried(_headeronly("Layout"), (2, 10)),
    "MemoryFormat": _Carried(_headeronly("MemoryFormat"), (2, 10)),
    "Device": _Carried(_stable("Device"), (2, 10)),
    "Generator": _Carried(_stable("Generator"), (2, 13), by_reference=True),
}
_LISTS_SINCE: Release = (2, 10)


def array_ref(elem: CType) -> CType:
    header = "torch/headeronly/util/HeaderOnlyArrayRef.h"
    return CType("torch::headeronly::HeaderOnlyArrayRef", (elem,), headers=(header,))


def unsupported(type_: Type) -> str | None:
    """The unsupported part of an argument's type, as spelled in the schema; None if there is none."""
    for part in walk_type(type_):
        if not isinstance(part, (ListType, OptionalType)) and bare_type(part) not in _BASE_TYPES:
            return bare_type(part)
    return None


def unsupported_result(type_: Type) -> str | None:
    """That of a result's type: a list of `bool` is a `std::vector<bool>` in C++, which the headers unpack but do
    not pack."""
    for part in walk_type(type_):
        if isinstance(part, ListType) and bare_type(part.elem) == "bool":
            return bare_type(part)
    return unsupported(type_)


def since(type_: Type) -> Release:
    """The first release that supports a type, which must be a supported one."""
    first = _BASE_TYPES[element_name(type_)].since
    has_list = any(isinstance(part, ListType) for part in walk_type(type_))
    return max(_LISTS_SINCE, first) if has_list else first


def owned_type(type_: Type) -> CType:
    """The type of a result, and of what an argument is unpacked into: `std::vector<int64_t>`."""
    if isinstance(type_, OptionalType):
        return std("optional", owned_type(type_.elem))
    if isinstance(type_, ListType):
        return std("vector", owned_type(type_.elem))
    assert isinstance(type_, BaseType)
    return _BASE_TYPES[type_.name].type


def argument_type(argument: Argument) -> CType:
    """The type of a parameter: lists of plain values as views, other large types by reference.

    There is no view of a `std::vector<bool>`.
    """
    type_ = argument.type
    owned = owned_type(argument.type)
    if isinstance(type_, ListType) and isinstance(type_.elem, BaseType):
        if bare_type(type_.elem) == "bool":
            return const_ref(owned)
        return array_ref(owned_type(type_.elem))
    elem = type_.elem if isinstance(type_, OptionalType) else type_
    if isinstance(elem, BaseType) and not _BASE_TYPES[elem.name].by_reference:
        return owned
    if isinstance(type_, BaseType) and type_.name == "Tensor" and argument.is_write:
        return ref(owned)
    return const_ref(owned)


def unpacked_type(argument: Argument) -> CType:
    """The type of a parameter to which every type that a kernel may have can be made of."""
    if isinstance(argument.type, ListType):
        return const_ref(owned_type(argument.type))
    return argument_type(argument)


def returns_type(schema: FunctionSchema) -> CType:
    """`void`, a type, or a tuple. Results are values, also those that were written to."""
    return tuple_of([owned_type(r.type) for r in schema.returns])


def _word(name: str, value: object) -> Expression | None:
    if not isinstance(value, NamedConstant):
        return None
    enumerator = ENUMERATORS.get(name, {}).get(value.name)
    if enumerator is None:
        return reduction(name, value)
    return Expression(f"torch::headeronly::{name}::{enumerator}")


def _listed(type_: ListType, braces: Expression) -> Expression:
    return braces._replace(text=f"{owned_type(type_)}{braces}")


_WORDS = Spelling(_word, _listed)


def arguments(ordered: Sequence[Argument]) -> tuple[CppParameter, ...]:
    return trailing_defaults(
        [CppParameter(argument_type(a), a.name, default_of(a, _WORDS)) for a in ordered]
    )


def signature(schema: FunctionSchema) -> CppSignature:
    """The signature of a kernel or of a typed call."""
    return CppSignature(schema.base_name, returns_type(schema), arguments(schema.arguments))
