"""Importing this registers the operators: torch.ops.torch_ops.muladd and so on."""

# libtorch has to be loaded before a library that uses it.
import torch  # noqa: F401

from torch_ops import _C  # noqa: F401
