"""What a package has if kernels are configured: their registrations, autograd, and what is wrong with them.

A package of stubs alone is generated without this module, and without the analysis of formulas that it imports.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from torchgen_lite.analysis.checks.reachable import unreachable_kernels
from torchgen_lite.analysis.derive.layout import tensor_options
from torchgen_lite.analysis.program import Program
from torchgen_lite.analysis.registrations import Registration
from torchgen_lite.languages.python import runtime as python
from torchgen_lite.languages.python.names import FRAMEWORK_TYPES
from torchgen_lite.targets.author import (
    begun,
    check_author,
    check_formulas,
    check_helpers,
    check_modules,
)
from torchgen_lite.targets.left_out import IN_PYTORCH, check_brought
from torchgen_lite.targets.output import AuthorFunction, Files, Selection, TargetResult
from torchgen_lite.targets.python.differentiation import build_differentiation
from torchgen_lite.targets.python.framework import CALLED, check_framework, known_names
from torchgen_lite.targets.python.key_file import kernel_finder
from torchgen_lite.targets.python.options import TARGET
from torchgen_lite.targets.python.package import Package
from torchgen_lite.targets.python.registrations import author_functions, build_registrations
from torchgen_lite.targets.python.selected import check_conditions


def build_kernels(program: Program, selection: Selection, package: Package) -> TargetResult:
    """The files with kernels, and the diagnostics for kernels and formulas."""
    known = known_names(program)
    modules = program.modules.get(TARGET, {})
    package = package._replace(known=known)
    registered = tuple(selection.registrations(program))
    chosen = [f for f in selection.functions if not tensor_options(f.func)]
    diagnostics = (
        *check_modules(program, TARGET, package.options.package),
        *check_author(author_functions(package, registered), modules),
        *check_formulas(selection.functions),
        *unreachable_kernels(chosen),
        *check_helpers(selection.functions, modules),
        *check_framework(program, package, registered),
        *check_conditions(package, registered),
        *check_brought(program, TARGET, selection.operators, IN_PYTORCH),
    )
    is_unsure = bool(registered) and known is not None and not known >= CALLED
    return TargetResult(_files(program, package, registered), diagnostics, is_unsure)


def author_kernels(
    program: Program, selection: Selection, package: Package
) -> Iterator[AuthorFunction]:
    """The kernels, and the meta functions of structured operators."""
    wanted = author_functions(package, tuple(selection.registrations(program)))
    types = {**dict.fromkeys(FRAMEWORK_TYPES, package.framework), **python.TYPE_MODULES}
    return begun(wanted, program.modules.get(TARGET, {}), types)


def _files(program: Program, package: Package, registered: Sequence[Registration]) -> Files:
    helpers = _homes(program, "formulas")
    kernels = _homes(program, "kernels")
    for overload in package.overloads:
        # Formulas call the operator of that name.
        helpers.pop(overload.schema.base_name, None)
    files, autograd = build_differentiation(package, program.resolved, registered, helpers)
    yield from files
    finder = kernel_finder(package.options.kernels, kernels.get)
    yield from build_registrations(package, registered, finder, autograd)


def _homes(program: Program, option: str) -> dict[str, str]:
    """The module of each function of an option; the first one if several define it."""
    index = program.module_functions(TARGET, option)
    modules = reversed(index.modules) if index is not None else ()
    return {name: module.name for module in modules for name in module.names}
