"""The kernels of `_operators.py`: each imports the author's function at its first call.

def muladd__CPU(a: Tensor, b: Tensor, s: float) -> Any:
    _kernel = _library.resolve(_places.muladd__CPU, "my_kernels", "muladd_cpu")
    return _kernel(a, b, s)
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from torchgen_lite.analysis.fakes import disagreement
from torchgen_lite.analysis.finding import finding
from torchgen_lite.analysis.kernels import KernelEntry
from torchgen_lite.diagnostics import Diagnostic, did_you_mean
from torchgen_lite.dialects import python, torch_library
from torchgen_lite.targets.torch_python.model import Operator, Package


@dataclass(frozen=True, slots=True)
class KernelView:
    """The function for one operator and key; `place` is where the YAML names the author's."""

    name: str
    operator: Operator
    key: str
    place: str
    module: str
    function: str

    @property
    def parameters(self) -> list[str]:
        return torch_library.parameters(self.operator.schema, inside=True)

    @property
    def arguments(self) -> list[str]:
        return python.forwarded(self.operator.schema)


def kernels_of(package: Package, operator: Operator) -> tuple[KernelView, ...]:
    """The kernels of one operator that the modules of `kernels` have."""
    return tuple(
        KernelView(operator.named(entry.key), operator, entry.key, _place(operator, entry), *found)
        for entry in operator.dispatch
        if (found := package.module_of("kernels", entry.kernel)) is not None
    )


def _place(operator: Operator, entry: KernelEntry) -> str:
    span = entry.kernel_span
    return f"{span.source.path}:{span.line}" if span else operator.place


def check_kernels(package: Package) -> Iterator[Diagnostic]:
    """Kernels that no module defines, or that can't be called with the operator's arguments."""
    index = package.modules.get("kernels")
    if index is None:
        return
    for operator in package.operators:
        function = operator.function
        for entry in operator.dispatch:
            if package.module_of("kernels", entry.kernel) is None:
                hint = did_you_mean(entry.kernel.rpartition(".")[2], index.names())
                hint = hint or "write the function in one of the modules of `kernels`"
                message = f"no kernel module defines `{entry.kernel}`"
                yield finding(function, "TG302", message, entry.kernel_span, "not found", hint)
                continue
            signature = index.signature(entry.kernel)
            problem = signature and disagreement(
                signature, operator.schema, leaves_out_defaults=False
            )
            if problem:
                yield finding(function, "TG334", problem, entry.kernel_span, "this kernel")
