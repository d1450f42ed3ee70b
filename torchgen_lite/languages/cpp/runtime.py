"""One operator in the C++ of a user's framework: its kernels, and the typed call, have this signature.

    add.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor

is, for a framework with `toy::Tensor`,

    toy::Tensor add(const toy::Tensor& self, const toy::Tensor& other, double alpha)

Note [Types of a framework]
The framework gives the C++ parameter types for named schema types: `ScalarType = "toy::Dtype"` is
passed by value, `Generator = "const toy::Generator&"` by reference. Results, and elements of
optionals and lists, drop the reference. Numbers and strings have standard library types; any other
type must be given, or the target rejects the operator.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from torchgen_lite.analysis.derive.layout import is_tensor_like
from torchgen_lite.languages.cpp.defaults import Spelling, complex_number, default_of, reduction
from torchgen_lite.languages.cpp.signature import CppParameter, CppSignature, trailing_defaults
from torchgen_lite.languages.cpp.types import (
    BOOL,
    DOUBLE,
    INT64,
    CType,
    Expression,
    bare,
    const_ref,
    ref,
    std,
    tuple_of,
)
from torchgen_lite.schema import (
    Argument,
    FunctionSchema,
    ListType,
    NamedConstant,
    OptionalType,
    Type,
)
from torchgen_lite.schema.model import bare_type

_KEYSET_TYPE = CType("torchgen_lite::DispatchKeySet", headers=("torchgen_lite/dispatch_key_set.h",))
KEYSET = CppParameter(_KEYSET_TYPE, "dispatchKeySet")
_STANDARD = {
    **dict.fromkeys(("int", "SymInt", "DeviceIndex"), INT64),
    **dict.fromkeys(("float", "SymFloat", "Scalar"), DOUBLE),
    **dict.fromkeys(("bool", "SymBool"), BOOL),
    "complex": std("complex", DOUBLE),
    "str": std("string_view"),
}
# The owning type for each view type.
_OWNED = {
    "::std::string_view": std("string"),
    "std::string_view": CType("std::string", headers=("string",)),
}


@dataclass(frozen=True, slots=True)
class Types:
    """The C++ types of a framework. `tensor` is its tensor type; `named` says how other schema
    types are passed; `constants` are its expressions for defaults that are names or strings."""

    tensor: CType
    named: Mapping[str, CType] = field(default_factory=dict)
    constants: Mapping[str, Expression] = field(default_factory=dict)

    def passed(self, type_: Type) -> CType | None:
        """How a type is passed that is neither an option nor a list; None if the framework doesn't say."""
        name = bare_type(type_)
        if name == "Tensor":
            return const_ref(self.tensor)
        return self.named.get(name) or _STANDARD.get(name)

    def word(self, name: str, value: object) -> Expression | None:
        """The expression for a constant, or for a text that is not a `str`."""
        if isinstance(value, NamedConstant):
            return self.constants.get(value.name) or reduction(name, value)
        if isinstance(value, str) and name != "str":
            return self.constants.get(value)
        # A type of the framework's is made in its own way, and a `double` has no imaginary part.
        if isinstance(value, complex) and name == "complex" and name not in self.named:
            return complex_number(_STANDARD[name], value)
        return None


def missing(type_: Type, types: Types) -> str | None:
    """The part of a type without a C++ type, as spelled in the schema; None if there is none."""
    if isinstance(type_, (OptionalType, ListType)):
        return missing(type_.elem, types)
    if types.passed(type_) is None:
        return bare_type(type_)
    return None


def owned_type(type_: Type, types: Types) -> CType:
    """The type of a result that was not written to: `std::vector<int64_t>`."""
    if isinstance(type_, OptionalType):
        return std("optional", owned_type(type_.elem, types))
    if isinstance(type_, ListType):
        return std("vector", owned_type(type_.elem, types))
    value = bare(_passed(type_, types))
    return _OWNED.get(value.name, value)


def _passed(type_: Type, types: Types) -> CType:
    passed = types.passed(type_)
    assert passed is not None, "`missing` says so first"
    return passed


def _element(type_: Type, types: Types) -> CType:
    """The element type of an optional or list argument. Only the outermost list is a view."""
    if isinstance(type_, OptionalType):
        return std("optional", _element(type_.elem, types))
    if isinstance(type_, ListType):
        return owned_type(type_, types)
    return bare(_passed(type_, types))


def span(type_: ListType, types: Types) -> CType:
    header = "torchgen_lite/span.h"
    return CType("torchgen_lite::Span", (_element(type_.elem, types),), headers=(header,))


def argument_type(argument: Argument, types: Types) -> CType:
    """The type of a parameter. Written arguments, and their containers, are passed by reference."""
    type_ = argument.type
    if argument.is_write and is_tensor_like(type_):
        return ref(owned_type(type_, types))
    if isinstance(type_, ListType):
        return span(type_, types)
    if not isinstance(type_, OptionalType):
        return _passed(type_, types)
    if isinstance(type_.elem, ListType):
        return std("optional", span(type_.elem, types))
    optional = std("optional", _element(type_.elem, types))
    passed = types.passed(type_.elem)
    is_large = is_tensor_like(type_) or (passed is not None and passed.suffix == "&")
    return const_ref(optional) if is_large else optional


def returns_type(schema: FunctionSchema, types: Types) -> CType:
    """`void`, a type, or a tuple. Written arguments are returned by reference."""
    owned = [(result, owned_type(result.type, types)) for result in schema.returns]
    return tuple_of([ref(t) if r.is_write and is_tensor_like(r.type) else t for r, t in owned])


def arguments(ordered: Sequence[Argument], types: Types) -> tuple[CppParameter, ...]:
    return trailing_defaults(
        [
            CppParameter(argument_type(a, types), a.name, default_expression(a, types))
            for a in ordered
        ]
    )


def default_expression(argument: Argument, types: Types) -> Expression | None:
    """The default as C++; None if there is none, or the framework has no expression for it."""
    if argument.is_write and is_tensor_like(argument.type):
        return None

    def listed(type_: ListType, braces: Expression) -> Expression:
        return braces._replace(text=f"{span(type_, types)}({braces})")

    return default_of(argument, Spelling(types.word, listed))


def signature(
    schema: FunctionSchema,
    types: Types,
    *,
    keyset: bool = False,
) -> CppSignature:
    """The signature of a kernel or of a typed call; `keyset`: with the call's keys first."""
    first = (KEYSET,) if keyset else ()
    parameters = first + arguments(schema.arguments, types)
    return CppSignature(schema.base_name, returns_type(schema, types), parameters)
