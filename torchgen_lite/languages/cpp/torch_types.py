"""Schema types in the C++ of PyTorch.

Note [Three C++ dialects]
The public API (`public`), the dispatcher and the kernels (`native`) agree on nearly every type;
structured kernels (`structured`) take non-owning references. Differences between functions of one
dialect are in `Conventions`, which is made from the entry. torchgen `api/cpp.py`, `api/native.py`,
`api/structured.py`.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Literal, NamedTuple

from torchgen_lite.languages.cpp.types import (
    BOOL,
    DOUBLE,
    INT64,
    CType,
    bare,
    const_ref,
    ref,
    std,
    tuple_of,
)
from torchgen_lite.loader.entry.entry import NativeFunction
from torchgen_lite.schema import BaseType, GenericType, ListType, OptionalType, Return, Type
from torchgen_lite.schema.model import bare_type

TENSOR = CType("at::Tensor")
SCALAR = CType("at::Scalar")
OPTIONAL_TENSOR = std("optional", TENSOR)
TENSOR_LIST_REF = const_ref(CType("at::ITensorListRef"))
INT_LIST = CType("at::IntArrayRef")
INT_LIST_OPTION = CType("at::OptionalIntArrayRef")
SYMINT = CType("c10::SymInt")
STRING_VIEW = CType("c10::string_view", headers=("string_view",))
_IVALUE = CType("c10::IValue", headers=("ATen/core/ivalue.h",))
_BASE_TYPES = {
    "int": INT64,
    "float": DOUBLE,
    "bool": BOOL,
    "str": STRING_VIEW,
    "complex": CType("c10::complex", (DOUBLE,)),
    "number": SCALAR,
    "SymInt": SYMINT,
    "SymBool": CType("c10::SymBool"),
    "SymFloat": CType("c10::SymFloat"),
    "Any": _IVALUE,
    "Generator": CType("at::Generator", headers=("ATen/core/Generator.h",)),
    "Stream": CType("at::Stream", headers=("c10/core/Stream.h",)),
}
# How the names of custom classes begin.
CLASS_PREFIX = "__torch__.torch.classes."
# List types by element; also list types in optionals that are not simply wrapped.
_LISTS = {
    "int": INT_LIST,
    "SymInt": CType("c10::SymIntArrayRef"),
    "Tensor": CType("at::TensorList"),
    "Scalar": CType("at::ArrayRef", (SCALAR,)),
}
_LIST_OPTIONS = {"int": INT_LIST_OPTION, "SymInt": CType("at::OptionalSymIntArrayRef")}


# What a `SymInt` is to a function: `c10::SymInt`, or the `int64_t` of an `int`, as it was before there were any.
Sizes = Literal["SymInt", "int"]


class Conventions(NamedTuple):
    """How a function wants its arguments.

    `sizes` is what it takes for a `SymInt`. `const_ref`: written arguments
    are also passed by const reference. `list_ref`: a list of tensors is an `ITensorListRef`, which
    need not be unpacked, as for structured kernels and their delegates.
    """

    sizes: Sizes = "int"
    const_ref: bool = False
    list_ref: bool = False


def conventions(function: NativeFunction, sizes: Sizes) -> Conventions:
    return Conventions(
        sizes, function.use_const_ref_for_mutable_tensors, function.shares_structured
    )


def list_of(elem: CType) -> CType:
    return CType("c10::List", (elem,), headers=("ATen/core/List.h",))


def array_ref(elem: CType) -> CType:
    """A view of data that is owned elsewhere."""
    return CType("at::ArrayRef", (elem,))


def base_type(name: str) -> CType:
    """The C++ of a named type: `at::Layout`; a custom class is held by an intrusive pointer."""
    known = _BASE_TYPES.get(name)
    if known is not None:
        return known
    if name.startswith(CLASS_PREFIX):
        held = name.removeprefix(CLASS_PREFIX).replace(".", "::")
        return CType("c10::intrusive_ptr", (CType(held),))
    if name[:1].islower():  # A type variable of the JIT: `t[] self`.
        return _IVALUE
    return CType(f"at::{name.replace('.', '::')}")


def value_type(type_: Type, sizes: Sizes) -> CType | None:
    """Types that look the same as argument and as result; None for tensors, scalars and lists."""
    if isinstance(type_, BaseType):
        if type_.name in ("Tensor", "Scalar"):
            return None
        return base_type(sizes if type_.name == "SymInt" else type_.name)
    if isinstance(type_, OptionalType):
        elem = value_type(type_.elem, sizes)
        return None if elem is None else std("optional", elem)
    if isinstance(type_, ListType):
        if type_.size is not None and bare_type(type_.elem) == "bool":
            return std("array", BOOL, CType(str(type_.size)))
        return None
    how = Conventions(sizes)
    if isinstance(type_, GenericType):
        header = ("ATen/core/Dict.h",) if type_.name == "Dict" else ()
        args = tuple([return_type(t, False, how) for t in type_.args])
        return CType(f"c10::{type_.name}", args, headers=header)
    return std("tuple", *[return_type(t, False, how) for t in type_.elems])


@lru_cache(maxsize=4096)
def argument_type(
    type_: Type,
    mutable: bool,
    how: Conventions,
) -> CType:
    """An argument of the public API and of the dispatcher."""
    value = value_type(type_, how.sizes)
    if value is not None:
        return value
    if isinstance(type_, BaseType):
        if type_.name == "Tensor":
            return _tensor(TENSOR, mutable, how)
        return const_ref(SCALAR)
    if isinstance(type_, OptionalType):
        return _optional(type_, mutable, how)
    assert isinstance(type_, ListType)
    return _list(type_, mutable, how)


def _tensor(
    unwritten: CType,
    mutable: bool,
    how: Conventions,
) -> CType:
    if mutable and not how.const_ref:
        return ref(TENSOR)
    return const_ref(unwritten)


def _optional(
    type_: OptionalType,
    mutable: bool,
    how: Conventions,
) -> CType:
    elem = bare_type(type_.elem)
    if elem == "Tensor":
        return _tensor(OPTIONAL_TENSOR, mutable, how)
    if elem == "Scalar":
        return const_ref(std("optional", SCALAR))
    if isinstance(type_.elem, ListType):
        known = _LIST_OPTIONS.get(_element(type_.elem, how))
        if known is not None:
            return known
    return std("optional", argument_type(type_.elem, mutable, how))


def _list(
    type_: ListType,
    mutable: bool,
    how: Conventions,
) -> CType:
    elem = _element(type_, how)
    if elem == "Tensor" and how.list_ref:
        return TENSOR_LIST_REF
    if elem == "Tensor?":
        return const_ref(list_of(OPTIONAL_TENSOR))
    return _LISTS.get(elem) or array_ref(argument_type(type_.elem, mutable, how))


def _element(type_: ListType, how: Conventions) -> str:
    elem = bare_type(type_.elem)
    return how.sizes if elem == "SymInt" else elem


@lru_cache(maxsize=4096)
def return_type(
    type_: Type,
    mutable: bool,
    how: Conventions,
) -> CType:
    """A result. `SymInt` is always `c10::SymInt` here; written arguments come back by reference."""
    value = value_type(type_, "SymInt")
    if value is not None:
        return value
    if isinstance(type_, BaseType):
        if type_.name == "Scalar":
            return SCALAR
        return _tensor(TENSOR, mutable, how) if mutable else TENSOR
    if isinstance(type_, OptionalType):
        return std("optional", return_type(type_.elem, mutable, how))
    assert isinstance(type_, ListType)
    return std("vector", return_type(type_.elem, False, how))


def returns_type(returns: Sequence[Return], how: Conventions) -> CType:
    """`void`, a type, or a tuple."""
    return tuple_of([return_type(r.type, r.is_write, how) for r in returns])


# What owns the text or the flags that a type of the dialect refers to.
_OWNERS = {STRING_VIEW: std("string"), std("vector", BOOL): list_of(BOOL)}


def owned(type_: CType) -> CType:
    """The type that owns everything in it: a `str` as `std::string`, flags as `c10::List<bool>`."""
    return _OWNERS.get(type_) or type_._replace(args=tuple([owned(arg) for arg in type_.args]))


# The types that keep the elements of a view, and of an optional view.
_KEPT = {
    "at::IntArrayRef": std("vector", INT64),
    "c10::SymIntArrayRef": std("vector", SYMINT),
    "at::OptionalIntArrayRef": CType("c10::OptionalArray", (INT64,)),
    "at::OptionalSymIntArrayRef": CType("c10::OptionalArray", (SYMINT,)),
}


def kept(type_: CType) -> CType:
    """The type that keeps an argument's value after the call.

    >>> print(kept(INT_LIST), kept(const_ref(std("optional", SCALAR))))
    ::std::vector<int64_t> ::std::optional<at::Scalar>
    """
    plain = bare(type_)
    if plain.name in _KEPT:
        return _KEPT[plain.name]
    args = tuple([kept(arg) for arg in plain.args])
    if plain.name == "at::ArrayRef":
        return std("vector", *args)
    if plain.name == "::std::optional" and args[0].name == "::std::vector":
        return CType("c10::OptionalArray", args[0].args)
    if plain == STRING_VIEW:
        return std("string")
    return plain._replace(args=args)
