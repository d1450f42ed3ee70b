"""Reductions that add, multiply or test: sum, mean, prod, any, all, var, std, norms.

A list of dimensions that is None or empty means all of them. Results are row-major. Half precision is
accumulated in single, the variance of single in double, as ATen does.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from torchgen_lite_ops import operators
from torchgen_lite_reference.device import device, meta
from torchgen_lite_reference.dtype import FLOATING, bool_, dtype, float16, uint8
from torchgen_lite_reference.geometry import Shape, numel, wrap_dim, wrap_dims
from torchgen_lite_reference.kernels.common import finish, operand, run, store
from torchgen_lite_reference.promotion import accumulate_type, float_type
from torchgen_lite_reference.silence import Compute, quiet, silently
from torchgen_lite_reference.storage import Array
from torchgen_lite_reference.structured import AnySpec, ExactSpec, TensorSpec, allocate
from torchgen_lite_reference.tensor import Number, Tensor

Dims = Sequence[int] | None
DType = dtype

# Its types know no keepdim that is decided by the call.
_add: Any = np.add.reduce
_BLOCK = 16384


def reduced_shape(shape: Shape, dims: Sequence[int], keepdim: bool) -> Shape:
    """The shape without the dimensions, or with 1 in their place."""
    if keepdim:
        return tuple([1 if i in dims else size for i, size in enumerate(shape)])
    return tuple([size for i, size in enumerate(shape) if i not in dims])


def reduction_spec(
    self: Tensor,
    dims: Sequence[int],
    keepdim: bool,
    result: dtype,
    kind: Callable[..., TensorSpec] = TensorSpec,
) -> TensorSpec:
    return _reduction_spec(self._shape, tuple(dims), keepdim, result, self._device, kind)


@lru_cache(4096)
def _reduction_spec(
    shape: Shape,
    dims: tuple[int, ...],
    keepdim: bool,
    result: dtype,
    on: device,
    kind: Callable[..., TensorSpec],
) -> TensorSpec:
    return kind(reduced_shape(shape, dims, keepdim), result, None, on)


def wide_type(given: dtype) -> np.dtype[Any]:
    """The type to accumulate in."""
    return np.dtype(np.float32) if given is float16 else given.numpy


def scalar_dim(self: Tensor, dim: int) -> tuple[int, ...]:
    """One dimension as NumPy's axis; a zero-dimensional tensor has none to reduce."""
    wrapped = wrap_dim(dim, self.ndim)
    return (wrapped,) if self._shape else ()


# Sums, means, products.


def meta_sum_dim_IntList(
    self: Tensor, dim: Dims, keepdim: bool = False, *, dtype: DType | None = None
) -> TensorSpec:
    result = dtype or accumulate_type(self._dtype)
    return reduction_spec(
        self,
        wrap_dims(dim, len(self._shape)),
        keepdim,
        result,
        AnySpec if dtype is None else ExactSpec,
    )


def sum_out(
    self: Tensor, dim: Dims, keepdim: bool = False, *, dtype: DType | None = None, out: Tensor
) -> None:
    wide = wide_type(dtype or out._dtype)
    axes = wrap_dims(dim, len(self._shape))
    _sum_into(out, operand(self, wide), axes, keepdim)


def _sum_into(out: Tensor, array: Array, axes: tuple[int, ...], keepdim: bool) -> None:
    if out._array.dtype == array.dtype:
        silently(_add, array, axes, None, out._array, keepdim)
    else:
        store(out, silently(_add, array, axes, None, None, keepdim))


def sum(self: Tensor, *, dtype: DType | None = None) -> Tensor:
    return operators.sum_dim_IntList(self, [], False, dtype=dtype)


def _mean_type(self: Tensor, given: dtype | None) -> dtype:
    result = given or self._dtype
    if result.category < FLOATING:
        what = "could not infer output dtype. Input" if given is None else "optional"
        raise RuntimeError(
            f"mean(): {what} dtype must be either a floating point or complex dtype."
            f" Got: {result.scalar_type}"
        )
    return result


def meta_mean_dim(
    self: Tensor, dim: Dims, keepdim: bool = False, *, dtype: DType | None = None
) -> TensorSpec:
    return reduction_spec(self, wrap_dims(dim, self.ndim), keepdim, _mean_type(self, dtype))


