"""One operator in the C++ of a user's framework: its kernels, and the typed call, have this signature.

    add.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor

is, for a framework with `toy::Tensor`,

    toy::Tensor add(const toy::Tensor& self, const toy::Tensor& other, double alpha)

Note [Types of a framework]
The framework says what a schema's named types are in C++, as a parameter: `ScalarType = "toy::Dtype"` is
passed by value, `Generator = "const toy::Generator&"` by reference. A result, or the element of an option
or a list, is the same without the reference. Numbers and texts have types of the standard library; for
anything else that is not said, there is no type, and the target refuses the operator.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from torchgen_lite.dialects.cpp_signature import CppParameter, CppSignature
from torchgen_lite.dialects.cpp_text import quote
from torchgen_lite.dialects.cpp_values import braced, integer, real
from torchgen_lite.schema import (
    Argument,
    FunctionSchema,
    ListType,
    NamedConstant,
    OptionalType,
    Type,
    default_value,
)
from torchgen_lite.schema.model import bare_type

KEYSET = CppParameter("torchgen_lite::DispatchKeySet", "dispatchKeySet")
SPAN = "torchgen_lite::Span"
_STANDARD = {
    "int": "int64_t",
    "SymInt": "int64_t",
    "DeviceIndex": "int64_t",
    "float": "double",
    "SymFloat": "double",
    "bool": "bool",
    "SymBool": "bool",
    "complex": "::std::complex<double>",
    "Scalar": "double",
    "str": "::std::string_view",
}
# What a view is a view of.
_OWNED = {"::std::string_view": "::std::string", "std::string_view": "std::string"}
# PyTorch's `Reduction`, which its schemas spell by name.
_REDUCTIONS = {"Mean": "1", "Sum": "2"}


@dataclass(frozen=True, slots=True)
class Types:
    """The C++ of a framework. `tensor` is the type of its tensors; `named` says how other types of the
    schema are passed; `constants` are its expressions for defaults that are names or texts."""

    tensor: str
    named: Mapping[str, str] = field(default_factory=dict)
    constants: Mapping[str, str] = field(default_factory=dict)

    def with_tensor(self, tensor: str) -> Types:
        """The same with another name for the tensor."""
        return replace(self, tensor=tensor)

    def passed(self, type_: Type) -> str | None:
        """How a type is passed that is neither a tensor, an option nor a list."""
        name = bare_type(type_)
        return self.named.get(name) or _STANDARD.get(name)


def missing(type_: Type, types: Types) -> str | None:
    """The part of a type that has no C++ type, as it is written in the schema; None if all has."""
    if isinstance(type_, (OptionalType, ListType)):
        return missing(type_.elem, types)
    if bare_type(type_) == "Tensor" or types.passed(type_) is not None:
        return None
    return bare_type(type_)


def owned_type(type_: Type, types: Types) -> str:
    """The type of a result that was not written to: `std::vector<int64_t>`."""
    if isinstance(type_, OptionalType):
        return f"::std::optional<{owned_type(type_.elem, types)}>"
    if isinstance(type_, ListType):
        return f"::std::vector<{owned_type(type_.elem, types)}>"
    value = _value(type_, types)
    return _OWNED.get(value, value)


def _value(type_: Type, types: Types) -> str:
    if bare_type(type_) == "Tensor":
        return types.tensor
    passed = types.passed(type_)
    assert passed is not None, "`missing` says so first"
    # What a pointer points to may be constant; a value has no need to be.
    return passed if passed.endswith("*") else passed.removeprefix("const ").removesuffix("&")


def _element(type_: Type, types: Types) -> str:
    """What an option or a list of arguments holds. Only the outermost list is a view."""
    if isinstance(type_, OptionalType):
        return f"::std::optional<{_element(type_.elem, types)}>"
    if isinstance(type_, ListType):
        return owned_type(type_, types)
    return _value(type_, types)


def argument_type(argument: Argument, types: Types) -> str:
    """The type of a parameter. What is written comes by reference, with whatever holds it."""
    type_ = argument.type
    if argument.is_write and _holds_tensor(type_):
        return f"{owned_type(type_, types)}&"
    if isinstance(type_, ListType):
        return f"{SPAN}<{_element(type_.elem, types)}>"
    if isinstance(type_, OptionalType):
        if isinstance(type_.elem, ListType):
            return f"::std::optional<{SPAN}<{_element(type_.elem.elem, types)}>>"
        text = f"::std::optional<{_element(type_.elem, types)}>"
        return f"const {text}&" if _by_reference(type_.elem, types) else text
    if bare_type(type_) == "Tensor":
        return f"const {types.tensor}&"
    passed = types.passed(type_)
    assert passed is not None, "`missing` says so first"
    return passed


def _holds_tensor(type_: Type) -> bool:
    while isinstance(type_, (OptionalType, ListType)):
        type_ = type_.elem
    return bare_type(type_) == "Tensor"


def _by_reference(type_: Type, types: Types) -> bool:
    passed = types.passed(type_)
    return _holds_tensor(type_) or (passed is not None and passed.endswith("&"))


def returns_type(schema: FunctionSchema, types: Types) -> str:
    """`void`, a type, or a tuple. What was written comes back by reference."""
    found = []
    for result in schema.returns:
        text = owned_type(result.type, types)
        found.append(f"{text}&" if result.is_write and _holds_tensor(result.type) else text)
    if not found:
        return "void"
    return found[0] if len(found) == 1 else f"::std::tuple<{', '.join(found)}>"


def arguments(schema: FunctionSchema, types: Types) -> tuple[CppParameter, ...]:
    """The parameters in schema order, without defaults."""
    return tuple([CppParameter(argument_type(a, types), a.name) for a in schema.arguments])


def signature(
    schema: FunctionSchema, name: str, types: Types, *, keyset: bool = False
) -> CppSignature:
    """The signature of a kernel or of a typed call, by its name; `keyset`: with the call's keys first."""
    first = (KEYSET,) if keyset else ()
    return CppSignature(name, returns_type(schema, types), first + arguments(schema, types))


