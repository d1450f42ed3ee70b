"""The registration file of one dispatch key.

aten = Library("aten", "IMPL", "CPU", dispatcher=dispatcher)
aten.impl_deferred(_structured_cpu, {"add.Tensor": "structured_add_Tensor"})
aten.impl_from(_matrix, "mm", "mm_cpu")

`_structured_cpu` and `_matrix` are functions that import a module when one of its kernels is
needed.
"""

from __future__ import annotations

from torchgen_lite.analysis.registrations import AUTOGRAD, VIEWS
from torchgen_lite.languages.python.names import identifier
from torchgen_lite.languages.text import quote
from torchgen_lite.targets.output import OutputFile
from torchgen_lite.targets.python.kernels import KernelReference, imported_modules
from torchgen_lite.targets.python.model import Overload
from torchgen_lite.targets.python.package import Package, libraries_of


class KeyFile:
    """The registrations of one key, while they are collected.

    `written` are handwritten kernels: the library, the function that imports the module, the
    operator and the kernel's function. `generated` has the kernels of each generated module, by
    library and operator. Operators and functions are literals.
    """

    def __init__(self) -> None:
        self.overloads: list[Overload] = []
        self.references: list[KernelReference] = []
        self.written: list[tuple[str, str, str, str]] = []
        self.fallthroughs: list[tuple[str, str]] = []
        self.generated: dict[str, dict[str, dict[str, str]]] = {}

    def add_written(self, overload: Overload, kernel: KernelReference) -> None:
        self.references.append(kernel)
        function = quote(kernel.expression.rpartition(".")[2])
        library, operator = self._add(overload)
        self.written.append((library, kernel.alias, operator, function))

    def add_generated(self, overload: Overload, module: str, role: str) -> None:
        """Add the kernel of a module that is named after its role: `autograd_add_Tensor`."""
        library, operator = self._add(overload)
        kernel = quote(f"{role}_{overload.flat}")
        self.generated.setdefault(module, {}).setdefault(library, {})[operator] = kernel

    def add_fallthrough(self, overload: Overload) -> None:
        self.fallthroughs.append(self._add(overload))

    def _add(self, overload: Overload) -> tuple[str, str]:
        """The library that registers for the overload, and its operator."""
        self.overloads.append(overload)
        return identifier(overload.function.namespace), quote(overload.schema.local_name)


def registration_module(key: str) -> str:
    return f"register_{key.lower()}"


def build_key_file(package: Package, key: str, file: KeyFile) -> OutputFile:
    """`register_cpu.py`."""
    context = {
        "runtime": package.runtime,
        "key": key,
        "modules": imported_modules(file.references),
        "libraries": libraries_of(file.overloads),
        "generated": file.generated,
        "with_keyset": key in (AUTOGRAD, VIEWS),
        "written": file.written,
        "fallthroughs": file.fallthroughs,
    }
    path = f"{package.root}/{registration_module(key)}.py"
    return OutputFile(path, "python/register.py.j2", context)
