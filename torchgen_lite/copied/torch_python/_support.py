"""Functions of shapes and dtypes for YAML rules. Symbolic sizes stay symbolic."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from typing import Any, TypeVar, cast, overload

import torch
from torch import Tensor

T = TypeVar("T")
U = TypeVar("U")
# Parts of torch have no annotations.
_torch: Any = torch


@overload
def default(value: None, other: U) -> U: ...
@overload
def default(value: T, other: U) -> T | U: ...
def default(value: Any, other: Any) -> Any:
    return other if value is None else value


def floor_div(a: Any, b: Any) -> int:
    return cast("int", a // b)


def ceil_div(a: Any, b: Any) -> int:
    return cast("int", -(-a // b))


def sym_max(*values: Any) -> int:
    return cast("int", reduce(_torch.sym_max, values))


def sym_min(*values: Any) -> int:
    return cast("int", reduce(_torch.sym_min, values))


def length(values: Sequence[Any]) -> int:
    return len(values)


def times(count: int) -> range:
    return range(count)


def sizes(value: Any) -> list[int]:
    shape = value.shape if isinstance(value, Tensor) else value
    return list(shape)


def broadcast(*values: Any) -> list[int]:
    shapes = [tuple(sizes(value)) for value in values]
    return list(_torch.broadcast_shapes(*shapes))


def concat(*shapes: Sequence[Any]) -> list[int]:
    joined: list[int] = []
    for shape in shapes:
        joined += shape
    return joined


def with_size(value: Any, dim: Any, size: Any) -> list[int]:
    result = sizes(value)
    result[dim] = size
    return result


def reduced(value: Any, dim: Any, keepdim: bool = False) -> list[int]:
    """The shape after a reduction over one dimension or several; over all for None and `[]`.

    As in torch, a tensor without dimensions has one to reduce over.
    """
    shape = sizes(value)
    count = max(len(shape), 1)
    dims = [dim] if isinstance(dim, int) else list(dim or ())
    gone = _reduced_dims(dims, count) if dims else set(range(count))
    kept = []
    for index, size in enumerate(shape):
        if index not in gone or keepdim:
            kept.append(1 if index in gone else size)
    return kept


def _reduced_dims(dims: Sequence[int], count: int) -> set[int]:
    """The dimensions that are reduced over, none of which is counted from the last."""
    positions = set[int]()
    for dim in dims:
        if not -count <= dim < count:
            wanted = f"expected to be in range of [{-count}, {count - 1}], but got {dim}"
            raise IndexError(f"Dimension out of range ({wanted})")
        position = dim % count
        if position in positions:
            raise RuntimeError(f"dim {position} appears multiple times in the list of dims")
        positions.add(position)
    return positions


def sum_sizes(values: Sequence[Tensor], dim: Any) -> int:
    return sum(value.shape[dim] for value in values)


def real(value: Any) -> torch.dtype:
    dtype: torch.dtype = value.dtype if isinstance(value, Tensor) else value
    return dtype.to_real()


def promote(*values: Any) -> torch.dtype:
    """The dtype of a computation with these tensors, numbers and dtypes.

    Zero-dimensional tensors count only if their kind of number (bool, integer, real,
    complex) is higher than that of tensors with dimensions and of dtypes; numbers count
    last.
    """
    classes: list[torch.dtype | None] = [None, None, None]
    for value in values:
        rank, dtype = _class_of(value)
        before = classes[rank]
        classes[rank] = dtype if before is None else torch.promote_types(before, dtype)
    with_dimensions, without, numbers = classes
    result = _combined(with_dimensions, _combined(without, numbers))
    assert result is not None, "promote() of nothing"
    return result


def _class_of(value: Any) -> tuple[int, torch.dtype]:
    if isinstance(value, torch.dtype):
        return 0, value
    if isinstance(value, Tensor):
        rank = 0 if value.dim() else 1
        return rank, value.dtype
    if isinstance(value, (bool, torch.SymBool)):
        return 2, torch.bool
    if isinstance(value, (int, torch.SymInt)):
        return 2, torch.int64
    dtype = torch.get_default_dtype()
    if isinstance(value, complex):
        return 2, dtype.to_complex()
    return 2, dtype


def _combined(high: torch.dtype | None, low: torch.dtype | None) -> torch.dtype | None:
    """The dtype of one class and a lower one, which can only raise the kind."""
    if high is None:
        return low
    if low is None or high.is_complex:
        return high
    if high.is_floating_point:
        return high.to_complex() if low.is_complex else high
    if low.is_complex:
        return low
    if high is torch.bool or low.is_floating_point:
        return torch.promote_types(high, low)
    return high