def mean_out(
    self: Tensor, dim: Dims, keepdim: bool = False, *, dtype: DType | None = None, out: Tensor
) -> None:
    """The mean of no elements is NaN."""
    array = operand(self, wide_type(_mean_type(self, dtype)))
    axes = wrap_dims(dim, self.ndim)
    count = numel([self._shape[axis] for axis in axes])
    total = silently(_add, array, axes, None, None, keepdim)
    run(np.true_divide, out, total, array.dtype.type(count))


def mean(self: Tensor, *, dtype: DType | None = None) -> Tensor:
    return operators.mean_dim(self, [], False, dtype=dtype)


def mean_dtype_out(self: Tensor, *, dtype: DType | None = None, out: Tensor) -> Tensor:
    return operators.mean_out(self, [], False, dtype=dtype, out=out)


def meta_prod_dim_int(
    self: Tensor, dim: int, keepdim: bool = False, *, dtype: DType | None = None
) -> TensorSpec:
    result = dtype or accumulate_type(self._dtype)
    return reduction_spec(
        self, scalar_dim(self, dim), keepdim, result, AnySpec if dtype is None else ExactSpec
    )


def prod_out(
    self: Tensor, dim: int, keepdim: bool = False, *, dtype: DType | None = None, out: Tensor
) -> None:
    _prod_into(self, scalar_dim(self, dim), keepdim, dtype, out)


def _prod_into(
    self: Tensor, axes: tuple[int, ...], keepdim: bool, dtype: DType | None, out: Tensor
) -> None:
    wide = wide_type(dtype or out._dtype)
    with quiet():
        store(out, np.prod(operand(self, wide), axis=axes, keepdims=keepdim))


def prod(self: Tensor, *, dtype: DType | None = None) -> Tensor:
    """The product of all elements."""
    axes = tuple(range(self.ndim))
    result = dtype or accumulate_type(self._dtype)
    out = allocate(reduction_spec(self, axes, False, result), self._device.backend)
    if out._device is not meta:
        _prod_into(self, axes, False, dtype, out)
    return out


# any, all. The result is bool, but uint8 for uint8: older programs use that type for bool.


class _TruthSpec(TensorSpec):
    """Written to bool, and to uint8."""

    __slots__ = ()

    def check_dtype(self, out: Tensor) -> None:
        if out._dtype not in (bool_, uint8):
            raise RuntimeError(
                f"any and all only support bool tensor for result, got: {out._dtype.scalar_type}"
            )


def _truth_type(self: Tensor) -> dtype:
    return uint8 if self._dtype is uint8 else bool_


def meta_any(self: Tensor) -> TensorSpec:
    return _TruthSpec((), _truth_type(self), None, self._device)


def meta_any_dim(self: Tensor, dim: int, keepdim: bool = False) -> TensorSpec:
    return reduction_spec(self, scalar_dim(self, dim), keepdim, _truth_type(self), _TruthSpec)


def meta_any_dims(self: Tensor, dim: Dims = None, keepdim: bool = False) -> TensorSpec:
    """Over several dimensions; over none if the list is empty, over all without one."""
    return reduction_spec(self, _truth_dims(self, dim), keepdim, _truth_type(self), _TruthSpec)


def _truth_dims(self: Tensor, dim: Dims) -> tuple[int, ...]:
    return () if dim is not None and not len(dim) else wrap_dims(dim, self.ndim)


meta_all = meta_any
meta_all_dim = meta_any_dim
meta_all_dims = meta_any_dims


def _truth(test: Compute) -> tuple[Compute, Compute, Compute]:
    """The kernels over all dimensions, one, and several."""

    def over_all(self: Tensor, *, out: Tensor) -> None:
        store(out, test(self._array))

    def over_one(self: Tensor, dim: int, keepdim: bool = False, *, out: Tensor) -> None:
        store(out, test(self._array, axis=scalar_dim(self, dim), keepdims=keepdim))

    def over_several(self: Tensor, dim: Dims = None, keepdim: bool = False, *, out: Tensor) -> None:
        store(out, test(self._array, axis=_truth_dims(self, dim), keepdims=keepdim))

    return over_all, over_one, over_several


any_all_out, any_out, any_dims_out = _truth(np.any)
all_all_out, all_out, all_dims_out = _truth(np.all)


# Variance and standard deviation, with N - correction in the denominator.


