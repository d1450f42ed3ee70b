"""Operators for PyTorch. Importing the generated package registers them."""

from mylib._ops import scale as scale  # written by `torchgen-lite generate`
