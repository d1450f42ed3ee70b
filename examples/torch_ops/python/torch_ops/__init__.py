"""The operators as functions. Importing this registers them: torch.ops.torch_ops.muladd and so on."""

# libtorch has to be loaded before a library that uses it, and the library before what builds on it.
import torch  # noqa: F401

from torch_ops import _C  # noqa: F401

# isort: split
from torch_ops_python.functions import *  # noqa: F403
