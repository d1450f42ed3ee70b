"""Which kernels the author writes: `kernels.h` declares them, `verify_kernels.h` proves them.

Note [Kernels of structured operators]
The out variant of a structured operator names the impl function of a kernel class in `dispatch:`,
which is not a kernel, and the variants that delegate to it have none in the YAML. So neither is
listed here, but kernels for keys without a dense backend (SparseCPU) are.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence

from torchgen_lite.analysis.kernels import KernelEntry
from torchgen_lite.analysis.registrations import Registration
from torchgen_lite.languages.cpp.native import sizes_of
from torchgen_lite.languages.cpp.signature import CppSignature
from torchgen_lite.targets.cpp.layout import Blocks
from torchgen_lite.targets.cpp.model import CppOperator
from torchgen_lite.targets.cpp.proof import proof_files
from torchgen_lite.targets.cpp.required import (
    Kernel,
    author_kernels,
    kernels_headers,
)
from torchgen_lite.targets.cpp_torch import types
from torchgen_lite.targets.cpp_torch.calls import declaration_includes
from torchgen_lite.targets.cpp_torch.model import TorchLayout
from torchgen_lite.targets.output import OutputFile


def torch_kernels(
    registered: Iterable[Registration],
    operators: Sequence[CppOperator],
    layout: TorchLayout,
    classes: Collection[str],
) -> list[Kernel]:
    """The kernels that the author writes, some of them in `classes`. A kernel's name says whether
    it takes symbolic integers."""

    def signature(operator: CppOperator, entry: KernelEntry) -> CppSignature:
        return types.signature(operator.function, sizes_of(entry), layout.classes)

    return author_kernels(registered, operators, signature, classes)


def build_kernels(kernels: Sequence[Kernel], layout: TorchLayout) -> Iterator[OutputFile]:
    """`kernels.h`, and the proof."""

    def includes(own: Sequence[Kernel]) -> Blocks:
        return declaration_includes([k.operator for k in own], [k.signature for k in own], layout)

    yield from kernels_headers(layout, kernels, includes(kernels))
    yield from proof_files(layout, kernels, includes, is_boxed=False)
