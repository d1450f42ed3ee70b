"""The kernels that the author writes, and their addresses."""

from __future__ import annotations

from collections.abc import Sequence

from torchgen_lite.analysis.kernels import own_kernels
from torchgen_lite.targets.cpp.kernels import qualified, split_kernel
from torchgen_lite.targets.cpp.model import Operator
from torchgen_lite.targets.cpp.required import Kernel


def author_kernels(operators: Sequence[Operator]) -> list[Kernel]:
    """Every kernel that is registered, in source order. All of them are plain: others are refused."""
    return [
        Kernel(operator, entry.key, entry.kernel, operator.signature)
        for operator in operators
        for entry in own_kernels(operator.function)
    ]


def address(kernel: Kernel, namespace: str, shared: frozenset[str]) -> str:
    """The kernel's address in C++. Where kernels share a name, the type says which is meant."""
    found = f"&{qualified(kernel.name, namespace)}"
    if "::".join(split_kernel(kernel.name, namespace)) not in shared:
        return found
    return f"static_cast<{namespace}::ops::{kernel.operator.flat}::schema*>({found})"
