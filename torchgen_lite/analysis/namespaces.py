"""The namespaces that PyTorch defines."""

from __future__ import annotations

# Libraries may add kernels to operators in these namespaces, but define none. libtorch accepts only
# one definition of a namespace, so a library with a second one aborts on load.
TORCH_NAMESPACES = frozenset("""
        _c10d_functional _quantized aten c10d inductor mkldnn onednn prim prims profiler quantized
        sparse
        """.split())
