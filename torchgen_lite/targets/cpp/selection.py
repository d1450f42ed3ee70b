"""Which entries a C++ target is made for, and what is wrong with them whatever the library."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from torchgen_lite.analysis.lint.dispatch import unreachable_kernel
from torchgen_lite.analysis.lint.suppress import filter_diagnostics
from torchgen_lite.analysis.namespaces import TORCH_NAMESPACES
from torchgen_lite.analysis.registrable import unregistrable
from torchgen_lite.diagnostics import Diagnostic, suggest
from torchgen_lite.loader.config import locate_option
from torchgen_lite.targets.skipped import has_any_number, skipped

if TYPE_CHECKING:
    from torchgen_lite.analysis.program import Program
    from torchgen_lite.loader.entry import NativeFunction

# A schema with `...` has no type that a call could have.
ANY_NUMBER = "takes or gives any number of values, which a typed call cannot"


def default_namespace(functions: Sequence[NativeFunction]) -> str:
    """The namespace of the first entry; `at` is PyTorch's, and so is everything in it."""
    first = functions[0].namespace if functions else "ops"
    return "aten_ops" if first == "aten" else first


def select(
    program: Program, target: str, functions: Sequence[NativeFunction], skip: Sequence[str]
) -> tuple[list[NativeFunction], list[Diagnostic]]:
    """The functions without those that `skip` names, and those whose schema a typed call cannot have."""
    names = [f.name for f in functions]
    diagnostics = []
    for name in skip:
        if name not in names:
            near = suggest(name, names)
            help_ = f"did you mean `{near}`?" if near else "names are whole: `mylib::add.out`"
            place = locate_option(program.config, f"target.{target}", "skip")
            message = f"`skip`: there is no operator `{name}`"
            diagnostics.append(Diagnostic("TG510", message, place, help=help_))
    selected = []
    for name, function in zip(names, functions):
        if name in skip:
            continue
        if has_any_number(function):
            diagnostics.append(skipped(function, ANY_NUMBER, target))
        else:
            selected.append(function)
    return selected, diagnostics


def check_library(program: Program, functions: Sequence[NativeFunction]) -> list[Diagnostic]:
    """What libtorch refuses to register, and kernels that no call reaches, in what the library defines."""
    own = [f for f in functions if f.namespace not in TORCH_NAMESPACES]
    return [*unregistrable(own), *unreached_kernels(program, own)]


def unreached_kernels(
    program: Program, functions: Sequence[NativeFunction]
) -> tuple[Diagnostic, ...]:
    """Kernels that no call reaches, unless the author has switched the lint rule off."""
    found = list(unreachable_kernel(functions))
    return filter_diagnostics(found, program.config, program.functions, program.sources)
