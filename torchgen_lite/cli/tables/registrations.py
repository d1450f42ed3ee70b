"""What `table` and `why` look at: registrations by name, from the schema files or from an installed torch."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from importlib import import_module
from typing import TYPE_CHECKING, cast

from torchgen_lite.cli.tables.explain import Registrations
from torchgen_lite.cli.tables.stock_fallbacks import STOCK_FALLBACKS

if TYPE_CHECKING:
    from torchgen_lite.analysis.program import Program
    from torchgen_lite.targets.python.autograd import KernelView

# The target whose registrations these are.
TARGET = "python"
_LINE = re.compile(r"^(?P<key>\w+)(?:\[alias\])?: (?P<debug>.*) :: .* \[ (?P<how>[\w ]+) \]$")


def registrations_of_program(program: Program) -> Iterator[Registrations]:
    """The kernels that the entries name, and those that the generator writes: structured, autograd."""
    from torchgen_lite.analysis.checks.kernels import is_asked_by_loop
    from torchgen_lite.analysis.kernels import DENSE_BACKENDS, own_kernels

    generated = _generated_kernels(program)
    defined = program.module_functions(TARGET, "kernels")
    for name, function in ((o.name, o.function) for o in program.resolved.declared):
        entries = [
            entry
            for entry in own_kernels(function)
            if defined is None or not is_asked_by_loop(function, entry, defined)
        ]
        kernels = {entry.key: entry.kernel for entry in entries}
        found = program.resolved.find(function.delegate or name)
        out = None if found is None else found.function
        if out is not None and out.structured:
            for entry in own_kernels(out):
                if defined is not None and is_asked_by_loop(out, entry, defined):
                    continue
                if entry.key in DENSE_BACKENDS:
                    kernels[entry.key] = f"structured {entry.kernel}"
            kernels.setdefault("Meta", "structured, shapes only")
        kernels |= generated.get(name, {})
        yield Registrations(name, kernels, STOCK_FALLBACKS)


def _generated_kernels(program: Program) -> dict[str, dict[str, str]]:
    """Operator to key to kernel, of what the Python target makes of `derivatives:` and of factories."""
    from torchgen_lite.analysis.kernels import own_kernels
    from torchgen_lite.targets import TARGETS
    from torchgen_lite.targets.python.differentiation import build_differentiation
    from torchgen_lite.targets.python.package import build_package
    from torchgen_lite.targets.python.registrations import select_backend

    options, wrong = TARGETS[TARGET].read_options(program.config)
    if wrong:
        return {}  # `generate` reports it; the names of the kernels do not depend on options.
    package = build_package(program.functions, options)
    formulas = program.module_functions(TARGET, "formulas")
    files, _ = build_differentiation(package, program.resolved, formulas)
    views = [view for file in files for view in cast("list[KernelView]", file.context["kernels"])]
    names = {view.name for view in views}
    found: dict[str, dict[str, str]] = {}
    dispatch = {
        index: tuple((entry.key, entry.kernel) for entry in own_kernels(function))
        for index, function in enumerate(program.functions)
    }
    selected = {overload.names.flat for overload in select_backend(package, dispatch)}
    for name, overload in ((o.function.name, o) for o in package.overloads):
        for key in ("Autograd", "ADInplaceOrView"):
            kernel = f"{key.lower()}_{overload.names.flat}"
            if kernel in names:
                found.setdefault(name, {})[key] = kernel
        if overload.names.flat in selected:
            found.setdefault(name, {})["BackendSelect"] = f"select_{overload.names.flat}"
    return found


def registrations_of_torch(
    only: str | None = None, modules: Iterable[str] = ()
) -> Iterator[Registrations]:
    """What an installed torch has registered, from its own dumps. Raises ImportError without torch.

    `modules` are imported before, for the operators that they register.
    """
    import torch

    for module in modules:
        try:
            import_module(module)
        except Exception as error:  # Whatever somebody's module raises is a word to its author.
            raise ImportError(f"Cannot import `{module}`: {error}") from error
    fallbacks = _fallbacks_of_torch()
    names = sorted(torch._C._dispatch_get_all_op_names()) if only is None else [only]
    for name in names:
        kernels = {}
        for line in torch._C._dispatch_dump(name).splitlines():
            match = _LINE.match(line)
            if match is not None:
                passes = "fallthrough " if "fallthrough" in match["how"] else ""
                kernels[match["key"]] = passes + match["debug"]
        yield Registrations(name, kernels, fallbacks)


def _fallbacks_of_torch() -> dict[str, str]:
    """The computed table of an operator without kernels is the table of fallbacks."""
    import torch

    library = torch.library.Library("torchgen_lite_table", "DEF")  # type: ignore[no-untyped-call]
    library.define("nothing() -> ()")  # type: ignore[no-untyped-call]
    cells = torch._C._dispatch_dump_table("torchgen_lite_table::nothing").splitlines()
    return {key: cell.rpartition(" [")[0] for key, cell in (line.split(": ", 1) for line in cells)}
