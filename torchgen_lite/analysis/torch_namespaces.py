"""Whose an operator is, by its namespace."""

from __future__ import annotations

# Operators of these exist in every PyTorch: kernels are added to them, and nothing is defined. libtorch takes
# one definition of a namespace, so a library with a second one would abort when it is loaded.
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
