"""Where each kernel is: the module that a registration file imports it from."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple

from torchgen_lite.languages.python.names import identifier

FindModule = Callable[[str], "str | None"]
"""From a kernel's name to the module that defines it, or None."""

FindKernel = Callable[[str], "KernelReference | None"]


class KernelReference(NamedTuple):
    """A kernel as registration files write it: `_pointwise.add_out`, with `module` imported as
    `alias`."""

    expression: str
    module: str
    alias: str


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
        return reference(found, function, aliases) if found else None

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


def reference(module: str, name: str, aliases: Mapping[str, str]) -> KernelReference:
    """
    >>> reference("kernels.unary", "relu", {})
    KernelReference(expression='_kernels_unary.relu', module='kernels.unary', alias='_kernels_unary')
    """
    alias = aliases.get(module) or f"_{identifier(module)}"
    return KernelReference(f"{alias}.{name}", module, alias)


def imported_modules(references: Iterable[KernelReference]) -> dict[str, str]:
    """The aliases of the modules, sorted by module."""
    return dict(sorted({reference.module: reference.alias for reference in references}.items()))
