"""Which key of which operator has which kernel, as declared (torchgen `BackendIndex`)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from torchgen_lite.analysis.dispatch_index import STRUCTURED_KEYS
from torchgen_lite.loader.entry import NativeFunction

# Kernels that serve every backend.
GENERIC_KEYS = frozenset(
    {
        "CompositeExplicitAutograd",
        "CompositeExplicitAutogradNonFunctional",
        "CompositeImplicitAutograd",
        "CompositeImplicitAutogradNestedTensor",
    }
)
DEFAULT_KERNEL_NAMESPACE = "at::native"


class BackendKernel(NamedTuple):
    """A kernel: its name, whether it is the impl function of a structured one, its C++ namespace."""

    kernel: str
    structured: bool = False
    namespace: str = DEFAULT_KERNEL_NAMESPACE

    @property
    def takes_symint(self) -> bool:
        """PyTorch tells by the name whether a kernel wants `SymInt` as `c10::SymInt`."""
        return "_symint" in self.kernel


def kernels_of(function: NativeFunction) -> dict[str, BackendKernel]:
    """Key to kernel of one entry: its table, or the implicit one.

    Without `dispatch`, `structured` and `structured_delegate` an operator is composed of others and its
    kernel has the name of the C++ function: `add`, `add_out`.
    """
    if not function.dispatch:
        if (
            function.place("dispatch") is not None
            or function.structured
            or function.structured_delegate is not None
        ):
            return {}
        schema = function.func
        name = f"{schema.base_name}_out" if schema.out else schema.base_name
        return {"CompositeImplicitAutograd": BackendKernel(name)}
    found: dict[str, BackendKernel] = {}
    for entry in function.dispatch:
        structured = function.structured and entry.key in STRUCTURED_KEYS
        name, namespace = entry.kernel, DEFAULT_KERNEL_NAMESPACE
        if "::" in name or "." in name:
            outer, _, name = name.replace(".", "::").rpartition("::")
            namespace = f"{outer}::native"
        found[entry.key] = BackendKernel(name, structured, namespace)
    return found


def build_backend_index(
    functions: Iterable[tuple[str, NativeFunction]],
) -> dict[str, dict[str, BackendKernel]]:
    """Key to operator to kernel, over functions by name. The first of a name counts."""
    index: dict[str, dict[str, BackendKernel]] = {}
    for name, function in functions:
        for key, kernel in kernels_of(function).items():
            index.setdefault(key, {}).setdefault(name, kernel)
    return index
