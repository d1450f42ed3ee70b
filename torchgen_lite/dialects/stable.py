"""One operator under libtorch's stable ABI: its kernel, and the typed call, have the same signature.

    weighted_sum(Tensor[] xs, Tensor? weight=None, *, float? scale=None) -> Tensor

is

    torch::stable::Tensor weighted_sum(
        torch::headeronly::HeaderOnlyArrayRef<torch::stable::Tensor> xs,
        const std::optional<torch::stable::Tensor>& weight, std::optional<double> scale)

Note [What the stable ABI carries]
A call crosses the border between libraries as a stack of 64-bit values, and libtorch converts each by
the type in the schema (`from_ivalue` and `to_ivalue` of `torch/csrc/shim_common.cpp`): `Tensor`, `int`,
`SymInt` (as an integer), `float`, `bool`, `str`, `ScalarType`, `Layout`, `Device`, `MemoryFormat`,
`Generator`, and options and lists of what it converts. Nothing else, `Scalar` among it, gets across, and
only the call would say so. The kernel's side converts by the type in C++ (`to<T>` and `from<T>` of
`torch/csrc/stable/stableivalue_conversions.h`), and nobody compares the two: that is what the proof is for.
"""

from __future__ import annotations

from typing import NamedTuple

from torchgen_lite.dialects.cpp_signature import CppParameter, CppSignature
from torchgen_lite.loader.entry import NativeFunction
from torchgen_lite.schema import Argument, BaseType, FunctionSchema, ListType, OptionalType, Type
from torchgen_lite.schema.model import bare_type

# `::std`, as torchgen writes it: an operator may be called `std`, and hides the other one.
TENSOR = "torch::stable::Tensor"
ARRAY_REF = "torch::headeronly::HeaderOnlyArrayRef"

Release = tuple[int, int]
# The first release that has a stable ABI for operators.
FIRST_RELEASE: Release = (2, 9)


class _Carried(NamedTuple):
    """A type that gets across: in C++, since which release, whether it is passed by reference."""

    text: str
    since: Release = FIRST_RELEASE
    by_reference: bool = False


_BASE_TYPES = {
    "Tensor": _Carried(TENSOR, by_reference=True),
    "int": _Carried("int64_t"),
    "DeviceIndex": _Carried("int64_t"),
    "SymInt": _Carried("int64_t"),
    "float": _Carried("double"),
    "bool": _Carried("bool"),
    "ScalarType": _Carried("torch::headeronly::ScalarType"),
    "str": _Carried("::std::string", (2, 10), by_reference=True),
    "Layout": _Carried("torch::headeronly::Layout", (2, 10)),
    "MemoryFormat": _Carried("torch::headeronly::MemoryFormat", (2, 10)),
    "Device": _Carried("torch::stable::Device", (2, 10)),
    "Generator": _Carried("torch::stable::Generator", (2, 13), by_reference=True),
}
_LISTS_SINCE: Release = (2, 10)
# What a declaration needs besides `library.h`, and the release that needs it.
_HEADERS = {
    "Tensor": "torch/csrc/stable/tensor.h",
    "ScalarType": "torch/headeronly/core/ScalarType.h",
    "Layout": "torch/headeronly/core/Layout.h",
    "MemoryFormat": "torch/headeronly/core/MemoryFormat.h",
    "Device": "torch/csrc/stable/device.h",
    "Generator": "torch/csrc/stable/generator.h",
}


def unsupported(type_: Type, *, returned: bool = False) -> str | None:
    """The part of a type that doesn't get across, as it is written in the schema; None if all does.

    A list of `bool` is a `std::vector<bool>` in C++, which the headers unpack but do not pack.
    """
    if isinstance(type_, OptionalType):
        return unsupported(type_.elem, returned=returned)
    if isinstance(type_, ListType):
        if returned and bare_type(type_.elem) == "bool":
            return bare_type(type_)
        return unsupported(type_.elem, returned=returned)
    if isinstance(type_, BaseType) and type_.name in _BASE_TYPES:
        return None
    return bare_type(type_)


def since(type_: Type) -> Release:
    """The first release that carries a type; it has to be one that is carried."""
    if isinstance(type_, OptionalType):
        return since(type_.elem)
    if isinstance(type_, ListType):
        return max(_LISTS_SINCE, since(type_.elem))
    assert isinstance(type_, BaseType)
    return _BASE_TYPES[type_.name].since


def headers(type_: Type) -> frozenset[str]:
    """The headers of PyTorch's and of the standard library that a declaration with this type needs."""
    if isinstance(type_, OptionalType):
        return headers(type_.elem) | {"optional"}
    if isinstance(type_, ListType):
        found = headers(type_.elem) | {"vector"}
        return found | {"torch/headeronly/util/HeaderOnlyArrayRef.h"}
    assert isinstance(type_, BaseType)
    if type_.name == "str":
        return frozenset({"string"})
    if type_.name in _HEADERS:
        return frozenset({_HEADERS[type_.name]})
    return frozenset({"cstdint"})


def owned_type(type_: Type) -> str:
    """The type of a result, and of what an argument is unpacked into: `std::vector<int64_t>`."""
    if isinstance(type_, OptionalType):
        return f"::std::optional<{owned_type(type_.elem)}>"
    if isinstance(type_, ListType):
        return f"::std::vector<{owned_type(type_.elem)}>"
    assert isinstance(type_, BaseType)
    return _BASE_TYPES[type_.name].text


def argument_type(argument: Argument) -> str:
    """The type of a parameter: a list of plain things as a view, what else is large by reference.

    There is no view of a `std::vector<bool>`.
    """
    type_, owned = argument.type, owned_type(argument.type)
    if isinstance(type_, ListType) and isinstance(type_.elem, BaseType):
        return (
            f"const {owned}&"
            if bare_type(type_.elem) == "bool"
            else f"{ARRAY_REF}<{owned_type(type_.elem)}>"
        )
    elem = type_.elem if isinstance(type_, OptionalType) else type_
    if isinstance(elem, BaseType) and not _BASE_TYPES[elem.name].by_reference:
        return owned
    if isinstance(type_, BaseType) and type_.name == "Tensor" and argument.is_write:
        return f"{owned}&"
    return f"const {owned}&"


def returns_type(schema: FunctionSchema) -> str:
    """`void`, a type, or a tuple. Results are values, also those that were written to."""
    types = [owned_type(r.type) for r in schema.returns]
    if not types:
        return "void"
    return types[0] if len(types) == 1 else f"::std::tuple<{', '.join(types)}>"


def arguments(schema: FunctionSchema) -> tuple[CppParameter, ...]:
    """The parameters in schema order, without defaults."""
    return tuple([CppParameter(argument_type(a), a.name) for a in schema.arguments])


def signature(function: NativeFunction, name: str) -> CppSignature:
    """The signature of a kernel or of a typed call, by its name."""
    return CppSignature(name, returns_type(function.func), arguments(function.func))
