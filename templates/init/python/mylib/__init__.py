"""Operators on tensors, dispatched by the device of the tensors."""

from mylib._ops import scale as scale  # written by `torchgen-lite generate`
from mylib.tensor import Tensor as Tensor
