"""The addresses of the author's kernels."""

from __future__ import annotations

from torchgen_lite.targets.cpp.kernels import qualified
from torchgen_lite.targets.cpp.required import Kernel


def address(kernel: Kernel, namespace: str, shared: frozenset[str]) -> str:
    """The kernel's address in C++. Where kernels share a name, the type says which is meant."""
    name = qualified(kernel.name, namespace)
    if name not in shared:
        return f"&{name}"
    return f"static_cast<{namespace}::ops::{kernel.operator.flat}::schema*>(&{name})"
