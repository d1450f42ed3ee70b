"""Operators for PyTorch. The library registers them, and the generated package what it cannot."""

from pathlib import Path

import torch

# An editable installation has several folders.
_built = [file for folder in __path__ for file in Path(folder).glob("*mylib.[sd]*")]
if not _built:
    raise ImportError("mylib is not built: `cmake --build build` or `pip install .` does that")
torch.ops.load_library(str(_built[0]))

from mylib._ops import scale as scale  # noqa: E402
