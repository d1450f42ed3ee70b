"""Operators on tensors, dispatched by where these are."""

from mylib._ops import scale as scale
from mylib.tensor import Tensor as Tensor
