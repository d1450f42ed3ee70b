"""Two schemas of one operator as somebody sees them who implements it in C++.

c10 compares the C++ types of kernels without reference and `const`, so the list of types is what counts; it takes a
kernel with `int64_t` where the schema says `SymInt`; names, defaults and the number in `int[2]` reach no kernel
(`CppSignature`, `checkSchema` of `OperatorEntry`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from enum import IntEnum
from itertools import zip_longest
from typing import NamedTuple

from torchgen_lite.schema import Argument, BaseType, FunctionSchema, Return
from torchgen_lite.schema.model import GenericType, ListType, OptionalType, TupleType, Type


class Rank(IntEnum):
    """What comes of a kernel that was written for another schema, the worst last."""

    same = 0
    names = 1
    symint = 2
    aborts = 3


SAID = {
    Rank.names: "names or defaults alone",
    Rank.symint: "`int` or `SymInt` alone",
    Rank.aborts: "another type of kernel: loading the library aborts",
}


class Difference(NamedTuple):
    """How far two schemas are apart, and the first argument or result at fault in each, where there is one."""

    rank: Rank
    old: Argument | Return | None = None
    new: Argument | Return | None = None


def compare_kernels(old: FunctionSchema, new: FunctionSchema) -> Difference:
    """What a kernel for `old` is worth for `new`."""
    if old.local_text == new.local_text:
        return Difference(Rank.same)
    pairs = [*_pairs(old.arguments, new.arguments), *_pairs(old.returns, new.returns)]
    worst = Difference(Rank.names)
    for one in pairs:
        if one.rank > worst.rank or (one.rank is worst.rank and not (worst.old or worst.new)):
            worst = one
    return worst


Value = Argument | Return


def _pairs(old: Sequence[Value], new: Sequence[Value]) -> Iterator[Difference]:
    pairs: Iterator[tuple[Value | None, Value | None]] = zip_longest(old, new)
    for was, now in pairs:
        if str(was) != str(now):
            yield Difference(_rank(was, now), was, now)


def _rank(old: Value | None, new: Value | None) -> Rank:
    if old is None or new is None:
        return Rank.aborts
    if _kernel_type(old) == _kernel_type(new):
        return Rank.names
    same = _kernel_type(old, symint=False) == _kernel_type(new, symint=False)
    return Rank.symint if same else Rank.aborts


def _kernel_type(value: Value, *, symint: bool = True) -> tuple[Type, bool]:
    """The type as far as C++ knows it, and whether it is a reference, as a result that is written to is."""
    return _in_cpp(value.type, symint), isinstance(value, Return) and value.is_write


def _in_cpp(type_: Type, symint: bool) -> Type:
    """Without annotations and sizes, but for `bool[3]`, which is an array of three; without `symint` as `int`."""
    if isinstance(type_, BaseType):
        return BaseType("int" if type_.name == "SymInt" and not symint else type_.name)
    if isinstance(type_, OptionalType):
        return OptionalType(_in_cpp(type_.elem, symint))
    if isinstance(type_, ListType):
        elem = _in_cpp(type_.elem, symint)
        return ListType(elem, type_.size if elem == BaseType("bool") else None)
    if isinstance(type_, GenericType):
        return GenericType(type_.name, tuple([_in_cpp(one, symint) for one in type_.args]))
    return TupleType(tuple([_in_cpp(one, symint) for one in type_.elems]))
