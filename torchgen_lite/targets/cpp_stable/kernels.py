"""The addresses of the author's kernels."""

from __future__ import annotations

from torchgen_lite.targets.cpp.kernels import qualified, split_kernel
from torchgen_lite.targets.cpp.required import Kernel


def address(kernel: Kernel, namespace: str, shared: frozenset[str]) -> str:
    """The kernel's address in C++. Where kernels share a name, the type says which is meant."""
    found = f"&{qualified(kernel.name, namespace)}"
    if "::".join(split_kernel(kernel.name, namespace)) not in shared:
        return found
    return f"static_cast<{namespace}::ops::{kernel.operator.flat}::schema*>({found})"
