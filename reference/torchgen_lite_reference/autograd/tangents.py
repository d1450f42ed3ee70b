"""The tangents of tensors: which tensors have one, and calls that would lose one.

dual_levels                          the level that is open, if one is
tangent_of(tensor)                   its tangent, or None
tangents_of(tensors, written)        the tangents in a call, or None
refuse_tangents(message, tensors)    an error if one of these has a tangent
keep(tensor, tangent)                the tangent of a tensor from now on
suspended()                          calls in here carry no tangents
"""

from __future__ import annotations

import contextvars
import weakref
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import chain
from typing import TYPE_CHECKING, Any, NamedTuple

from torchgen_lite_reference.autograd.mode import grad_enabled
from torchgen_lite_reference.autograd.node import Meta, meta_of
from torchgen_lite_reference.autograd.views import View, check_inplace
from torchgen_lite_reference.window import Window

if TYPE_CHECKING:
    from torchgen_lite_reference.tensor import Tensor

UNDERIVED = "Trying to use forward AD with {} that does not support it because {}"


class Level:
    """What has a tangent while it is open."""

    def __init__(self) -> None:
        self.metas: weakref.WeakSet[Meta] = weakref.WeakSet()

    def close(self) -> None:
        for meta in self.metas:
            meta.tangent = None


dual_levels: list[Level] = []
"""Empty while no level is open, which is all that a call without tangents asks."""

_is_suspended: contextvars.ContextVar[bool] = contextvars.ContextVar(
    "torchgen_lite.tangents_suspended", default=False
)


@contextmanager
def suspended() -> Iterator[None]:
    """Calls carry no tangents: those that compute tangents, of tensors that have some."""
    token = _is_suspended.set(True)
    try:
        yield
    finally:
        _is_suspended.reset(token)


def keep(tensor: Tensor, tangent: Tensor) -> None:
    """Give a tensor a tangent, until the level is closed."""
    meta = meta_of(tensor)
    meta.tangent = tangent
    dual_levels[-1].metas.add(meta)


def tangent_of(tensor: Any) -> Tensor | None:
    """The tangent; of a view the part of its base's, if only that has one."""
    meta = None if tensor is None else tensor._meta
    if tensor is None or meta is None or not dual_levels:
        return None
    if meta.tangent is None and meta.view is not None and not meta.apart:
        base, _ = base_of(meta.view)
        tangent = tangent_of(base)
        if tangent is not None:
            keep(tensor, part_of(tangent, meta.view))
    found: Tensor | None = meta.tangent
    return found


def base_of(view: View) -> tuple[Tensor, int]:
    """The tensor whose tangent has that of a view as a part, and the number of steps that lead to it."""
    return view.apart or (view.base, 0)


def part_of(tangent: Tensor, view: View) -> Tensor:
    """The tangent of a view, which is a view of its base's."""
    with suspended():
        for step in view.chain[base_of(view)[1] :]:
            tangent = step(tangent)
    return tangent


class Tangents(NamedTuple):
    """The tangents in a call.

    `tensors` are the arguments that may have a gradient, and `given` has a tangent or None for each, or a list of these.
    A gradient formula is needed for those that have a tangent or, if the call `is_recorded`, need a gradient.
    `written` is what an in-place call changes.
    """

    tensors: Sequence[Any]
    given: Sequence[Any]
    needs: tuple[bool, ...]
    is_recorded: bool
    written: Tensor | None


def tangents_of(tensors: Sequence[Any], written: Tensor | None = None) -> Tangents | None:
    """The tangents in a call with these arguments; None if there are none."""
    if _is_suspended.get():
        return None
    given = [[*map(tangent_of, t)] if is_list(t) else tangent_of(t) for t in tensors]
    has = [*map(_has_any, given)]
    if True not in has and tangent_of(written) is None:
        return None
    needs = [*map(_requires_grad, tensors)]
    is_recorded = grad_enabled() and True in needs
    if is_recorded and written is not None:
        check_inplace(written)
    both = tuple([one or (is_recorded and other) for one, other in zip(has, needs)])
    return Tangents(tensors, given, both, is_recorded, written)


def _has_any(tangent: Any) -> bool:
    """Whether there is a tangent, or some in a list of these."""
    return any(one is not None for one in flat([tangent]))


def _requires_grad(argument: Any) -> bool:
    """Whether a tensor, or one of a list, requires a gradient."""
    return any(tensor is not None and tensor._requires_grad for tensor in flat([argument]))


def refuse_tangents(message: str, arguments: Iterable[Any]) -> None:
    """Raise an error for a call in which one of the arguments has a tangent, which would be lost."""
    tensors = [one for one in flat(arguments) if isinstance(one, Window)]
    if not _is_suspended.get() and any(tangent_of(tensor) is not None for tensor in tensors):
        raise NotImplementedError(message)


def is_list(value: object) -> bool:
    return isinstance(value, (list, tuple))


def flat(values: Iterable[Any]) -> list[Any]:
    """Tensors, and those of lists among them."""
    return [*chain.from_iterable(value if is_list(value) else (value,) for value in values)]