def with_defaults(ordered: Sequence[Argument], types: Types) -> tuple[CppParameter, ...]:
    """Parameters with defaults. In C++ what stands before one without a default has none either."""
    found: list[CppParameter] = []
    for argument in reversed(ordered):
        usable = not found or found[-1].default is not None
        default = default_expression(argument, types) if usable else None
        found.append(CppParameter(argument_type(argument, types), argument.name, default))
    return tuple(reversed(found))


def default_expression(argument: Argument, types: Types) -> str | None:
    """The default as C++; None if there is none, or it is one that the framework has no word for."""
    if argument.default is None or (argument.is_write and _holds_tensor(argument.type)):
        return None
    return _expression(argument.type, default_value(argument), types)


def _expression(type_: Type, value: object, types: Types) -> str | None:
    if isinstance(type_, OptionalType):
        if value is None:
            return "::std::nullopt"
        inner = _expression(type_.elem, value, types)
        if inner is not None and isinstance(type_.elem, ListType):
            # Braces alone would be an empty option.
            return f"{SPAN}<{_element(type_.elem.elem, types)}>({inner})"
        return inner
    if isinstance(type_, ListType):
        if not isinstance(value, (list, tuple)):
            value = [value] * (type_.size or 1)
        return braced([_expression(type_.elem, item, types) for item in value])
    return _single(bare_type(type_), value, types)


def _single(name: str, value: object, types: Types) -> str | None:
    if isinstance(value, NamedConstant):
        constant = types.constants.get(value.name)
        return constant or (_REDUCTIONS.get(value.name) if name in ("int", "SymInt") else None)
    if isinstance(value, str):
        return quote(value) if name == "str" else types.constants.get(value)
    is_number = name in ("Scalar", "complex")
    if isinstance(value, bool):
        return str(value).lower() if is_number or name in ("bool", "SymBool") else None
    if isinstance(value, int) and (is_number or name in ("int", "SymInt", "DeviceIndex")):
        return integer(value)
    if isinstance(value, float) and (is_number or name in ("float", "SymFloat")):
        return real(value)
    return None
