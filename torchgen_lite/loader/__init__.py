"""Reads input files into the model: YAML nodes with their places, configuration, kernel modules.

Nothing else reads input files.
"""

from __future__ import annotations

from torchgen_lite.loader.config import Config, load_config
from torchgen_lite.loader.entry import DispatchEntry, NativeFunction
from torchgen_lite.loader.kernel_modules import KernelIndex, KernelModule, index_kernel_modules
from torchgen_lite.loader.native_functions import load_native_functions, load_schema_sources
from torchgen_lite.loader.sources import decode_source, read_source, shown_path
from torchgen_lite.loader.torch_files import TorchFiles, find_torch_files, load_tags

__all__ = [
    "Config",
    "DispatchEntry",
    "KernelIndex",
    "KernelModule",
    "NativeFunction",
    "TorchFiles",
    "decode_source",
    "find_torch_files",
    "index_kernel_modules",
    "load_config",
    "load_native_functions",
    "load_schema_sources",
    "load_tags",
    "read_source",
    "shown_path",
]
