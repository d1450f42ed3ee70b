"""Sequences and the identity: `arange`, `range`, `linspace`, `logspace`, `eye`.

The out variants with every argument do the work, on the CPU and on Meta. Values are computed in the
widest type of the category (int64, float64) and converted at the end, as ATen's accumulate types are.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from torchgen_lite_ops import operators as ops
from torchgen_lite_reference.device import meta
from torchgen_lite_reference.dtype import COMPLEX, INTEGER, bool_, default_complex_dtype, int64
from torchgen_lite_reference.kernels.common import finish, store, unsupported
from torchgen_lite_reference.kernels.elements import element
from torchgen_lite_reference.structured import TensorSpec, check_no_overlap, warn_on_resize

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from torchgen_lite_reference.dtype import dtype as DType
    from torchgen_lite_reference.options import TensorOptions
    from torchgen_lite_reference.storage import Array
    from torchgen_lite_reference.tensor import Number, Tensor


def arange(end: Number, **options: Unpack[TensorOptions]) -> Tensor:
    return arange_start_step(0, end, 1, **options)


def arange_start(start: Number, end: Number, **options: Unpack[TensorOptions]) -> Tensor:
    return arange_start_step(start, end, 1, **options)


def arange_start_step(
    start: Number, end: Number, step: Number = 1, **options: Unpack[TensorOptions]
) -> Tensor:
    """From `start` up to, but not including, `end`. int64 if all three are integers, else the default float."""
    if not options.get("dtype") and all(isinstance(value, int) for value in (start, end, step)):
        options["dtype"] = int64
    fresh = ops.empty_memory_format([0], **options)
    return ops.arange_start_out(start, end, step, out=fresh)


def arange_out_no_start(end: Number, *, out: Tensor) -> Tensor:
    return ops.arange_start_out(0, end, 1, out=out)


def arange_out(start: Number, end: Number, step: Number = 1, *, out: Tensor) -> Tensor:
    """Fills `out`, which keeps its shape if it has the right number of elements."""
    _check_counted("arange_cpu", out, complex_too=False)
    first, last, by = _bounds(start, end, step, out._dtype)
    return _fill_sequence(out, first, by, math.ceil((last - first) / by))


def range(start: Number, end: Number, step: Number = 1, **options: Unpack[TensorOptions]) -> Tensor:
    """From `start` to `end`, both included; always of the default float type unless told otherwise."""
    fresh = ops.empty_memory_format([0], **options)
    return ops.range_out(start, end, step, out=fresh)


def range_out_no_step(start: Number, end: Number, *, out: Tensor) -> Tensor:
    return ops.range_out(start, end, 1, out=out)


def range_out(start: Number, end: Number, step: Number = 1, *, out: Tensor) -> Tensor:
    """Fills `out`, which keeps its shape if it has the right number of elements."""
    _check_counted("range_cpu", out, complex_too=False)
    first, last, by = _bounds(start, end, step, out._dtype)
    return _fill_sequence(out, first, by, int((last - first) / by + 1))


def _bounds(start: Number, end: Number, step: Number, dtype: DType) -> tuple[Any, Any, Any]:
    values: list[Any] = [start, end, step]
    if dtype is int64:
        values = [int(value) for value in values]
    first, last, by = values
    if by == 0:
        raise RuntimeError("step must be nonzero")
    if not (math.isfinite(first) and math.isfinite(last)):
        raise RuntimeError(f"unsupported range: {first} -> {last}")
    if (last - first) * by < 0:
        raise RuntimeError("upper bound and lower bound inconsistent with step sign")
    return first, last, by


def _check_counted(name: str, out: Tensor, complex_too: bool) -> None:
    if out._dtype is bool_ or (out._dtype.category == COMPLEX and not complex_too):
        raise unsupported(name, out._dtype)


def _fill_sequence(out: Tensor, first: Any, by: Any, count: int) -> Tensor:
    if out.numel() != count:
        warn_on_resize(out, (count,))
        out._set_geometry((count,))
    check_no_overlap(out)
    if out._device is not meta:
        if out._dtype.category <= INTEGER:
            first, by = int(first), int(by)
        store(out, (first + np.arange(count) * by).reshape(out._shape))
    return out


def linspace(start: Number, end: Number, steps: int, **options: Unpack[TensorOptions]) -> Tensor:
    """`steps` values at equal distance, both ends included."""
    fresh = _empty_line(start, end, steps, options)
    return ops.linspace_out(start, end, steps, out=fresh)


def _empty_line(start: Number, end: Number, steps: int, options: TensorOptions) -> Tensor:
    if steps < 0:
        raise RuntimeError("number of steps must be non-negative")
    if not options.get("dtype") and any(isinstance(value, complex) for value in (start, end)):
        options["dtype"] = default_complex_dtype()
    return ops.empty_memory_format([steps], **options)


def linspace_out(start: Number, end: Number, steps: int, *, out: Tensor) -> Tensor:
    _check_counted("linspace_cpu", out, complex_too=True)
    return _fill_line(out, steps, lambda: _line(start, end, steps, out._dtype))


def logspace(
    start: Number,
    end: Number,
    steps: int,
    base: float = 10.0,
    **options: Unpack[TensorOptions],
) -> Tensor:
    """Powers of `base`, with exponents at equal distance."""
    fresh = _empty_line(start, end, steps, options)
    return ops.logspace_out(start, end, steps, base, out=fresh)


def logspace_out(
    start: Number, end: Number, steps: int, base: float = 10.0, *, out: Tensor
) -> Tensor:
    _check_counted("logspace_cpu", out, complex_too=True)
    return _fill_line(out, steps, lambda: np.power(base, _line(start, end, steps, out._dtype)))


def _fill_line(out: Tensor, steps: int, values: Any) -> Tensor:
    if steps < 0:
        raise RuntimeError("number of steps must be non-negative")
    if out.numel() != steps:
        warn_on_resize(out, (steps,))
        out._set_geometry((steps,))
    if out._device is not meta:
        store(out, values().reshape(out._shape))
    return out


def _line(start: Any, end: Any, steps: int, dtype: DType) -> Array:
    """ATen counts from the nearer end, so that the values are symmetric and end exactly."""
    kind: Any = complex if dtype.category == COMPLEX else float
    if dtype.category <= INTEGER:
        start, end = element(start, dtype).item(), element(end, dtype).item()
    if steps == 1:
        return np.array([start], kind)
    step = (end - start) / (steps - 1) if steps else 0.0
    index = np.arange(steps)
    values: Array = np.where(
        index < steps // 2, start + step * index, end - step * (steps - index - 1)
    )
    return values


def eye(n: int, **options: Unpack[TensorOptions]) -> Tensor:
    return eye_m(n, n, **options)


def eye_m(n: int, m: int, **options: Unpack[TensorOptions]) -> Tensor:
    """Ones on the diagonal of an `n` by `m` matrix of zeros."""
    fresh = ops.empty_memory_format([0], **options)
    return ops.eye_m_out(n, m, out=fresh)


def eye_out(n: int, *, out: Tensor) -> Tensor:
    return ops.eye_m_out(n, n, out=out)


def eye_m_out(n: int, m: int, *, out: Tensor) -> Tensor:
    for name, size in (("n", n), ("m", m)):
        if size < 0:
            raise RuntimeError(f"{name} must be greater or equal to 0, got {size}")
    return finish(
        out, TensorSpec((n, m), out._dtype), lambda: store(out, np.eye(n, m, dtype=np.int8))
    )
