"""Formulas of views, of operators that move elements, and of indexing."""

from __future__ import annotations

from typing import TYPE_CHECKING

from torchgen_lite_ops import operators as ops
from torchgen_lite_reference.autograd import support
from torchgen_lite_reference.dtype import int64
from torchgen_lite_reference.geometry import broadcast_shapes, span

if TYPE_CHECKING:
    from collections.abc import Sequence

    from torchgen_lite_reference.tensor import Tensor

    Shape = Sequence[int]


def sum_to(grad: Tensor, shape: Shape) -> Tensor:
    return support.sum_to(grad, shape)


def zeros_of(grad: Tensor, shape: Shape) -> Tensor:
    return ops.zeros(shape, dtype=grad._dtype, device=grad._device)


def inverse_permutation(dims: Sequence[int]) -> list[int]:
    inverse = [0] * len(dims)
    for place, dim in enumerate(dims):
        inverse[dim % len(dims)] = place
    return inverse


def negated(shifts: Sequence[int]) -> list[int]:
    return [-shift for shift in shifts]


def select_backward(grad: Tensor, shape: Shape, dim: int, index: int) -> Tensor:
    """The gradient in its place among zeros."""
    dim %= len(shape)
    index %= shape[dim]
    pad = [0, 0] * (len(shape) - 1 - dim) + [index, shape[dim] - 1 - index]
    return ops.constant_pad_nd(grad.unsqueeze(dim), pad, 0)


def slice_backward(
    grad: Tensor, shape: Shape, dim: int, start: int | None, end: int | None, step: int
) -> Tensor:
    dim %= len(shape)
    first = slice(start, end, step).indices(shape[dim])[0]
    count = grad._shape[dim]
    if step == 1:
        pad = [0, 0] * (len(shape) - 1 - dim) + [first, shape[dim] - first - count]
        return ops.constant_pad_nd(grad, pad, 0)
    places = ops.arange_start_step(first, first + count * step, step, dtype=int64)
    return ops.index_add(zeros_of(grad, shape), dim, places, grad)


def _positions(shape: Shape, strides: Sequence[int], offset: int) -> Tensor:
    """The offset of every element of a window, flat."""
    total = ops.full((), offset, dtype=int64)
    for place, (size, stride) in enumerate(zip(shape, strides)):
        steps = ops.arange(size, dtype=int64) * stride
        total = total.unsqueeze(-1) + steps if place else total + steps
    return total.reshape(-1)


def as_strided_backward(
    grad: Tensor,
    self: Tensor,
    size: Shape,
    stride: Sequence[int],
    storage_offset: int | None,
) -> Tensor:
    """Through the storage: an element that was read several times gets the sum, one that was not read gets 0.

    Elements of `self` that share memory share the gradient of that place evenly, as in torch.
    """
    offset = self._offset if storage_offset is None else storage_offset
    start = min(self._offset, offset)
    reach = max(
        self._offset + span(self._shape, self._strides), offset + span(tuple(size), tuple(stride))
    )
    memory = zeros_of(grad, [reach - start])
    read = _positions(size, stride, offset - start)
    memory = ops.index_add(memory, 0, read, grad.reshape(-1))
    own = _positions(self._shape, self._strides, self._offset - start)
    found = ops.index_select(memory, 0, own)
    if any(s == 0 and n > 1 for s, n in zip(self._strides, self._shape)):
        count = ops.index_add(zeros_of(grad, [reach - start]), 0, own, ops.ones_like(found))
        found = found / ops.index_select(count, 0, own)
    return found.reshape(self._shape)


def _grid(shape: Shape) -> Tensor:
    """The row-major number of every element."""
    count = 1
    for size in shape:
        count *= size
    return ops.arange(count, dtype=int64).view(list(shape))


def _scatter(grad: Tensor, shape: Shape, numbers: Tensor) -> Tensor:
    """Zeros of a shape to which each element is added at its row-major number."""
    count = 1
    for size in shape:
        count *= size
    flat = ops.index_add(zeros_of(grad, [count]), 0, numbers.reshape(-1), grad.reshape(-1))
    return flat.view(list(shape))


def unfold_backward(grad: Tensor, shape: Shape, dimension: int, size: int, step: int) -> Tensor:
    if not shape:
        return grad.reshape(())
    return _scatter(grad, shape, _grid(shape).unfold(dimension, size, step))


def diagonal_backward(grad: Tensor, shape: Shape, offset: int, dim1: int, dim2: int) -> Tensor:
    return _scatter(grad, shape, ops.diagonal(_grid(shape), offset, dim1, dim2))


def take_backward(grad: Tensor, shape: Shape, index: Tensor) -> Tensor:
    count = 1
    for size in shape:
        count *= size
    return _scatter(grad, shape, ops.remainder_Scalar(index, max(count, 1)))


