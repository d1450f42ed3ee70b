"""Memory formats as strides: pure functions of shapes and strides.

format_strides(shape, strides, wanted, default)   of a fresh tensor made after another; None is row-major
fresh_strides(shape, wanted)                      of a fresh tensor made after none
is_in_format(shape, strides, wanted)              whether a tensor has a memory format without gaps
keeps_format(shape, strides, wanted)              whether `to` that format changes nothing
suggested_format(shape, strides)                  the one that a tensor looks like (c10 `suggest_memory_format`)
"""

from __future__ import annotations

from torchgen_lite_reference.device import (
    channels_last,
    channels_last_3d,
    contiguous_format,
    memory_format,
    preserve_format,
)
from torchgen_lite_reference.geometry import (
    Shape,
    Strides,
    contiguous_strides,
    is_contiguous,
    is_dense,
    iterator_strides,
)

_DIMENSIONS = {channels_last: 4, channels_last_3d: 5}
_BY_DIMENSIONS = {count: wanted for wanted, count in _DIMENSIONS.items()}


def _inner_to_outer(ndim: int) -> list[int]:
    """The dimensions from the one that moves fastest: the channels, then backwards from the last one."""
    return [1, *range(ndim - 1, 1, -1), 0]


def format_strides(
    shape: Shape, strides: Strides, wanted: memory_format | None, default: memory_format
) -> Strides | None:
    """preserve_format keeps dense strides and the order of dimensions of others (ATen `empty_like`)."""
    wanted = wanted or default
    if wanted is not preserve_format:
        return fresh_strides(shape, wanted)
    if is_dense(shape, strides):
        return None if strides == contiguous_strides(shape) else strides
    return iterator_strides(shape, ((shape, strides),))


def fresh_strides(shape: Shape, wanted: memory_format | None) -> Strides | None:
    if wanted is None or wanted is contiguous_format:
        return None
    if wanted is preserve_format:
        raise RuntimeError("preserve_format has no meaning without a tensor to take it from")
    ndim = _DIMENSIONS[wanted]
    if len(shape) != ndim:
        raise RuntimeError(f"required rank {ndim} tensor to use {wanted.name} format")
    strides = [0] * ndim
    step = 1
    for dim in _inner_to_outer(ndim):
        strides[dim] = step
        step *= shape[dim] or 1
    return tuple(strides)


def is_in_format(shape: Shape, strides: Strides, wanted: memory_format) -> bool:
    if wanted not in _DIMENSIONS:
        return is_contiguous(shape, strides)
    if len(shape) != _DIMENSIONS[wanted]:
        return False
    step = 1
    for dim in _inner_to_outer(len(shape)):
        if shape[dim] != 1:
            if strides[dim] != step:
                return False
            step *= shape[dim]
    return True


def keeps_format(shape: Shape, strides: Strides, wanted: memory_format | None) -> bool:
    """Whether `to` leaves the order of memory as it is."""
    return wanted is None or wanted is preserve_format or suggested_format(shape, strides) is wanted


def suggested_format(shape: Shape, strides: Strides) -> memory_format:
    """Channels last if the strides have that order, gaps or none; where either would do, row-major."""
    ndim = len(shape)
    if ndim not in _BY_DIMENSIONS or strides[1] == 0:
        return contiguous_format
    least = 0
    for dim in _inner_to_outer(ndim):
        if shape[dim] == 0 or strides[dim] < least or (dim == 0 and least == strides[1]):
            return contiguous_format
        least = strides[dim] * shape[dim]
    return _BY_DIMENSIONS[ndim]
