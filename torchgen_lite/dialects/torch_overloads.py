"""The overloads of one name in Python: which are merged, and in which order they are tried.

    add.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor
    add.out(Tensor self, Tensor other, *, Scalar alpha=1, Tensor(a!) out) -> Tensor(a!)

are one overload with `out=None`. A number fits where a tensor is wanted, so the overload with the tensor
comes before the one with the number (torch `gen_python_functions.py`, `sort_overloads`).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from torchgen_lite.dialects.torch_python import (
    PythonSignature,
    signature,
    signature_text,
    with_out,
)
from torchgen_lite.loader.entry import NativeFunction
from torchgen_lite.schema.model import bare_type


@dataclass(frozen=True, slots=True)
class Overload:
    """One overload: what is parsed, the function it calls, and the one it calls if `out` is given."""

    signature: PythonSignature
    base: NativeFunction
    out: NativeFunction | None = None


def overloads(functions: Iterable[NativeFunction], *, method: bool = False) -> tuple[Overload, ...]:
    """The overloads of functions that share a name, merged and in the order in which they are tried.

    An out variant without a partner stands by itself, and so does each further function with the same
    signature.
    """
    bases: dict[str, Overload] = {}
    extra: list[Overload] = []
    outs: list[tuple[str, Overload]] = []
    for function in functions:
        found = Overload(signature(function, method=method), function)
        key = signature_text(found.signature.without_out())
        if function.func.out:
            outs.append((key, found))
        elif bases.setdefault(key, found) is not found:
            extra.append(found)
    for key, found in outs:
        base = bases.get(key)
        if base is None or base.out is not None:
            extra.append(found)
        else:
            merged = with_out(base.signature, found.signature)
            bases[key] = Overload(merged, base.base, found.base)
    return _sorted([*bases.values(), *extra])


def _sorted(found: Sequence[Overload]) -> tuple[Overload, ...]:
    """By text, and then so that whatever would hide another comes after it."""
    ordered = sorted(found, key=lambda overload: signature_text(overload.signature))
    waiting: dict[int, set[int]] = {}
    for index, one in enumerate(ordered):
        before = {i for i, other in enumerate(ordered) if _hides(one.signature, other.signature)}
        if before:
            waiting[index] = before
    result = [index for index in range(len(ordered)) if index not in waiting]
    for done in result:  # Grows while it is walked.
        for index in sorted(waiting):
            waiting[index].discard(done)
            if not waiting[index]:
                del waiting[index]
                result.append(index)
    # What hides each other has no order; it stays where it was.
    return tuple([ordered[index] for index in [*result, *waiting]])


def _hides(one: PythonSignature, other: PythonSignature) -> bool:
    """Whether every argument of `one` takes what `other`'s takes, and some take more."""
    types = _types(one)
    others = _types(other)
    if len(types) != len(others) or types == others:
        return False
    return all(a == b or _takes_more(a, b) for a, b in zip(types, others))


def _types(found: PythonSignature) -> list[str]:
    return [bare_type(p.type) for p in found.without_out().parameters]


def _takes_more(one: str, other: str) -> bool:
    """Whether a parameter of type `one` also takes what is meant for `other`."""
    if other == "Tensor":
        return one in ("Scalar", "SymInt", "int")
    if one == "Tensor[]":
        return "[]" in other
    return (one, other) in _CONVERSIONS


_CONVERSIONS = frozenset(
    {("Scalar?", "Tensor?"), ("int[]", "int"), ("int[]", "int?"), ("SymInt[]", "int[]")}
)
