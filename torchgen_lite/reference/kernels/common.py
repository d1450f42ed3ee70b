"""What the kernels of several families share.

Meta side (shape and dtype only)
    unary_spec(x, dtype); pointwise_spec(dtype, *tensors)      broadcast, TensorIterator's strides
    common_device(*tensors)                                    zero-dimensional CPU ones go anywhere
Compute side
    operand(x, numpy_dtype)       the array, converted if it must be
    run(ufunc, out, *arrays)      write ufunc(*arrays) into out, converted to its dtype
    store(out, array)             the same for a result that exists already
    finish(out, spec, compute)    body of an out variant written by hand: resize, compute unless Meta
    unsupported(name, dtype)      the error for a dtype without a kernel

Note [No NumPy warnings] torch gives inf and nan without a word where NumPy warns. `run` and `quiet`
switch the warnings off for the time of a call; they are never switched off globally, for NumPy's
state belongs to the user.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

import numpy as np

from torchgen_lite.reference.device import cpu, device, meta
from torchgen_lite.reference.dtype import dtype
from torchgen_lite.reference.geometry import (
    broadcast_shapes,
    contiguous_strides,
    is_contiguous,
    iterator_strides,
)
from torchgen_lite.reference.storage import Array
from torchgen_lite.reference.structured import TensorSpec, resize_out
from torchgen_lite.reference.tensor import Number, Tensor, wrap_number

Compute = Callable[..., Any]


class UnaryMeta(Protocol):
    def __call__(self, input: Tensor, /) -> TensorSpec: ...


class UnaryImpl(Protocol):
    def __call__(self, input: Tensor, /, *, out: Tensor) -> None: ...


class BinaryMeta(Protocol):
    def __call__(self, input: Tensor, other: Tensor, /) -> TensorSpec: ...


class BinaryImpl(Protocol):
    def __call__(self, input: Tensor, other: Tensor, /, *, out: Tensor) -> None: ...


def quiet() -> np.errstate:
    """Silence NumPy's floating-point warnings inside a `with`."""
    return np.errstate(all="ignore")


def unary_spec(self: Tensor, result: dtype) -> TensorSpec:
    """The shape of one operand. A dense order of dimensions is kept."""
    shape, strides = self._shape, self._strides
    if is_contiguous(shape, strides):
        return TensorSpec(shape, result, None, self._device)
    return TensorSpec(shape, result, iterator_strides(shape, ((shape, strides),)), self._device)


def pointwise_spec(result: dtype, *operands: Tensor) -> TensorSpec:
    """The broadcast shape of the operands and the strides that TensorIterator would choose."""
    first = operands[0]
    shape = first._shape
    on = first._device
    plain = first._strides == contiguous_strides(shape)
    for other in operands[1:]:
        if other._device is not on:
            on = common_device(*operands)
        if not other._shape and 0 not in shape:
            # It has no dimension to add and none to say how they are ordered.
            continue
        if other._shape != shape:
            shape = broadcast_shapes(shape, other._shape)
            plain = False
        elif other._strides != first._strides:
            plain = False
    if plain:
        return TensorSpec(shape, result, None, on)
    pairs = [(operand._shape, operand._strides) for operand in operands]
    return TensorSpec(shape, result, iterator_strides(shape, pairs), on)


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
    array = self._array
    return array if array.dtype == wanted else _converted(array, wanted)


def _converted(array: Array, wanted: np.dtype[Any]) -> Array:
    if wanted.kind == "b":
        truth: Array = array != 0
        return truth
    with quiet():
        return array.astype(wanted)


def run(ufunc: Compute, out: Tensor, *arrays: Array) -> None:
    """Write a ufunc's result into `out`. The check of the cast was the structured kernel's."""
    with quiet():
        ufunc(*arrays, out=out._array, casting="unsafe")


def store(out: Tensor, result: Any) -> None:
    with quiet():
        np.copyto(out._array, result, casting="unsafe")


def finish(out: Tensor, spec: TensorSpec, compute: Callable[[], None]) -> Tensor:
    """Give `out` the shape of the spec and run the computation, unless on Meta."""
    resize_out(out, spec)
    if out._device is not meta:
        compute()
    return out


def unsupported(name: str, given: dtype) -> RuntimeError:
    return RuntimeError(f"\"{name}\" not implemented for '{given.scalar_type}'")


def as_tensor(value: Tensor | Number) -> Tensor:
    """A tensor as it is, a number wrapped."""
    return value if isinstance(value, Tensor) else wrap_number(value)
