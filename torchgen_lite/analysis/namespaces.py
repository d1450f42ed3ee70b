"""The namespaces that PyTorch defines."""

from __future__ import annotations

from torchgen_lite.loader.entry.entry import TORCH_NAMESPACES as TORCH_NAMESPACES
