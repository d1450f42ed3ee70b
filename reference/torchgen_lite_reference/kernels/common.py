"""Helpers that kernels of several families share.

Meta side (shape and dtype only)
    unary_spec(x, dtype); pointwise_spec(dtype, *tensors)      broadcast, TensorIterator's strides
    common_device(*tensors)                                    zero-dimensional CPU ones go anywhere
Compute side
    operand(x, numpy_dtype)       the array, converted if it must be
    operands(x, y)                the arrays of both in their common type
    run(ufunc, out, left, right)  write ufunc(left, right) into out, converted to its dtype
    store(out, array)             the same for a result that exists already
    finish(out, spec, compute)    body of an out variant written by hand: resize, compute unless Meta
    unsupported(name, dtype)      the error for a dtype without a kernel

"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any, Protocol

import numpy as np

from torchgen_lite_reference.device import cpu, device, meta
from torchgen_lite_reference.dtype import dtype
from torchgen_lite_reference.geometry import (
    Shape,
    Strides,
    broadcast_shapes,
    contiguous_strides,
    is_contiguous,
    iterator_strides,
)
from torchgen_lite_reference.promotion import common_type
from torchgen_lite_reference.silence import Compute, converted, idle, quiet_context, silently
from torchgen_lite_reference.storage import Array
from torchgen_lite_reference.structured import ExactSpec, TensorSpec, resize_out
from torchgen_lite_reference.tensor import Number, Tensor, wrap_number


class UnaryMeta(Protocol):
    def __call__(self, input: Tensor, /) -> TensorSpec: ...


class UnaryImpl(Protocol):
    def __call__(self, input: Tensor, /, *, out: Tensor) -> None: ...


class BinaryMeta(Protocol):
    def __call__(self, input: Tensor, other: Tensor, /) -> TensorSpec: ...


class BinaryImpl(Protocol):
    def __call__(self, input: Tensor, other: Tensor, /, *, out: Tensor) -> None: ...


def unary_spec(
    self: Tensor, result: dtype, kind: Callable[..., TensorSpec] = TensorSpec
) -> TensorSpec:
    """The shape of one operand. A dense order of dimensions is kept."""
    return _unary_spec(result, self._shape, self._strides, self._device, kind)


@lru_cache(4096)
def _unary_spec(
    result: dtype, shape: Shape, strides: Strides, on: device, kind: Callable[..., TensorSpec]
) -> TensorSpec:
    if is_contiguous(shape, strides):
        return kind(shape, result, None, on)
    return kind(shape, result, iterator_strides(shape, ((shape, strides),)), on)


def exact(spec: TensorSpec) -> ExactSpec:
    """The same result, for an `out` of the same dtype."""
    return ExactSpec(spec.shape, spec.dtype, spec.strides, spec.device)


def pointwise_spec(result: dtype, *operands: Tensor) -> TensorSpec:
    """The broadcast shape of the operands and the strides that TensorIterator would choose."""
    first = operands[0]
    on = first._device
    for other in operands[1:]:
        if other._device is not on:
            on = common_device(*operands)
    return _pointwise_spec(result, on, *[(x._shape, x._strides) for x in operands])


def binary_spec(result: dtype, self: Tensor, other: Tensor) -> TensorSpec:
    """`pointwise_spec` of two operands."""
    on = self._device
    if other._device is not on:
        on = common_device(self, other)
    return _pointwise_spec(result, on, (self._shape, self._strides), (other._shape, other._strides))


# Programs combine the same few geometries again and again.
@lru_cache(4096)
def _pointwise_spec(result: dtype, on: device, *operands: tuple[Shape, Strides]) -> TensorSpec:
    shape, strides = operands[0]
    plain = strides == contiguous_strides(shape)
    for other_shape, other_strides in operands[1:]:
        if not other_shape and 0 not in shape:
            # It adds no dimension, and does not affect their order.
            continue
        if other_shape != shape:
            shape = broadcast_shapes(shape, other_shape)
            plain = False
        elif other_strides != strides:
            plain = False
    if plain:
        return TensorSpec(shape, result, None, on)
    return TensorSpec(shape, result, iterator_strides(shape, operands), on)


def common_device(*operands: Tensor) -> device:
    """The device of all; zero-dimensional CPU tensors may join any device."""
    on: device | None = None
    for operand in operands:
        if operand._device is cpu and not operand._shape:
            continue
        if on is not None and operand._device is not on:
            raise RuntimeError(
                "Expected all tensors to be on the same device, but found at least two devices,"
                f" {on} and {operand._device}!"
            )
        on = operand._device
    return on or cpu


def operand(self: Tensor, wanted: np.dtype[Any]) -> Array:
    if self._dtype.numpy is wanted:
        return self._array
    array = self._array
    return array if array.dtype == wanted else converted(array, wanted)


def operands(self: Tensor, other: Tensor) -> tuple[Array, Array]:
    """Both arrays in their common type."""
    if self._dtype is other._dtype and not self._wrapped:
        return self._array, other._array
    common = common_type(self, other).numpy
    return operand(self, common), operand(other, common)


def run(ufunc: Compute, out: Tensor, left: Array, right: Array | None = None) -> None:
    """Write a ufunc's result into `out`. The check of the cast was the structured kernel's."""
    # `silently`, written out: most calls of NumPy are these.
    try:
        context = idle.pop()
    except IndexError:
        context = quiet_context()
    try:
        if right is None:
            context.run(ufunc, left, out=out._array, casting="unsafe")
        else:
            context.run(ufunc, left, right, out=out._array, casting="unsafe")
    finally:
        idle.append(context)


def store(out: Tensor, result: Any) -> None:
    target = out._array
    if target.dtype.kind == "b" and np.asarray(result).dtype.kind != "b":
        result = np.asarray(result) != 0
    silently(np.copyto, target, result, casting="unsafe")


def finish(out: Tensor, spec: TensorSpec, compute: Callable[[], None]) -> Tensor:
    """Give `out` the shape of the spec and run the computation, unless on Meta."""
    resize_out(out, spec)
    if out._device is not meta:
        compute()
    return out


def unsupported(name: str, given: dtype) -> NotImplementedError:
    return NotImplementedError(f"\"{name}\" not implemented for '{given.scalar_type}'")


def as_tensor(value: Tensor | Number) -> Tensor:
    """A tensor as it is, or a number as a tensor."""
    return value if isinstance(value, Tensor) else wrap_number(value)
