"""Schema types in the C++ of PyTorch.

Note [Three C++ dialects]
The public API (`cpp`), the dispatcher and the kernels (`native`) agree on nearly every type; structured
kernels (`structured`) take references that own nothing. What differs between functions of one dialect is
in `Conventions`, which is made from the entry. torchgen `api/cpp.py`, `api/native.py`,
`api/structured.py`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from torchgen_lite.loader.entry import NativeFunction
from torchgen_lite.schema import BaseType, GenericType, ListType, OptionalType, Return, Type
from torchgen_lite.schema.model import bare_type

_BASE_TYPES = {
    "int": "int64_t",
    "float": "double",
    "bool": "bool",
    "str": "c10::string_view",
    "complex": "c10::complex<double>",
    "number": "at::Scalar",
    "SymInt": "c10::SymInt",
    "SymBool": "c10::SymBool",
    "SymFloat": "c10::SymFloat",
    "Any": "c10::IValue",
    "ConstQuantizerPtr": "at::ConstQuantizerPtr",
}
_CLASS_PREFIX = "__torch__.torch.classes."
TENSOR = "at::Tensor"
OPTIONAL_TENSOR = "::std::optional<at::Tensor>"


class Conventions(NamedTuple):
    """How a function wants its arguments.

    `symint`: `SymInt` is `c10::SymInt`, and not the `int64_t` of old. `const_ref`: what is written comes
    by const reference too. `list_ref`: a list of tensors is an `ITensorListRef`, so that it need not be
    unpacked; this is so for structured kernels and what delegates to them.
    """

    symint: bool = False
    const_ref: bool = False
    list_ref: bool = False


_CONST_REF_FIELD = "use_const_ref_for_mutable_tensors"


def conventions(function: NativeFunction, *, symint: bool) -> Conventions:
    """The conventions of an entry, with or without `c10::SymInt`."""
    fields = dict(function.extra) if function.extra else {}
    return Conventions(
        symint,
        fields.get(_CONST_REF_FIELD, "").lower() == "true",
        function.structured or function.structured_delegate is not None,
    )


def const(type_: str) -> str:
    """A const reference."""
    return f"const {type_}&"


def strip_reference(type_: str) -> str:
    """`at::Scalar` of `const at::Scalar&`."""
    return type_.removeprefix("const ").removesuffix("&") if type_.endswith("&") else type_


def base_type(name: str) -> str:
    """The C++ name of a named type: `at::Layout`; a custom class is held by an intrusive pointer."""
    known = _BASE_TYPES.get(name)
    if known is not None:
        return known
    if name.startswith(_CLASS_PREFIX):
        return f"c10::intrusive_ptr<{name.removeprefix(_CLASS_PREFIX).replace('.', '::')}>"
    if name[:1].islower():  # A type variable of the JIT: `t[] self`.
        return "c10::IValue"
    return f"at::{name.replace('.', '::')}"


def value_type(type_: Type, symint: bool) -> str | None:
    """Types that look the same as argument and as result; None for tensors, scalars and lists."""
    if isinstance(type_, BaseType):
        if type_.name in ("Tensor", "Scalar"):
            return None
        if type_.name == "SymInt" and not symint:
            return "int64_t"
        return base_type(type_.name)
    if isinstance(type_, OptionalType):
        elem = value_type(type_.elem, symint)
        return None if elem is None else f"::std::optional<{elem}>"
    if isinstance(type_, ListType):
        if type_.size is not None and bare_type(type_.elem) == "bool":
            return f"::std::array<bool, {type_.size}>"
        return None
    if isinstance(type_, GenericType):
        inner = ", ".join([return_type(t, False, Conventions(symint)) for t in type_.args])
        return f"c10::{type_.name}<{inner}>"
    return f"::std::tuple<{', '.join([return_type(t, False, Conventions(symint)) for t in type_.elems])}>"


def argument_type(type_: Type, mutable: bool, how: Conventions) -> str:
    """An argument of the public API and of the dispatcher."""
    value = value_type(type_, how.symint)
    if value is not None:
        return value
    if isinstance(type_, BaseType):
        if type_.name == "Tensor":
            return f"{TENSOR}&" if mutable and not how.const_ref else const(TENSOR)
        return const("at::Scalar")
    if isinstance(type_, OptionalType):
        return _optional(type_, mutable, how)
    assert isinstance(type_, ListType)
    return _list(type_, mutable, how)


def _optional(type_: OptionalType, mutable: bool, how: Conventions) -> str:
    elem = bare_type(type_.elem)
    if elem == "Tensor":
        return f"{TENSOR}&" if mutable and not how.const_ref else const(OPTIONAL_TENSOR)
    if elem == "Scalar":
        return const("::std::optional<at::Scalar>")
    if isinstance(type_.elem, ListType):
        item = bare_type(type_.elem.elem)
        if item == "int" or (item == "SymInt" and not how.symint):
            return "at::OptionalIntArrayRef"
        if item == "SymInt":
            return "at::OptionalSymIntArrayRef"
    return f"::std::optional<{argument_type(type_.elem, mutable, how)}>"


def _list(type_: ListType, mutable: bool, how: Conventions) -> str:
    elem = bare_type(type_.elem)
    if elem == "int" or (elem == "SymInt" and not how.symint):
        return "at::IntArrayRef"
    if elem == "SymInt":
        return "c10::SymIntArrayRef"
    if elem == "Tensor":
        return const("at::ITensorListRef") if how.list_ref else "at::TensorList"
    if elem == "Scalar":
        return "at::ArrayRef<at::Scalar>"
    if elem == "Tensor?":
        return const(f"c10::List<{OPTIONAL_TENSOR}>")
    return f"at::ArrayRef<{argument_type(type_.elem, mutable, how)}>"


def return_type(type_: Type, mutable: bool, how: Conventions) -> str:
    """A result. `SymInt` is always `c10::SymInt` here; what was written comes back by reference."""
    value = value_type(type_, True)
    if value is not None:
        return value
    if isinstance(type_, BaseType):
        if type_.name == "Scalar":
            return "at::Scalar"
        if not mutable:
            return TENSOR
        return const(TENSOR) if how.const_ref else f"{TENSOR}&"
    if isinstance(type_, OptionalType):
        return f"::std::optional<{return_type(type_.elem, mutable, how)}>"
    assert isinstance(type_, ListType)
    return f"::std::vector<{return_type(type_.elem, False, how)}>"


def returns_type(returns: Sequence[Return], how: Conventions) -> str:
    """`void`, a type, or a tuple."""
    if not returns:
        return "void"
    types = [return_type(r.type, r.is_write, how) for r in returns]
    return types[0] if len(types) == 1 else f"::std::tuple<{', '.join(types)}>"
