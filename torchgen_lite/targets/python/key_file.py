"""The registration file of one dispatch key.

aten = Library("aten", "IMPL", "CPU", dispatcher=dispatcher)
aten.impl_deferred(_structured_cpu, {"add.Tensor": "structured_add_Tensor"})
aten.impl_from(_matrix, "mm", "mm_cpu")

`_structured_cpu` and `_matrix` are functions that import a module when one of its kernels is
needed.
"""

from __future__ import annotations

from typing import NamedTuple

from torchgen_lite.dialects.python_names import identifier
from torchgen_lite.dialects.text import quote
from torchgen_lite.targets.output import OutputFile
from torchgen_lite.targets.python.kernels import KernelReference, imported_modules
from torchgen_lite.targets.python.model import Overload
from torchgen_lite.targets.python.package import Package, libraries_of


class WrittenView(NamedTuple):
    """A `function` for an `operator` (both literals), from the module that `loader` imports."""

    library: str
    loader: str
    operator: str
    function: str


class RegistrationView(NamedTuple):
    """A generated `kernel` for an `operator` (both literals)."""

    library: str
    operator: str
    kernel: str


class KernelTable(NamedTuple):
    """The kernels of one generated module for one library."""

    library: str
    kernels: list[RegistrationView]


class GeneratedKernels(NamedTuple):
    """The kernels of one generated module, which take the keyset first if `with_keyset`."""

    module: str
    with_keyset: bool
    by_library: dict[str, KernelTable]

    @property
    def tables(self) -> list[KernelTable]:
        return list(self.by_library.values())

    def add(self, overload: Overload, kernel: str) -> None:
        view = _view(overload, quote(kernel))
        table = self.by_library.get(view.library)
        if table is None:
            table = self.by_library[view.library] = KernelTable(view.library, [])
        table.kernels.append(view)


class KeyFile:
    """The registrations of one key, while they are collected."""

    def __init__(self) -> None:
        self.overloads: list[Overload] = []
        self.references: list[KernelReference] = []
        self.implementations: list[WrittenView] = []
        self.fallthroughs: list[RegistrationView] = []
        self.generated: dict[str, GeneratedKernels] = {}

    def add_written(self, overload: Overload, kernel: KernelReference) -> None:
        self.overloads.append(overload)
        self.references.append(kernel)
        view = _view(overload, quote(kernel.expression.rpartition(".")[2]))
        self.implementations.append(
            WrittenView(view.library, kernel.alias, view.operator, view.kernel)
        )

    def add_generated(
        self, overload: Overload, module: str, kernel: str, with_keyset: bool = False
    ) -> None:
        self.overloads.append(overload)
        if module not in self.generated:
            self.generated[module] = GeneratedKernels(module, with_keyset, {})
        self.generated[module].add(overload, kernel)

    def add_fallthrough(self, overload: Overload) -> None:
        self.overloads.append(overload)
        self.fallthroughs.append(_view(overload, ""))


def _view(overload: Overload, kernel: str) -> RegistrationView:
    library = identifier(overload.names.namespace)
    return RegistrationView(library, quote(overload.schema.local_name), kernel)


def registration_module(key: str) -> str:
    return f"register_{key.lower()}"


def build_key_file(package: Package, key: str, file: KeyFile) -> OutputFile:
    """`register_cpu.py`."""
    context = {
        "runtime": package.runtime,
        "key": key,
        "modules": imported_modules(file.references),
        "libraries": libraries_of(file.overloads),
        "generated": list(file.generated.values()),
        "implementations": file.implementations,
        "fallthroughs": file.fallthroughs,
    }
    path = f"{package.root}/{registration_module(key)}.py"
    return OutputFile(path, "python/register.py.j2", context)
