"""Reading the keyset of an argument."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol, Union

from .keyset import DispatchKeySet


class Dispatchable(Protocol):
    """Anything with a `_dispatch_keyset` takes part in dispatch as a tensor."""

    @property
    def _dispatch_keyset(self) -> DispatchKeySet: ...


_KeysetSource = Union[DispatchKeySet, Callable[[Any], DispatchKeySet]]
_foreign: dict[type, _KeysetSource] = {}


def register_tensor_type(type_: type, keyset: _KeysetSource) -> None:
    """Treat objects of a foreign type as tensors: `register_tensor_type(numpy.ndarray, DispatchKeySet(CPU))`.

    `keyset` is the set of every object of the type (subclasses too), or a function from the object to
    it. Objects that have a `_dispatch_keyset` need no registration, and calls with them are faster.
    Raises TypeError for any other `keyset`.
    """
    if not isinstance(keyset, DispatchKeySet) and not callable(keyset):
        raise TypeError(
            f"the keyset of {type_.__name__} must be a DispatchKeySet, or a function that returns one, "
            f"not {keyset!r}"
        )
    _foreign[type_] = keyset


def unregister_tensor_type(type_: type) -> None:
    """Undo `register_tensor_type`."""
    _foreign.pop(type_, None)


def find_keyset(value: object) -> DispatchKeySet | None:
    """The keyset of a tensor, None for an object that is not one."""
    keyset = getattr(value, "_dispatch_keyset", None)
    if isinstance(keyset, DispatchKeySet):
        return keyset
    if _foreign:
        for base in type(value).__mro__:
            source = _foreign.get(base)
            if source is not None:
                found = source if isinstance(source, DispatchKeySet) else source(value)
                if not isinstance(found, DispatchKeySet):
                    raise TypeError(
                        f"the function registered for {base.__name__} must return a DispatchKeySet, not {found!r}"
                    )
                return found
    return None


EMPTY = DispatchKeySet()

HOLE = DispatchKeySet.from_raw_repr(1 << 63)
"""Marks the memo key of a list that holds None. No functionality has this bit, and no call keeps it.

`Tensor[]` refuses what `Tensor?[]` takes; with the mark a list with None never finds what a list without
one has stored.
"""


def optional_keyset(value: Any) -> DispatchKeySet | None:
    """The memo key of a `Tensor?` or `Generator?` argument: None where the argument is None."""
    if value is None:
        return None
    keyset: DispatchKeySet = value._dispatch_keyset
    return keyset


def list_keyset(values: Sequence[Any]) -> DispatchKeySet:
    """The memo key of a `Tensor[]` or `Tensor?[]` argument: the union of its elements' keysets.

    Anything but a list or tuple raises AttributeError, which sends the stub to `resolve`: iterating a generator here
    would exhaust it before the kernel runs.
    """
    if not isinstance(values, (list, tuple)):
        raise AttributeError("not a list")
    union = EMPTY
    for value in values:
        keyset = HOLE if value is None else value._dispatch_keyset
        if keyset is not union:
            union = union | keyset
    return union
