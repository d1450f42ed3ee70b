"""The registration file of one dispatch key, and where each of its kernels is.

aten = Library("aten", "IMPL", "CPU", dispatcher=dispatcher)
aten.impl_deferred(_structured_cpu, {"add.Tensor": "structured_add_Tensor"})
aten.impl_from(_matrix, "mm", "mm_cpu")

`_structured_cpu` and `_matrix` are functions that import a module when one of its kernels is
needed.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

from torchgen_lite.analysis.registrations import AUTOGRAD, VIEWS
from torchgen_lite.languages.python.formula import ARITHMETIC
from torchgen_lite.languages.python.names import identifier
from torchgen_lite.targets.output import OutputFile
from torchgen_lite.targets.python.framework import CALLED, FORWARD
from torchgen_lite.targets.python.package import Overload, Package, is_module, libraries_of

# What generated kernels and nodes import besides, each with an underscore before it.
_TAKEN = {*CALLED, *FORWARD, *ARITHMETIC.values(), "fallthrough", "len", "real_number"}
# Local variables of generated kernels and nodes; those for arguments have such a beginning.
_LOCAL = re.compile("given|node|spec|(?:count|grad)_.*")
FindKernel = Callable[[str], "KernelReference | None"]


class KernelReference(NamedTuple):
    """A kernel. An author's module is imported as `alias`, a generated one under its own name."""

    module: str
    alias: str
    name: str

    def __str__(self) -> str:
        """As generated modules write it: `_pointwise.add_out`."""
        return f"{self.alias}.{self.name}"


def kernel_finder(modules: Sequence[str], find: Callable[[str], str | None]) -> FindKernel:
    """A function from a kernel's name to its reference, given the configured kernel modules.

    The module comes from `find`, or from the name itself if that is a dotted path. A name with `::`
    is a C++ name, which no Python module defines.
    """
    aliases = module_aliases(modules)

    def find_kernel(name: str) -> KernelReference | None:
        if "::" in name:
            return None
        module, _, function = name.rpartition(".")
        home = module or find(name)
        if home is None:
            return None
        return KernelReference(home, aliases.get(home) or f"_{identifier(home)}", function)

    return find_kernel


def module_aliases(modules: Iterable[str]) -> dict[str, str]:
    """The names of modules in generated code: the last part of the full name, if that is unique.

    >>> module_aliases(["k.unary", "a.ops", "b.ops", "zeros"])
    {'k.unary': '_unary', 'a.ops': '_a_ops', 'b.ops': '_b_ops', 'zeros': '_zeros_'}
    >>> module_aliases(["mylib.grad_self"])
    {'mylib.grad_self': '_module_grad_self'}
    """
    last = {module: module.rpartition(".")[2] for module in modules}
    counts = Counter(last.values())
    taken = set(_TAKEN)
    aliases = {}
    for module, part in last.items():
        name = part
        if counts[part] > 1 or part in taken or is_module(part):
            name = module
        name = identifier(name)
        if _LOCAL.fullmatch(name):
            name = f"module_{name}"
        while name in taken or is_module(name):
            name += "_"
        taken.add(name)
        aliases[module] = f"_{name}"
    return aliases


def imported_modules(references: Iterable[KernelReference]) -> dict[str, str]:
    """The aliases of the modules, sorted by module."""
    return dict(sorted({reference.module: reference.alias for reference in references}.items()))


class Registered(NamedTuple):
    """A registration: the kernel of an operator under a key, which is None if the operator falls through."""

    key: str
    overload: Overload
    kernel: KernelReference | None


def generated(key: str, overload: Overload, module: str, role: str) -> Registered:
    """The kernel in a generated module, named after its role: `autograd_add_Tensor`."""
    return Registered(key, overload, KernelReference(module, "", f"{role}_{overload.flat}"))


def build_key_file(package: Package, key: str, registered: Sequence[Registered]) -> OutputFile:
    """`register_cpu.py`."""
    references: list[KernelReference] = []
    written = []
    fallthroughs = []
    overloads = []
    modules: dict[str, dict[str, list[tuple[Overload, str]]]] = {}
    for _, overload, kernel in registered:
        overloads.append(overload)
        library = identifier(overload.function.namespace)
        if kernel is None:
            fallthroughs.append((library, overload))
        elif kernel.alias:
            references.append(kernel)
            written.append((library, overload, kernel.alias, kernel.name))
        else:
            of_library = modules.setdefault(kernel.module, {}).setdefault(library, [])
            of_library.append((overload, kernel.name))
    context = {
        "runtime": package.runtime,
        "key": key,
        "modules": imported_modules(references),
        "libraries": libraries_of(overloads),
        "generated": modules,
        "with_keyset": key in (AUTOGRAD, VIEWS),
        "written": written,
        "fallthroughs": fallthroughs,
    }
    path = f"{package.root}/register_{key.lower()}.py"
    return OutputFile(path, "python/register.py.j2", context)
