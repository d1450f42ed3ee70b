"""Shapes and strides as plain tuples: pure functions, no tensors, no NumPy.

numel(shape); contiguous_strides(shape), remembered_strides(tuple); is_contiguous(shape, strides)
is_dense(shape, strides)                 non-overlapping and dense, in any order of dimensions
broadcast_shapes(a, b) -> shape          RuntimeError as torch's
expand_strides(shape, strides, to)       strides of a broadcast view
wrap_dim(dim, ndim) -> int               IndexError as torch's; ndim 0 counts as 1
wrap_dims(dims, ndim) -> tuple           None or empty is all dimensions; no repetition
iterator_strides(shape, operands)        strides that TensorIterator gives to a fresh output
span(shape, strides)                     number of elements from the first to the last, inclusive
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Final

Shape = tuple[int, ...]
Strides = tuple[int, ...]

_REPEATED: Final = "dim {} appears multiple times in the list of dims"


def numel(shape: Sequence[int]) -> int:
    count = 1
    for size in shape:
        count *= size
    return count


def contiguous_strides(shape: Sequence[int]) -> Strides:
    """Row-major strides; a size of 0 counts as 1, as in c10."""
    return remembered_strides(tuple(shape))


@lru_cache(4096)
def remembered_strides(shape: Shape) -> Strides:
    """The same for a tuple, memoized: every operator needs the strides of its result, mostly for the same few
    shapes."""
    strides: list[int] = []
    step = 1
    for size in reversed(shape):
        strides.append(step)
        step *= size or 1
    return tuple(reversed(strides))


def is_contiguous(shape: Shape, strides: Strides) -> bool:
    """Row-major without gaps. Dimensions of size 1 don't matter, an empty tensor always is."""
    step = 1
    for size, stride in zip(reversed(shape), reversed(strides)):
        if size != 1:
            if size == 0:
                return True
            if stride != step:
                return 0 in shape
            step *= size
    return True


def is_dense(shape: Shape, strides: Strides) -> bool:
    """Whether the elements fill an interval of memory, each once, in some order of dimensions."""
    if 0 in shape:
        return True
    expected = 1
    for stride, size in sorted((t, s) for s, t in zip(shape, strides) if s != 1):
        if stride != expected:
            return False
        expected *= size
    return True


def span(shape: Shape, strides: Strides) -> int:
    if 0 in shape:
        return 0
    return 1 + sum([(size - 1) * stride for size, stride in zip(shape, strides)])


def broadcast_shapes(a: Shape, b: Shape) -> Shape:
    if a == b:
        return a
    longer, shorter = (a, b) if len(a) >= len(b) else (b, a)
    gap = len(longer) - len(shorter)
    result = list(longer)
    for position in range(len(longer) - 1, gap - 1, -1):
        size, other = longer[position], shorter[position - gap]
        if size != other:
            if size == 1:
                result[position] = other
            elif other != 1:
                mine, theirs = (size, other) if longer is a else (other, size)
                raise RuntimeError(
                    f"The size of tensor a ({mine}) must match the size of tensor b ({theirs})"
                    f" at non-singleton dimension {position}"
                )
    return tuple(result)


def expand_strides(shape: Shape, strides: Strides, to: Shape) -> Strides:
    """Strides of the view that repeats dimensions of size 1 and new leading ones (no check)."""
    gap = len(to) - len(shape)
    return (0,) * gap + tuple(
        0 if size == 1 and wanted != 1 else stride
        for size, stride, wanted in zip(shape, strides, to[gap:])
    )


def wrap_dim(dim: int, ndim: int) -> int:
    """A dimension counted from the front. A zero-dimensional tensor takes 0 and -1."""
    count = ndim or 1
    if 0 <= dim < count:
        return dim
    if -count <= dim < 0:
        return dim + count
    raise IndexError(
        "Dimension out of range"
        f" (expected to be in range of [{-count}, {count - 1}], but got {dim})"
    )


def wrap_dims(dims: Sequence[int] | None, ndim: int) -> tuple[int, ...]:
    """The dimensions to reduce, sorted; None and the empty list mean every one."""
    if not dims:
        return tuple(range(ndim))
    if len(dims) == 1:
        only = wrap_dim(dims[0], ndim)
        return (only,) if ndim else ()
    seen: set[int] = set()
    for dim in dims:
        wrapped = wrap_dim(dim, ndim)
        if wrapped in seen:
            raise RuntimeError(_REPEATED.format(wrapped))
        seen.add(wrapped)
    return tuple(sorted(seen)) if ndim else ()


def iterator_strides(shape: Shape, operands: Sequence[tuple[Shape, Strides]]) -> Strides | None:
    """Strides of a fresh output of a point-wise operator; None means row-major.

    ATen `TensorIteratorBase`: operands of one shape that share dense strides hand them on;
    otherwise the dimensions are sorted by the strides of the operands, the first one deciding.
    """
    fast = _common_strides(shape, operands)
    if fast is not None:
        return None if fast == contiguous_strides(shape) else fast
    order = _sorted_dimensions(shape, [expand_strides(s, t, shape) for s, t in operands])
    if order == list(range(len(shape) - 1, -1, -1)):
        return None
    strides = [0] * len(shape)
    step = 1
    for dim in order:
        strides[dim] = step
        step *= shape[dim]
    return tuple(strides)


def _common_strides(shape: Shape, operands: Sequence[tuple[Shape, Strides]]) -> Strides | None:
    if any(other != shape for other, _ in operands):
        return None
    if all(is_contiguous(other, strides) for other, strides in operands):
        return contiguous_strides(shape)
    first = operands[0][1]
    if any(strides != first for _, strides in operands) or not is_dense(shape, first):
        return None
    return first


def _sorted_dimensions(shape: Shape, operands: Sequence[Strides]) -> list[int]:
    """Dimensions from the fastest moving to the slowest (ATen `reorder_dimensions`).

    This is deliberately ATen's insertion sort: the comparison is not a total order (it may be undecided), so another
    algorithm could give another result.
    """
    order = list(range(len(shape) - 1, -1, -1))
    for start in range(1, len(order)):
        upper = start
        for lower in range(start - 1, -1, -1):
            verdict = _compare(order[lower], order[upper], shape, operands)
            if verdict > 0:
                order[lower], order[upper] = order[upper], order[lower]
                upper = lower
            elif verdict < 0:
                break
    return order


def _compare(low: int, high: int, shape: Shape, operands: Sequence[Strides]) -> int:
    for strides in operands:
        first, second = strides[low], strides[high]
        if first == 0 or second == 0:
            continue
        if first != second:
            return 1 if first > second else -1
        if shape[low] > shape[high]:
            return 1
    return 0
