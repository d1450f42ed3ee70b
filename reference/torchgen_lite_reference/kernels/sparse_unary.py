"""Element-wise operators that keep zero at zero, on COO tensors: they work on the values.

An uncoalesced tensor is coalesced first, because f(a + b) is not f(a) + f(b); only `neg` and `conj` need not.
"""

from __future__ import annotations

from typing import Protocol

from torchgen_lite_ops import operators
from torchgen_lite_reference.kernels.sparse_math import write
from torchgen_lite_reference.sparse_tensor import SparseTensor, coalesce
from torchgen_lite_reference.tensor import Tensor


class Unary(Protocol):
    def __call__(self, input: Tensor, /) -> Tensor: ...


class UnaryOut(Protocol):
    def __call__(self, input: Tensor, /, *, out: Tensor) -> Tensor: ...


def _apply(operator: Unary, self: Tensor) -> SparseTensor:
    assert isinstance(self, SparseTensor)
    this = coalesce(self)
    return SparseTensor(this._coo_indices, operator(this._coo_values), this._shape, True)


def _functional(operator: Unary) -> Unary:
    def kernel(self: Tensor, /) -> Tensor:
        return _apply(operator, self)

    return kernel


def _inplace(operator: Unary) -> Unary:
    def kernel(self: Tensor, /) -> Tensor:
        return write(self, _apply(operator, self))

    return kernel


def _out(operator: Unary) -> UnaryOut:
    def kernel(self: Tensor, /, *, out: Tensor) -> Tensor:
        return write(out, _apply(operator, self))

    return kernel


abs_sparse = _functional(operators.abs)
sgn_sparse = _functional(operators.sgn)
asinh_sparse = _functional(operators.asinh)
atanh_sparse = _functional(operators.atanh)
asin_sparse = _functional(operators.asin)
atan_sparse = _functional(operators.atan)
ceil_sparse = _functional(operators.ceil)
erf_sparse = _functional(operators.erf)
expm1_sparse = _functional(operators.expm1)
floor_sparse = _functional(operators.floor)
frac_sparse = _functional(operators.frac)
log1p_sparse = _functional(operators.log1p)
round_sparse = _functional(operators.round)
sign_sparse = _functional(operators.sign)
sin_sparse = _functional(operators.sin)
sinh_sparse = _functional(operators.sinh)
sqrt_sparse = _functional(operators.sqrt)
tan_sparse = _functional(operators.tan)
tanh_sparse = _functional(operators.tanh)
trunc_sparse = _functional(operators.trunc)
signbit_sparse = _functional(operators.signbit)
relu_sparse = _functional(operators.relu)
isnan_sparse = _functional(operators.isnan)
isinf_sparse = _functional(operators.isinf)

abs_sparse_ = _inplace(operators.abs)
sgn_sparse_ = _inplace(operators.sgn)
asinh_sparse_ = _inplace(operators.asinh)
atanh_sparse_ = _inplace(operators.atanh)
asin_sparse_ = _inplace(operators.asin)
atan_sparse_ = _inplace(operators.atan)
ceil_sparse_ = _inplace(operators.ceil)
erf_sparse_ = _inplace(operators.erf)
expm1_sparse_ = _inplace(operators.expm1)
floor_sparse_ = _inplace(operators.floor)
frac_sparse_ = _inplace(operators.frac)
log1p_sparse_ = _inplace(operators.log1p)
round_sparse_ = _inplace(operators.round)
sign_sparse_ = _inplace(operators.sign)
sin_sparse_ = _inplace(operators.sin)
sinh_sparse_ = _inplace(operators.sinh)
sqrt_sparse_ = _inplace(operators.sqrt)
tan_sparse_ = _inplace(operators.tan)
tanh_sparse_ = _inplace(operators.tanh)
trunc_sparse_ = _inplace(operators.trunc)
relu_sparse_ = _inplace(operators.relu)

abs_sparse_out = _out(operators.abs)
sgn_sparse_out = _out(operators.sgn)
asinh_sparse_out = _out(operators.asinh)
atanh_sparse_out = _out(operators.atanh)
asin_sparse_out = _out(operators.asin)
atan_sparse_out = _out(operators.atan)
ceil_sparse_out = _out(operators.ceil)
erf_sparse_out = _out(operators.erf)
expm1_sparse_out = _out(operators.expm1)
floor_sparse_out = _out(operators.floor)
frac_sparse_out = _out(operators.frac)
log1p_sparse_out = _out(operators.log1p)
round_sparse_out = _out(operators.round)
sign_sparse_out = _out(operators.sign)
sin_sparse_out = _out(operators.sin)
sinh_sparse_out = _out(operators.sinh)
sqrt_sparse_out = _out(operators.sqrt)
tan_sparse_out = _out(operators.tan)
tanh_sparse_out = _out(operators.tanh)
trunc_sparse_out = _out(operators.trunc)
signbit_sparse_out = _out(operators.signbit)


def neg_sparse(self: Tensor) -> Tensor:
    assert isinstance(self, SparseTensor)
    values = operators.neg(self._coo_values)
    return SparseTensor(self._coo_indices, values, self._shape, self._coo_coalesced)


def _conj_physical_sparse(self: Tensor) -> Tensor:
    assert isinstance(self, SparseTensor)
    values = operators.conj_physical(self._coo_values)
    return SparseTensor(self._coo_indices, values, self._shape, self._coo_coalesced)


def conj_physical_out_sparse(self: Tensor, *, out: Tensor) -> Tensor:
    return write(out, _conj_physical_sparse(self))


def neg_sparse_(self: Tensor) -> Tensor:
    return write(self, neg_sparse(self))


def neg_out_sparse(self: Tensor, *, out: Tensor) -> Tensor:
    return write(out, neg_sparse(self))
