"""Operators on tensors, dispatched by the device of the tensors."""

from mylib._ops import scale as scale
from mylib.tensor import Tensor as Tensor
