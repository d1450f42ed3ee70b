"""The namespaces that PyTorch defines."""

from __future__ import annotations

# Libraries add kernels to operators of these namespaces and define none. libtorch accepts one definition
# of a namespace, so a library with a second one would abort when it is loaded.
TORCH_NAMESPACES = frozenset(
    {
        "_c10d_functional",
        "_quantized",
        "aten",
        "c10d",
        "inductor",
        "mkldnn",
        "onednn",
        "prim",
        "prims",
        "profiler",
        "quantized",
        "sparse",
    }
)
