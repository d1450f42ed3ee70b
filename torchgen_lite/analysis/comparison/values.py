"""The values that a type of the schema takes: kinds of them, by which types can be compared, and one to write down."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

from torchgen_lite.diagnostics.text import cut_at
from torchgen_lite.loader.sources import lines_beside
from torchgen_lite.schema import ListType, OptionalType, Type
from torchgen_lite.schema.model import bare_type, sized_list

# What a number is where it may be a tensor.
_AS_TENSOR = "tensor(1)"


@cache
def taken_values() -> Mapping[str, frozenset[str]]:
    """The kinds of values that `torch.ops` takes for each type."""
    return {name: frozenset(kinds.split()) for name, kinds, _ in _rows()}


@cache
def _written_values() -> Mapping[str, str]:
    return {name: value for name, _, value in _rows()}


def _rows() -> list[list[str]]:
    rows = []
    for line in lines_beside(__file__):
        rows.append(cut_at(line, "|"))
    return rows


def kinds_of(type_: Type) -> frozenset[str]:
    """Those of a type that is no list; one that is not in the table takes only its own."""
    name = _name(type_)
    return taken_values().get(name, frozenset([name]))


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
    text = _written_values().get(_name(type_), "")
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
    usual = _written_values().get(_name(one), "")
    is_usual = any(_written_values().get(kind) == usual for kind in shared)
    if is_usual or isinstance(one, ListType):
        return ""
    if "Tensor" in shared:
        return _AS_TENSOR
    return _first_written(shared)


def _first_written(kinds: frozenset[str]) -> str:
    found = [_written_values().get(kind, "") for kind in sorted(kinds)]
    return next(filter(None, found), "")
