"""The values that a type of the schema takes: kinds of them, by which types can be compared, and one to write down."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import NamedTuple

from torchgen_lite.diagnostics.text import cut_at
from torchgen_lite.loader.sources import lines_beside
from torchgen_lite.schema import ListType, OptionalType, Type
from torchgen_lite.schema.grouped import first_text
from torchgen_lite.schema.model import bare_type, sized_list

# What a number is where it may be a tensor.
_AS_TENSOR = "tensor(1)"


class Values(NamedTuple):
    """The kinds of values that `torch.ops` takes for a type, and one as it is written; empty where none can be."""

    kinds: frozenset[str]
    written: str = ""


@cache
def values_by_type() -> Mapping[str, Values]:
    table = {}
    for line in lines_beside(__file__):
        name, kinds, written = cut_at(line, "|")
        table[name] = Values(frozenset(kinds.split()), written)
    return table


def _values_of(name: str) -> Values:
    """One that is not in the table takes only its own."""
    return values_by_type().get(name, Values(frozenset([name])))


def kinds_of(type_: Type) -> frozenset[str]:
    """Those of a type that is no list."""
    return _values_of(_name(type_)).kinds


def _name(type_: Type) -> str:
    return bare_type(type_).removesuffix("?").partition("(")[0]


def written_value(type_: Type, number: int = 1) -> str:
    """A value of the type, in the language of `samples:`, for each number another one if it has several; empty where none
    can be written.
    """
    if isinstance(type_, OptionalType):
        return written_value(type_.elem, number)
    if isinstance(type_, ListType):
        element = written_value(type_.elem, number)
        return f"[{', '.join([element] * (type_.size or 2))}]" if element else ""
    text = _values_of(_name(type_)).written
    if number == 1:
        return text
    if _name(type_) == "Tensor":
        return f"{text} * {number}"
    return text.replace("1", str(number))


def narrowed_value(old: Type, new: Type) -> str:
    """A value of the old type that the new one refuses, or takes as another; empty where none is known.

    PyTorch takes None for a tensor, and a list of any length; one number stands for as many as a list has.
    """
    if isinstance(old, OptionalType) and not isinstance(new, OptionalType):
        return "" if _name(new) == "Tensor" else "None"
    if isinstance(old, ListType) and isinstance(new, ListType):
        if kinds_of(old.elem) - kinds_of(new.elem):
            return written_value(old)
        return written_value(old.elem) if sized_list(old) else ""
    if isinstance(old, ListType) or isinstance(new, ListType):
        return written_value(old)
    return _first_written(kinds_of(old) - kinds_of(new))


def shared_value(one: Type, other: Type) -> str:
    """A value that both types take; empty where the usual one of the first will do."""
    shared = kinds_of(one) & kinds_of(other)
    usual = _values_of(_name(one)).written
    is_usual = any(_values_of(kind).written == usual for kind in shared)
    if is_usual or isinstance(one, ListType):
        return ""
    if "Tensor" in shared:
        return _AS_TENSOR
    return _first_written(shared)


def _first_written(kinds: frozenset[str]) -> str:
    return first_text(_values_of(kind).written for kind in sorted(kinds))