def _var_spec(self: Tensor, dim: Dims, keepdim: bool) -> TensorSpec:
    if self._dtype.category < FLOATING:
        raise RuntimeError("std and var only support floating point and complex dtypes")
    return reduction_spec(self, wrap_dims(dim, self.ndim), keepdim, self._dtype.to_real())


def variance(self: Tensor, dim: Dims, correction: Number | None, keepdim: bool, name: str) -> Array:
    dims = axes = wrap_dims(dim, self.ndim)
    array = self._array
    wide: Any = np.complex128 if array.dtype.kind == "c" else np.float64
    ddof = 1 if correction is None else correction
    count = numel([self._shape[axis] for axis in axes])
    freedom = count - float(ddof.real)
    if freedom <= 0 and 0 not in _var_spec(self, dim, True).shape:
        warnings.warn(
            f"{name}(): degrees of freedom is <= 0. Correction should be strictly less than the"
            " reduction factor (input numel divided by output numel).",
            UserWarning,
            stacklevel=5,
        )
    if len(axes) == array.ndim and array.flags.c_contiguous:
        array, axes = array.reshape(-1), (0,)
    with quiet():
        mean = _add(array, axes, wide, keepdims=True) / np.float64(count)
        total = _squares_about(mean, array, axes, wide)
        result: Array = total / np.float64(max(freedom, 0.0))
        return result.reshape(reduced_shape(self._shape, dims, keepdim))


