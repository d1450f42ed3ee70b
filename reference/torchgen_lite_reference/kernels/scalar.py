"""Overloads that take a Python number: each makes it a tensor and calls the tensor overload.

ATen has them as CompositeExplicitAutograd, so that every backend gets them for its tensor kernels.
The wrapped number has the lowest priority in type promotion. One function serves the overloads that
torch gives one kernel name: `div` is the kernel of `div.Scalar` and of `div.Scalar_mode`.
"""

from __future__ import annotations

from torchgen_lite_ops import operators
from torchgen_lite_reference.kernels.common import as_tensor
from torchgen_lite_reference.tensor import Number, Tensor, wrap_number


def add(self: Tensor, other: Number, alpha: Number = 1) -> Tensor:
    return operators.add_Tensor(self, wrap_number(other), alpha=alpha)


def add_(self: Tensor, other: Number, alpha: Number = 1) -> Tensor:
    return operators.add__Tensor(self, wrap_number(other), alpha=alpha)


def sub(self: Tensor, other: Number, alpha: Number = 1) -> Tensor:
    return operators.sub_Tensor(self, wrap_number(other), alpha=alpha)


def sub_(self: Tensor, other: Number, alpha: Number = 1) -> Tensor:
    return operators.sub__Tensor(self, wrap_number(other), alpha=alpha)


def mul(self: Tensor, other: Number) -> Tensor:
    return operators.mul_Tensor(self, wrap_number(other))


def mul_(self: Tensor, other: Number) -> Tensor:
    return operators.mul__Tensor(self, wrap_number(other))


def div(self: Tensor, other: Number, *, rounding_mode: str | None = None) -> Tensor:
    if rounding_mode is None:
        return operators.div_Tensor(self, wrap_number(other))
    return operators.div_Tensor_mode(self, wrap_number(other), rounding_mode=rounding_mode)


def div_(self: Tensor, other: Number, *, rounding_mode: str | None = None) -> Tensor:
    if rounding_mode is None:
        return operators.div__Tensor(self, wrap_number(other))
    return operators.div__Tensor_mode(self, wrap_number(other), rounding_mode=rounding_mode)


def remainder(self: Tensor | Number, other: Tensor | Number) -> Tensor:
    return operators.remainder_Tensor(as_tensor(self), as_tensor(other))


def remainder_(self: Tensor, other: Number) -> Tensor:
    return operators.remainder__Tensor(self, wrap_number(other))


def remainder_Scalar_out(self: Tensor, other: Number, *, out: Tensor) -> Tensor:
    return operators.remainder_Tensor_out(self, wrap_number(other), out=out)


def fmod(self: Tensor, other: Number) -> Tensor:
    return operators.fmod_Tensor(self, wrap_number(other))


def fmod_(self: Tensor, other: Number) -> Tensor:
    return operators.fmod__Tensor(self, wrap_number(other))


def fmod_Scalar_out(self: Tensor, other: Number, *, out: Tensor) -> Tensor:
    return operators.fmod_Tensor_out(self, wrap_number(other), out=out)


def copysign(self: Tensor, other: Number) -> Tensor:
    return operators.copysign_Tensor(self, wrap_number(other))


def copysign_(self: Tensor, other: Number) -> Tensor:
    return operators.copysign__Tensor(self, wrap_number(other))


def bitwise_and(self: Tensor | Number, other: Tensor | Number) -> Tensor:
    return operators.bitwise_and_Tensor(as_tensor(self), as_tensor(other))


def bitwise_and_(self: Tensor, other: Number) -> Tensor:
    return operators.bitwise_and__Tensor(self, wrap_number(other))


def bitwise_and_Scalar_out(self: Tensor, other: Number, *, out: Tensor) -> Tensor:
    return operators.bitwise_and_Tensor_out(self, wrap_number(other), out=out)


def bitwise_or(self: Tensor | Number, other: Tensor | Number) -> Tensor:
    return operators.bitwise_or_Tensor(as_tensor(self), as_tensor(other))


def bitwise_or_(self: Tensor, other: Number) -> Tensor:
    return operators.bitwise_or__Tensor(self, wrap_number(other))


def bitwise_or_Scalar_out(self: Tensor, other: Number, *, out: Tensor) -> Tensor:
    return operators.bitwise_or_Tensor_out(self, wrap_number(other), out=out)


def bitwise_xor(self: Tensor | Number, other: Tensor | Number) -> Tensor:
    return operators.bitwise_xor_Tensor(as_tensor(self), as_tensor(other))


def bitwise_xor_(self: Tensor, other: Number) -> Tensor:
    return operators.bitwise_xor__Tensor(self, wrap_number(other))


def bitwise_xor_Scalar_out(self: Tensor, other: Number, *, out: Tensor) -> Tensor:
    return operators.bitwise_xor_Tensor_out(self, wrap_number(other), out=out)


def bitwise_left_shift(self: Tensor | Number, other: Tensor | Number) -> Tensor:
    return operators.bitwise_left_shift_Tensor(as_tensor(self), as_tensor(other))


def bitwise_left_shift_(self: Tensor, other: Number) -> Tensor:
    return operators.bitwise_left_shift__Tensor(self, wrap_number(other))


def bitwise_left_shift_Scalar_out(self: Tensor, other: Number, *, out: Tensor) -> Tensor:
    return operators.bitwise_left_shift_Tensor_out(self, wrap_number(other), out=out)


def bitwise_right_shift(self: Tensor | Number, other: Tensor | Number) -> Tensor:
    return operators.bitwise_right_shift_Tensor(as_tensor(self), as_tensor(other))


def bitwise_right_shift_(self: Tensor, other: Number) -> Tensor:
    return operators.bitwise_right_shift__Tensor(self, wrap_number(other))


def bitwise_right_shift_Scalar_out(self: Tensor, other: Number, *, out: Tensor) -> Tensor:
    return operators.bitwise_right_shift_Tensor_out(self, wrap_number(other), out=out)
