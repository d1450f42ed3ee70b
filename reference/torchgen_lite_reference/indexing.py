"""A mixin: `x[...]` and `x[...] = value`, composed of dispatched operators.

Integers, slices, None and Ellipsis give a view through `select.int`, `slice.Tensor` and
`unsqueeze`; tensors, lists, arrays and booleans then go to `index.Tensor` or `index_put_` together.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from torchgen_lite_ops import operators
from torchgen_lite_reference.data import array_of
from torchgen_lite_reference.dtype import INTEGER, bool_, int64
from torchgen_lite_reference.window import Window

if TYPE_CHECKING:
    from torchgen_lite_reference.tensor import Number, Tensor


class Indexing:
    """What can be in square brackets."""

    __slots__ = ()

    def __getitem__(self: Any, index: Any) -> Tensor:
        """A view for basic indices, a copy where an index is a tensor, a list or a boolean."""
        if type(index) is int and self._shape:
            return operators.select_int(self, 0, index)
        advanced: Sequence[Tensor | None] = ()
        if type(index) is slice and self._shape:
            view = _slice(self, 0, index)
        else:
            view, advanced = _apply_basic(self, index)
        if not advanced:
            # Every index makes a new tensor object, `x[...]` too.
            return operators.alias(view) if view is self else view
        return operators.index_Tensor(view, advanced)

    def __setitem__(self: Any, index: Any, value: Tensor | Number) -> None:
        """Write a number or a tensor, which is broadcast, into the elements that the index names."""
        view, advanced = _apply_basic(self, index)
        if not isinstance(value, Window):
            # `fill_` refuses a number that does not fit.
            value = (
                operators.full([], value, dtype=self._dtype, device=self._device)
                if isinstance(value, (int, float, complex))
                else self._beside(array_of(value, self._dtype))
            )
        if advanced:
            masks = all(item is None or item._dtype is bool_ for item in advanced)
            if masks and value.numel() == 1:
                # ATen fills through a mask, and a fill converts; only other writes want one dtype.
                value = value.to(self._dtype)
            operators.index_put_(view, advanced, value)
            return
        # As NumPy does, leading dimensions of size 1 that the target lacks are dropped.
        while value.ndim > view.ndim and value._shape[0] == 1:
            value = operators.select_int(value, 0, 0)
        operators.copy_(view, value)


def _apply_basic(self: Tensor, index: Any) -> tuple[Tensor, list[Tensor | None]]:
    """The view that the basic part of an index names, and the tensors for its dimensions.

    A None in that list stands for one dimension without index; a mask uses up as many as it has.
    """
    view = self
    dim = 0
    advanced: list[Tensor | None] = []
    covered = 0
    for item in _spread(self, index if isinstance(index, tuple) else (index,)):
        if item is None:
            view = operators.unsqueeze(view, dim)
        elif isinstance(item, slice):
            view = _slice(view, dim, item)
        else:
            chosen = _index_tensor(item, self)
            if chosen is None:
                view = operators.select_int(view, dim, _integer(item))
                continue
            if not chosen._shape:
                # A single truth value selects all or nothing of a new dimension.
                view, chosen = operators.unsqueeze(view, dim), operators.unsqueeze(chosen, 0)
            advanced.extend([None] * (dim - covered))
            advanced.append(chosen)
            dim += chosen.ndim if chosen._dtype is bool_ else 1
            covered = dim
            continue
        dim += 1
    return view, advanced


def _index_tensor(item: Any, like: Tensor) -> Tensor | None:
    """The index as a tensor; None for one integer, which selects."""
    if isinstance(item, (bool, np.bool_, np.ndarray)):
        item = like._beside(array_of(item))
    elif isinstance(item, Sequence) and not isinstance(item, str):
        array = array_of(item)
        return like._beside(array if array.size else array_of(item, int64))
    if isinstance(item, Window) and (item._shape or item._dtype.category != INTEGER):
        index: Tensor = item  # type: ignore[assignment]
        return index
    return None


def _slice(view: Tensor, dim: int, item: slice) -> Tensor:
    if item.start is None and item.stop is None and item.step is None:
        return view
    step = 1 if item.step is None else _integer(item.step)
    if step <= 0:
        raise ValueError("step must be greater than zero")
    start = None if item.start is None else _integer(item.start)
    stop = None if item.stop is None else _integer(item.stop)
    return operators.slice_Tensor(view, dim, start, stop, step)


def _integer(item: Any) -> int:
    try:
        return int(item.__index__())
    except AttributeError:
        raise IndexError(
            "only integers, slices (`:`), ellipsis (`...`), None and long or byte Variables are"
            f" valid indices (got {type(item).__name__})"
        ) from None


def _consumes(item: Any) -> int:
    """How many dimensions an item of an index uses up."""
    if item is None or item is Ellipsis or isinstance(item, bool):
        return 0
    if isinstance(item, Window) and item._dtype is bool_:
        return item.ndim
    if isinstance(item, np.ndarray) and item.dtype == np.bool_:
        return item.ndim
    return 1


def _spread(self: Tensor, index: tuple[Any, ...]) -> list[Any]:
    """The index with its Ellipsis replaced by as many full slices as there are dimensions left."""
    used = sum(_consumes(item) for item in index)
    if used > self.ndim:
        if not self.ndim:
            raise IndexError(
                "invalid index of a 0-dim tensor. Use `tensor.item()` in Python to convert a 0-dim"
                " tensor to a number"
            )
        raise IndexError(f"too many indices for tensor of dimension {self.ndim}")
    spots = [place for place, item in enumerate(index) if item is Ellipsis]
    if not spots:
        return list(index)
    full = [slice(None)] * (self.ndim - used)
    # torch ignores a second one.
    rest = [item for item in index[spots[0] + 1 :] if item is not Ellipsis]
    return [*index[: spots[0]], *full, *rest]