def _squares_about(mean: Array, array: Array, axes: tuple[int, ...], wide: Any) -> Array:
    """The sums of squared deviations, block by block: a copy of everything in the wider type is slow to make."""
    total = np.zeros(mean.shape, np.float64)
    reduced = 0 in axes
    step = max(1, _BLOCK * len(array) // max(array.size, 1))
    for start in range(0, len(array), step):
        block = slice(start, start + step)
        deviation = np.subtract(array[block], mean if reduced else mean[block], dtype=wide)
        if wide is np.complex128:
            squares = deviation.real**2 + deviation.imag**2
        else:
            squares = np.multiply(deviation, deviation, deviation)
        part = _add(squares, axes, keepdims=True)
        if reduced:
            total += part
        else:
            total[block] = part
    return total


def _spread(name: str, of_variance: Compute) -> tuple[Compute, Compute]:
    """The kernels of an operator, a function of the variance: functional, and with `out`."""

    def into(
        self: Tensor,
        dim: Dims = None,
        *,
        correction: Number | None = None,
        keepdim: bool = False,
        out: Tensor,
    ) -> Tensor:
        return finish(
            out,
            _var_spec(self, dim, keepdim),
            lambda: store(out, of_variance(variance(self, dim, correction, keepdim, name))),
        )

    def fresh(
        self: Tensor, dim: Dims = None, *, correction: Number | None = None, keepdim: bool = False
    ) -> Tensor:
        out = allocate(_var_spec(self, dim, keepdim), self._device.backend)
        return into(self, dim, correction=correction, keepdim=keepdim, out=out)

    return fresh, into


def _unbiased(of: Compute, into: Compute) -> tuple[Compute, Compute, Compute]:
    """The overloads that have a flag for a correction of 1 or 0: over all, over dimensions, with `out`."""

    def over_all(self: Tensor, unbiased: bool = True) -> Any:
        return of(self, None, correction=int(unbiased))

    def over_dims(self: Tensor, dim: Dims, unbiased: bool = True, keepdim: bool = False) -> Any:
        return of(self, dim, correction=int(unbiased), keepdim=keepdim)

    def with_out(
        self: Tensor, dim: Dims, unbiased: bool = True, keepdim: bool = False, *, out: Tensor
    ) -> Any:
        return into(self, dim, correction=int(unbiased), keepdim=keepdim, out=out)

    return over_all, over_dims, with_out


var, var_out = _spread("var", np.positive)
std, std_out = _spread("std", np.sqrt)
var_unbiased, var_dim, var_out_unbiased = _unbiased(
    operators.var_correction, operators.var_correction_out
)
std_unbiased, std_dim, std_out_unbiased = _unbiased(
    operators.std_correction, operators.std_correction_out
)


# Norms.


def _norm_spec(
    name: str, self: Tensor, ord: Number, dim: Dims, keepdim: bool, given: dtype | None
) -> TensorSpec:
    if self._dtype.category < FLOATING:
        raise RuntimeError(
            f"{name}: Expected a floating point or complex tensor as input."
            f" Got {self._dtype.scalar_type}"
        )
    if given is not None and given.is_complex is not self._dtype.is_complex:
        kind = "complex" if self._dtype.is_complex else "real"
        raise RuntimeError(
            f"{name}: dtype should be {kind} for {kind} inputs, but got {given.scalar_type}"
        )
    axes = wrap_dims(dim, self.ndim)
    no_identity = isinstance(ord, complex) or ord < 0 or ord == math.inf
    if no_identity and any(self._shape[axis] == 0 for axis in axes):
        raise RuntimeError(
            f"{name} cannot compute the {ord} norm on an empty tensor because the operation does"
            " not have an identity"
        )
    return reduction_spec(self, axes, keepdim, (given or self._dtype).to_real(), ExactSpec)


def _vector_norm(self: Tensor, ord: Any, dim: Dims, keepdim: bool, given: dtype | None) -> Any:
    array = operand(self, wide_type(given or self._dtype))
    axes = wrap_dims(dim, self.ndim)
    with quiet():
        magnitude = array if ord == 2 and array.dtype.kind == "f" else np.abs(array)
        if ord == 2:
            if len(axes) == array.ndim and not keepdim:
                line = magnitude.ravel("K")
                return np.sqrt(np.dot(line, line))
            return np.sqrt(_add(magnitude * magnitude, axes, keepdims=keepdim))
        if ord == math.inf:
            return np.max(magnitude, axis=axes, keepdims=keepdim)
        if ord == -math.inf:
            return np.min(magnitude, axis=axes, keepdims=keepdim)
        if ord == 0:
            return np.sum(magnitude != 0, axis=axes, keepdims=keepdim)
        if ord == 1:
            return np.sum(magnitude, axis=axes, keepdims=keepdim)
        exponent = magnitude.dtype.type(ord)
        return np.sum(magnitude**exponent, axis=axes, keepdims=keepdim) ** (1 / exponent)


def meta_linalg_vector_norm(
    self: Tensor,
    ord: Number = 2,
    dim: Dims = None,
    keepdim: bool = False,
    *,
    dtype: DType | None = None,
) -> TensorSpec:
    return _norm_spec("linalg.vector_norm", self, ord, dim, keepdim, dtype)


def linalg_vector_norm_out(
    self: Tensor,
    ord: Number = 2,
    dim: Dims = None,
    keepdim: bool = False,
    *,
    dtype: DType | None = None,
    out: Tensor,
) -> None:
    store(out, _vector_norm(self, ord, dim, keepdim, dtype))


def meta_norm_ScalarOpt_dim(
    self: Tensor, p: Number | None, dim: Dims, keepdim: bool = False
) -> TensorSpec:
    return _norm_spec("norm()", self, 2 if p is None else p, dim, keepdim, None)


def norm_out(
    self: Tensor, p: Number | None, dim: Dims, keepdim: bool = False, *, out: Tensor
) -> None:
    store(out, _vector_norm(self, 2 if p is None else p, dim, keepdim, None))


def norm(self: Tensor, p: Number = 2) -> Tensor:
    return operators.norm_ScalarOpt_dim(self, p, [], False)


# logsumexp.


def _logsumexp_spec(self: Tensor, dim: Dims, keepdim: bool) -> TensorSpec:
    return reduction_spec(self, wrap_dims(dim, self.ndim), keepdim, float_type(self._dtype))


def logsumexp_out(self: Tensor, dim: Dims, keepdim: bool = False, *, out: Tensor) -> Tensor:
    def compute() -> None:
        array = operand(self, wide_type(float_type(self._dtype)))
        axes = wrap_dims(dim, self.ndim)
        with quiet():
            if any(self._shape[axis] == 0 for axis in axes):
                store(out, -math.inf)
                return
            # The largest is subtracted so that exp can't overflow; an infinite one counts as zero.
            top = np.max(array.real, axis=axes, keepdims=True)
            shift = np.where(np.isinf(top), 0, top)
            total = np.log(np.sum(np.exp(array - shift), axis=axes, keepdims=True)) + shift
            store(out, total.reshape(out._shape))

    return finish(out, _logsumexp_spec(self, dim, keepdim), compute)


def logsumexp(self: Tensor, dim: Dims, keepdim: bool = False) -> Tensor:
    """log(sum(exp(x))) without overflow."""
    out = allocate(_logsumexp_spec(self, dim, keepdim), self._device.backend)
    return logsumexp_out(self, dim, keepdim, out=out)
