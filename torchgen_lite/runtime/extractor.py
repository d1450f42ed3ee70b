"""From the arguments of a call to its keyset (c10 `DispatchKeyExtractor`).

c10 keeps the positions of dispatching arguments and the keys that do not fall through in one object an operator. Here
the first are the signature's, and the second are the plan's, which operators share.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Optional

from .arguments import EMPTY, HOLE, find_keyset
from .keyset import BACKEND_MASK, FULL_MASK, DispatchKeySet
from .local_state import LocalState
from .report import wrong_argument
from .signature import Signature
from .table import Plan

KeysetPath = tuple[Optional[DispatchKeySet], ...]
"""The keysets of a call's dispatching arguments, in schema order: the keys of its memo."""

_EXPECTED = {
    "T": "a tensor",
    "O": "a tensor or None",
    "L": "a sequence of tensors",
    "P": "a sequence of tensors or None",
}


def keysets_of(signature: Signature, positions: Iterable[int], values: Iterable[Any]) -> KeysetPath:
    """The keysets of the arguments at some positions. Raises a TypeError that names the one that is wrong."""
    path: list[DispatchKeySet | None] = []
    for position, value in zip(positions, values):
        kind = signature.kinds[position]
        try:
            path.append(_keyset_of_kind(value, kind))
        except _NoTensor:
            raise wrong_argument(signature, position, _EXPECTED[kind], value) from None
    return tuple(path)


def boxed_keysets_of(signature: Signature, arguments: Sequence[Any]) -> KeysetPath:
    """Those of a boxed call. Generators carry no keys in it, as in c10."""
    tensors = [i for i in signature.dispatching if signature.kinds[i] != "G"]
    return keysets_of(signature, tensors, [arguments[i] for i in tensors])


def keyset_of_call(path: KeysetPath, state: LocalState, plan: Plan) -> DispatchKeySet:
    """Arguments joined with the local state, without what falls through.

    c10 `computeDispatchKeySet`: ((arguments | included) - excluded) & mask, where subtraction spares
    the backend bits.
    """
    representation = 0
    for keyset in path:
        if keyset is not None:
            representation |= keyset._repr
    representation = representation & FULL_MASK | state.included._repr
    representation &= ~(state.excluded._repr & ~BACKEND_MASK)
    mask = plan.mask
    if plan.backend_masks is not None:
        mask = plan.backend_masks[max((representation & BACKEND_MASK).bit_length() - 1, 0)]
    return DispatchKeySet.from_raw_repr(representation & mask)


def _keyset_of_kind(value: Any, kind: str) -> DispatchKeySet | None:
    """The keyset that an argument of a kind contributes; None where the memo's key is None.

    Raises _NoTensor if the value is not of the kind.
    """
    if kind in "TOG":
        if value is None and kind != "T":
            return None
        keyset = find_keyset(value)
        if keyset is None and kind == "G":
            return EMPTY
        if keyset is not None:
            return keyset
    elif isinstance(value, Sequence) and not isinstance(value, str):
        union = EMPTY
        for element in value:
            keyset = HOLE if element is None and kind == "P" else find_keyset(element)
            if keyset is None:
                break
            union = union | keyset
        else:
            return union
    raise _NoTensor


class _NoTensor(TypeError):
    """`keysets_of` says of which argument."""
