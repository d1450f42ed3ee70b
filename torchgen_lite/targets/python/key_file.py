"""The registration file of one dispatch key, and where each of its kernels is.

aten = Library("aten", "IMPL", "CPU", dispatcher=dispatcher)
aten.impl_deferred(_structured_cpu, {"add.Tensor": "structured_add_Tensor"})
aten.impl_from(_matrix, "mm", "mm_cpu")

`_structured_cpu` and `_matrix` are functions that import a module when one of its kernels is
needed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

from torchgen_lite.analysis.registrations import AUTOGRAD, VIEWS
from torchgen_lite.languages.python.names import identifier
from torchgen_lite.languages.text import quote
from torchgen_lite.targets.output import OutputFile
from torchgen_lite.targets.python.package import Overload, Package, libraries_of

FindModule = Callable[[str], "str | None"]
"""From a kernel's name to the module that defines it, or None."""

FindKernel = Callable[[str], "KernelReference | None"]


class KernelReference(NamedTuple):
    """A kernel, with its module imported as `alias`."""

    module: str
    alias: str
    name: str

    @property
    def expression(self) -> str:
        """As generated modules write it: `_pointwise.add_out`."""
        return f"{self.alias}.{self.name}"


def kernel_finder(modules: Sequence[str], find: FindModule) -> FindKernel:
    """A function from a kernel's name to its reference, given the configured kernel modules.

    The module comes from `find`, or from the name itself if that is a dotted path. A name with `::`
    is a C++ name, which no Python module defines.
    """
    aliases = module_aliases(modules)

    def find_kernel(name: str) -> KernelReference | None:
        if "::" in name:
            return None
        module, _, function = name.rpartition(".")
        found = module or find(name)
        if found is None:
            return None
        return KernelReference(found, aliases.get(found) or f"_{identifier(found)}", function)

    return find_kernel


def module_aliases(modules: Sequence[str]) -> dict[str, str]:
    """The names of modules in a registration file: the last part of the full name, if it is unique.

    >>> module_aliases(["k.unary", "a.ops", "b.ops"])
    {'k.unary': '_unary', 'a.ops': '_a_ops', 'b.ops': '_b_ops'}
    """
    last = Counter(module.rpartition(".")[2] for module in dict.fromkeys(modules))
    return {
        module: f"_{identifier(module if last[part] > 1 else part)}"
        for module in modules
        for part in [module.rpartition(".")[2]]
    }


def imported_modules(references: Iterable[KernelReference]) -> dict[str, str]:
    """The aliases of the modules, sorted by module."""
    return dict(sorted({reference.module: reference.alias for reference in references}.items()))


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
        library, operator = self._add(overload)
        self.written.append((library, kernel.alias, operator, quote(kernel.name)))

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
