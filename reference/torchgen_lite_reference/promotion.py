"""Type promotion, by torch's rules (ATen `result_type`, c10 `promoteTypes`).

promote_types(a, b) -> dtype
result_type(*operands) -> dtype         operands: Tensor, None or Python number
common_type(a, b) -> dtype              the same for two tensors
can_cast(source, target) -> bool        by category: no complex to real, no float to integer ...
float_type(dtype) -> dtype              integers and bool become the default float (sqrt, div, mean)
accumulate_type(dtype) -> dtype         integers and bool become int64 (sum, prod)
check_cast(source, target)              RuntimeError "result type Float can't be cast to ... Long"
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from torchgen_lite_reference.dtype import (
    ALL,
    BOOL,
    COMPLEX,
    FLOATING,
    INTEGER,
    default_complex_dtype,
    dtype,
    get_default_dtype,
    int64,
    of_numpy,
    of_value,
)

if TYPE_CHECKING:
    from torchgen_lite_reference.tensor import Number, Tensor


def _promote(a: dtype, b: dtype) -> dtype:
    """The smallest type above both. A float with an integer keeps its size, unlike in NumPy."""
    low, high = (a, b) if a.category <= b.category else (b, a)
    if low.category == high.category:
        return of_numpy(np.promote_types(a.numpy, b.numpy))
    if low.category < FLOATING:
        return high
    return of_numpy(np.promote_types(low.numpy, high.numpy))


_TABLE = {(a, b): _promote(a, b) for a in ALL for b in ALL}


def promote_types(a: dtype, b: dtype) -> dtype:
    return _TABLE[a, b]


def _combine(higher: dtype | None, lower: dtype | None) -> dtype | None:
    """The type when `higher` has priority: `lower` counts only if its category is above."""
    if higher is None or lower is None:
        return higher or lower
    if higher.category == COMPLEX:
        return higher
    if higher.category == FLOATING:
        return higher.to_complex() if lower.category == COMPLEX else higher
    if higher.category == BOOL or lower.category > INTEGER:
        return _TABLE[higher, lower]
    return higher


def _wrapped_type(number: dtype) -> dtype:
    if number.category == COMPLEX:
        return default_complex_dtype()
    return get_default_dtype() if number.category == FLOATING else number


def result_type(*operands: Tensor | Number | None) -> dtype:
    """The type in which the operands are combined.

    Tensors with dimensions decide; zero-dimensional ones and then Python numbers count only when
    their category (bool < integer < float < complex) is higher.
    """
    levels: list[dtype | None] = [None, None, None]
    for operand in operands:
        if operand is None:
            continue
        if isinstance(operand, (int, float, complex, np.generic)):
            level, found = 2, of_value(operand)
        elif operand._wrapped:
            level, found = 2, _wrapped_type(operand._dtype)
        else:
            level, found = 0 if operand._shape else 1, operand._dtype
        known = levels[level]
        levels[level] = found if known is None else _TABLE[known, found]
    result = _combine(levels[0], _combine(levels[1], levels[2]))
    if result is None:
        raise RuntimeError("result_type needs at least one argument")
    return result


def common_type(a: Tensor, b: Tensor) -> dtype:
    """`result_type` of two tensors, quick where they have one dtype or one is a number."""
    first, second = a._dtype, b._dtype
    if not a._wrapped:
        # A number counts only if its category is higher.
        if first is second or (b._wrapped and second.category <= first.category):
            return first
    elif not b._wrapped and first.category <= second.category:
        return second
    return result_type(a, b)


def can_cast(source: dtype, target: dtype) -> bool:
    """Whether a result may be written there (c10 `canCast`)."""
    if source.category == COMPLEX and target.category != COMPLEX:
        return False
    if source.category == FLOATING and target.category <= INTEGER:
        return False
    return not (source.category == INTEGER and target.category == BOOL)


def check_cast(source: dtype, target: dtype) -> None:
    if source is not target and not can_cast(source, target):
        raise RuntimeError(
            f"result type {source.scalar_type} can't be cast to the desired output type"
            f" {target.scalar_type}"
        )


def float_type(of: dtype) -> dtype:
    return of if of.category >= FLOATING else get_default_dtype()


def accumulate_type(of: dtype) -> dtype:
    return int64 if of.category <= INTEGER else of
