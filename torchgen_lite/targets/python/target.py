"""Program in, described files out."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from torchgen_lite.diagnostics import Diagnostic, Label
from torchgen_lite.targets import TARGETS
from torchgen_lite.targets.output import OutputFile, Selection, TargetResult
from torchgen_lite.targets.python.differentiation import build_differentiation
from torchgen_lite.targets.python.functions import all_groups, build_functions, build_redispatch
from torchgen_lite.targets.python.kernels import kernel_finder
from torchgen_lite.targets.python.methods import build_methods
from torchgen_lite.targets.python.ops import build_ops
from torchgen_lite.targets.python.options import TARGET, PythonOptions
from torchgen_lite.targets.python.package import Package, build_package
from torchgen_lite.targets.python.registrations import MissingKernel, build_registrations
from torchgen_lite.targets.python.stubs import build_libraries, build_operators
from torchgen_lite.targets.skipped import has_any_number, select

if TYPE_CHECKING:
    from torchgen_lite.analysis.program import Program
    from torchgen_lite.loader.entry import NativeFunction
    from torchgen_lite.loader.kernel_modules import KernelIndex


def build_python(program: Program, options: PythonOptions) -> TargetResult:
    """Every file of the package, and what is wrong with kernels."""
    selection = select_python(program, options)
    diagnostics = list(selection.diagnostics)
    kernels = program.module_functions(TARGET, "kernels")
    package = build_package(selection.functions, options)
    files = [*_common_files(package)]
    if options.kernels:
        registered = tuple(selection.registrations(program))
        differentiation, differentiated = build_differentiation(
            package, program.resolved, registered, program.module_functions(TARGET, "formulas")
        )
        find = kernel_finder(options.kernels, _finder(kernels))
        registration, missing = build_registrations(package, registered, find, differentiated)
        files += [*differentiation, *registration]
        diagnostics += [_missing(m) for m in missing]
    return TargetResult(tuple(files), tuple(diagnostics))


def select_python(program: Program, options: PythonOptions) -> Selection:
    """The operators that have stubs. Without kernels there are stubs alone."""
    policy = TARGETS[TARGET].policy
    if not options.kernels:
        policy = replace(policy, makes=frozenset())
    return select(program, policy, options.skip, _inexpressible)


def _inexpressible(function: NativeFunction) -> str:
    """Why no stub can stand for an operator; empty if one can."""
    problem = "takes or gives any number of values, which a stub cannot"
    return problem if has_any_number(function) else ""


def _common_files(package: Package) -> Iterator[OutputFile]:
    context = {"has_kernels": bool(package.options.kernels)}
    yield OutputFile(f"{package.root}/__init__.py", "python/package.py.j2", context)
    yield OutputFile(f"{package.root}/py.typed", "python/py.typed.j2", {})
    yield build_libraries(package)
    yield from build_operators(package)
    yield from build_functions(package)
    groups = all_groups(package)
    yield from build_redispatch(package, groups)
    yield from build_methods(package)
    yield from build_ops(package, groups)


def _finder(index: KernelIndex | None) -> Callable[[str], str | None]:
    """From a kernel's name to its module, by the index of the kernel modules."""

    def find(name: str) -> str | None:
        found = index.find(name) if index is not None else None
        return found[0] if found else None

    return find


def _missing(missing: MissingKernel) -> Diagnostic:
    function = missing.overload.function
    entry = next((e for e in function.dispatch if e.kernel == missing.kernel), None)
    span = (entry.kernel_span if entry else None) or function.func.name_span or function.span
    is_meta = missing.kernel.startswith("meta_") and entry is None
    what = "meta function" if is_meta else "kernel"
    return Diagnostic(
        "TG302",
        f"no kernel module defines `{missing.kernel}`",
        label=Label(span, f"the {what} for {missing.key}") if span else None,
        help="write the function in one of the `kernels` modules of `[tool.torchgen_lite.target.python]`",
        operator=function.func.full_name,
        context=function.func.span,
    )
