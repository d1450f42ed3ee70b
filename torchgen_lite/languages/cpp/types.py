"""C++ types as values: a name, template arguments, how it is held, and the headers that declare it.

    const ::std::optional<at::Tensor>&

is `const_ref(std("optional", CType("at::Tensor")))`. The languages make types from those of the schema, and
`str()` is what generated code says. Nothing is read back from that text.
`::std`, as torchgen writes it: an operator may be called `std`, and hides the other one.
"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple


class CType(NamedTuple):
    """A type. `suffix` is `&` for a reference and `*` for a pointer; `headers` declare the name alone."""

    name: str
    args: tuple[CType, ...] = ()
    is_const: bool = False
    suffix: str = ""
    headers: tuple[str, ...] = ()

    def __str__(self) -> str:
        text = self.name
        if self.args:
            text = f"{text}<{', '.join(map(str, self.args))}>"
        if self.is_const:
            return f"const {text}{self.suffix}"
        return text + self.suffix


class Expression(NamedTuple):
    """A C++ expression, the headers that it needs besides those of its type, and the author's names in it."""

    text: str
    headers: tuple[str, ...] = ()
    names: tuple[str, ...] = ()

    def __str__(self) -> str:
        return self.text

    @property
    def unrooted(self) -> Expression:
        """The same as `unrooted` does for types."""
        return self._replace(text=self.text.replace("::std::", "std::"))


def std(name: str, *args: CType) -> CType:
    """A type of the standard library whose header has its name: `::std::vector<...>`."""
    return CType(f"::std::{name}", args, headers=(name,))


VOID = CType("void")
BOOL = CType("bool")
DOUBLE = CType("double")
INT64 = CType("int64_t", headers=("cstdint",))


def ref(type_: CType) -> CType:
    return type_._replace(suffix="&")


def const_ref(type_: CType) -> CType:
    return type_._replace(is_const=True, suffix="&")


def bare(type_: CType) -> CType:
    """The type of a parameter's value, without const and reference.

    A pointer's target stays const; a value need not be.
    """
    if type_.suffix == "*":
        return type_
    return type_._replace(is_const=False, suffix="")


def tuple_of(types: list[CType]) -> CType:
    """What a function returns with these results: nothing, the only one, or a tuple."""
    if not types:
        return VOID
    return types[0] if len(types) == 1 else std("tuple", *types)


def unrooted(type_: CType) -> CType:
    """`std::optional` for `::std::optional`: shorter, where nothing generated can be called `std`.

    >>> print(unrooted(const_ref(std("optional", CType("at::Tensor")))))
    const std::optional<at::Tensor>&
    """
    args = tuple([unrooted(arg) for arg in type_.args])
    return type_._replace(name=type_.name.removeprefix("::"), args=args)


@lru_cache(maxsize=4096)
def headers_of(type_: CType) -> frozenset[str]:
    """The headers that declare a type and all that it holds."""
    return frozenset(type_.headers).union(*map(headers_of, type_.args))


def names_of(type_: CType) -> frozenset[str]:
    """The names of a type and of all that it holds."""
    return frozenset({type_.name}).union(*map(names_of, type_.args))