def cat_backward(grad: Tensor, shapes: Sequence[Shape], dim: int) -> list[Tensor]:
    """The parts of the gradient. Tensors of shape [0] can be concatenated with anything, and get none of it."""
    parts: list[Tensor] = []
    start = 0
    for shape in shapes:
        if shape == (0,):
            parts.append(zeros_of(grad, (0,)))
            continue
        parts.append(ops.slice_Tensor(grad, dim, start, start + shape[dim]))
        start += shape[dim]
    return parts


def repeat_backward(grad: Tensor, shape: Shape, repeats: Sequence[int]) -> Tensor:
    repeats = [repeats] if isinstance(repeats, int) else list(repeats)
    extra = len(repeats) - len(shape)
    if 0 in repeats:
        return zeros_of(grad, shape)
    sizes: list[int] = []
    for repeat, size in zip(repeats, [1] * extra + list(shape)):
        sizes += [repeat, size]
    summed = ops.sum_dim_IntList(grad.reshape(sizes), list(range(0, len(sizes), 2)))
    return summed.reshape(shape)


def constant_pad_nd_backward(grad: Tensor, pad: Sequence[int]) -> Tensor:
    return ops.constant_pad_nd(grad, [-p for p in pad], 0)


def gather_backward(grad: Tensor, shape: Shape, dim: int, index: Tensor) -> Tensor:
    return ops.scatter_add(zeros_of(grad, shape), dim, index, grad)


def scatter_source_backward(grad: Tensor, dim: int, index: Tensor, shape: Shape) -> Tensor:
    """What was scattered; the source may be larger than the index, and that part wasn't read."""
    found = ops.gather(grad, dim, index)
    if found._shape == tuple(shape):
        return found
    pad: list[int] = []
    for have, size in zip(reversed(found._shape), reversed(tuple(shape))):
        pad += [0, size - have]
    return ops.constant_pad_nd(found, pad, 0)


def index_select_backward(grad: Tensor, shape: Shape, dim: int, index: Tensor) -> Tensor:
    if not shape:
        return grad.reshape(())
    return ops.index_add(zeros_of(grad, shape), dim, index.reshape(-1), grad)


def index_source_backward(grad: Tensor, dim: int, index: Tensor, shape: Shape) -> Tensor:
    return ops.index_select(grad, dim, index).reshape(shape) if shape or grad.ndim else grad


def index_backward(grad: Tensor, shape: Shape, indices: Sequence[Tensor | None]) -> Tensor:
    return ops.index_put(zeros_of(grad, shape), indices, grad, True)


def index_put_self_backward(
    grad: Tensor, indices: Sequence[Tensor | None], accumulate: bool
) -> Tensor:
    """Overwritten elements have no gradient."""
    if accumulate:
        return grad
    return ops.index_put(grad, indices, ops.zeros((), dtype=grad._dtype, device=grad._device))


def masked_select_backward(grad: Tensor, shape: Shape, mask: Tensor) -> Tensor:
    whole = mask.expand(broadcast_shapes(tuple(shape), mask._shape))
    place = ops.reshape(whole, [-1]).nonzero().reshape(-1)
    count = 1
    for size in whole._shape:
        count *= size
    flat = ops.index_add(zeros_of(grad, [count]), 0, place, grad)
    return support.sum_to(flat.view(list(whole._shape)), shape)


def embedding_backward(
    grad: Tensor, shape: Shape, indices: Tensor, padding_idx: int, scale_grad_by_freq: bool
) -> Tensor:
    rows = indices.reshape(-1)
    flat = grad.reshape([rows._shape[0], *shape[1:]])
    if scale_grad_by_freq:
        ones = ops.ones([rows._shape[0]], dtype=grad._dtype)
        count = ops.index_add(zeros_of(grad, [shape[0]]), 0, rows, ones)
        flat = flat / ops.index_select(count, 0, rows).unsqueeze(-1)
    if padding_idx >= 0:
        flat = ops.masked_fill_Scalar(flat, (rows == padding_idx).unsqueeze(-1), 0)
    return ops.index_add(zeros_of(grad, shape), 0, rows, flat)


def value_backward(grad: Tensor, shape: Shape, dim: int, indices: Tensor) -> Tensor:
    """Values that were picked along a dimension (`sort`, `topk`)."""
    if not shape:
        return grad
    return ops.scatter_add(zeros_of(grad, shape), dim, indices, grad)


def reduced_value_backward(
    grad: Tensor, shape: Shape, dim: int, indices: Tensor, keepdim: bool
) -> Tensor:
    if not shape:
        return grad
    if not keepdim:
        grad, indices = grad.unsqueeze(dim), indices.unsqueeze(dim)
    return ops.scatter_add(zeros_of(grad, shape), dim, indices, grad)
