"""Extrema: amax, amin, argmax, argmin, max, min, max.dim, min.dim.

nan counts as an extremum wherever it is, and the first of equal elements gives the index.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from torchgen_lite_ops import operators
from torchgen_lite_reference.dtype import BOOL, COMPLEX, int64
from torchgen_lite_reference.geometry import wrap_dims
from torchgen_lite_reference.kernels.common import finish, store, unsupported
from torchgen_lite_reference.kernels.reduction import reduction_spec, scalar_dim
from torchgen_lite_reference.silence import Compute
from torchgen_lite_reference.structured import ExactSpec, TensorSpec, allocate
from torchgen_lite_reference.tensor import Tensor

Dims = Sequence[int]


def _check_not_empty(name: str, self: Tensor, dims: Sequence[int], all_of_it: bool) -> None:
    """An empty tensor has no extremum."""
    if self.numel():
        return
    if all_of_it:
        raise RuntimeError(
            f"{name}(): Expected reduction dim to be specified for input.numel() == 0. Specify the"
            " reduction dim with the 'dim' argument."
        )
    for dim in dims:
        if self._shape[dim] == 0:
            raise IndexError(f"{name}(): Expected reduction dim {dim} to have non-zero size.")


def _check_ordered(name: str, self: Tensor) -> None:
    if self._dtype.category == COMPLEX:
        raise unsupported(name, self._dtype)


def _amax_spec(name: str, self: Tensor, dim: Dims, keepdim: bool) -> TensorSpec:
    dims = wrap_dims(dim, self.ndim)
    _check_not_empty(name, self, dims, not dim)
    return reduction_spec(self, dims, keepdim, self._dtype, ExactSpec)


def meta_amax(self: Tensor, dim: Dims = (), keepdim: bool = False) -> TensorSpec:
    return _amax_spec("amax", self, dim, keepdim)


def meta_amin(self: Tensor, dim: Dims = (), keepdim: bool = False) -> TensorSpec:
    return _amax_spec("amin", self, dim, keepdim)


def amax_out(self: Tensor, dim: Dims = (), keepdim: bool = False, *, out: Tensor) -> None:
    _reduce_into(np.max, self, dim, keepdim, out)


def amin_out(self: Tensor, dim: Dims = (), keepdim: bool = False, *, out: Tensor) -> None:
    _reduce_into(np.min, self, dim, keepdim, out)


def _reduce_into(
    function: Compute, self: Tensor, dim: Dims | None, keepdim: bool, out: Tensor
) -> None:
    if out.numel():
        _check_ordered(f"{function.__name__}_values_cpu", self)
        axes = wrap_dims(dim, self.ndim)
        store(out, function(self._array, axis=axes, keepdims=keepdim))


# Positions.


def _arg_spec(name: str, self: Tensor, dim: int | None, keepdim: bool) -> TensorSpec:
    if self._dtype.category in (BOOL, COMPLEX):
        what = "bool" if self._dtype.category == BOOL else "complex"
        raise RuntimeError(f"{name}(): does not support {what} input")
    if dim is None:
        if not self.numel():
            raise IndexError(
                f"{name}(): Expected reduction dim to be specified for input.numel() == 0."
            )
        return reduction_spec(self, range(self.ndim), keepdim, int64, ExactSpec)
    dims = scalar_dim(self, dim)
    _check_not_empty(name, self, dims, False)
    return reduction_spec(self, dims, keepdim, int64, ExactSpec)


def _arg_into(function: Compute, self: Tensor, dim: int | None, out: Tensor) -> None:
    if not out.numel():
        return
    axis = None if dim is None or not self._shape else scalar_dim(self, dim)[0]
    store(out, np.asarray(function(self._array, axis=axis)).reshape(out._shape))


def meta_argmax(self: Tensor, dim: int | None = None, keepdim: bool = False) -> TensorSpec:
    return _arg_spec("argmax", self, dim, keepdim)


def meta_argmin(self: Tensor, dim: int | None = None, keepdim: bool = False) -> TensorSpec:
    return _arg_spec("argmin", self, dim, keepdim)


def argmax_out(self: Tensor, dim: int | None = None, keepdim: bool = False, *, out: Tensor) -> None:
    _arg_into(np.argmax, self, dim, out)


def argmin_out(self: Tensor, dim: int | None = None, keepdim: bool = False, *, out: Tensor) -> None:
    _arg_into(np.argmin, self, dim, out)


# Values with their positions, along one dimension.


def _pair_spec(name: str, self: Tensor, dim: int, keepdim: bool) -> tuple[TensorSpec, TensorSpec]:
    _check_ordered(f"{name}()", self)
    dims = scalar_dim(self, dim)
    _check_not_empty(name, self, dims, False)
    return (
        reduction_spec(self, dims, keepdim, self._dtype, ExactSpec),
        reduction_spec(self, dims, keepdim, int64, ExactSpec),
    )


def _pair_into(function: Compute, self: Tensor, dim: int, values: Tensor, indices: Tensor) -> None:
    if not values.numel():
        return
    array = self._array
    if not array.ndim:
        store(values, array)
        store(indices, 0)
        return
    axis = scalar_dim(self, dim)[0]
    places: Any = np.expand_dims(function(array, axis=axis), axis)
    store(values, np.take_along_axis(array, places, axis).reshape(values._shape))
    store(indices, places.reshape(indices._shape))


def meta_max_dim(self: Tensor, dim: int, keepdim: bool = False) -> tuple[TensorSpec, TensorSpec]:
    return _pair_spec("max", self, dim, keepdim)


def meta_min_dim(self: Tensor, dim: int, keepdim: bool = False) -> tuple[TensorSpec, TensorSpec]:
    return _pair_spec("min", self, dim, keepdim)


def max_out(
    self: Tensor, dim: int, keepdim: bool = False, *, max: Tensor, max_values: Tensor
) -> None:
    """`max_values` receives the indices: the odd names come from ATen's schema."""
    _pair_into(np.argmax, self, dim, max, max_values)


def min_out(
    self: Tensor, dim: int, keepdim: bool = False, *, min: Tensor, min_indices: Tensor
) -> None:
    _pair_into(np.argmin, self, dim, min, min_indices)


# Of all elements.


def _whole_spec(name: str, self: Tensor) -> TensorSpec:
    _check_ordered(f"{name}_all", self)
    _check_not_empty(name, self, (), True)
    return TensorSpec((), self._dtype, None, self._device)


def max(self: Tensor) -> Tensor:
    return max_unary_out(self, out=allocate(_whole_spec("max", self), self._device.backend))


def min(self: Tensor) -> Tensor:
    return min_unary_out(self, out=allocate(_whole_spec("min", self), self._device.backend))


def max_unary_out(self: Tensor, *, out: Tensor) -> Tensor:
    return finish(
        out, _whole_spec("max", self), lambda: _reduce_into(np.max, self, None, False, out)
    )


def min_unary_out(self: Tensor, *, out: Tensor) -> Tensor:
    return finish(
        out, _whole_spec("min", self), lambda: _reduce_into(np.min, self, None, False, out)
    )


def max_other(self: Tensor, other: Tensor) -> Tensor:
    return operators.maximum(self, other)


def min_other(self: Tensor, other: Tensor) -> Tensor:
    return operators.minimum(self, other)


def max_out_other(self: Tensor, other: Tensor, *, out: Tensor) -> Tensor:
    return operators.maximum_out(self, other, out=out)


def min_out_other(self: Tensor, other: Tensor, *, out: Tensor) -> Tensor:
    return operators.minimum_out(self, other, out=out)
