"""Which entries a C++ target is made for, and how it reports a wrong option."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from torchgen_lite.analysis.derive.names import operator_name
from torchgen_lite.diagnostics import Diagnostic, Label, suggest
from torchgen_lite.loader.config import locate_option

if TYPE_CHECKING:
    from torchgen_lite.analysis.program import Program
    from torchgen_lite.loader.entry import NativeFunction
    from torchgen_lite.targets.python.options import OptionError


def default_namespace(functions: Sequence[NativeFunction]) -> str:
    """The namespace of the first entry; `at` is PyTorch's, and so is everything in it."""
    first = functions[0].namespace if functions else "ops"
    return "aten_ops" if first == "aten" else first


def select(
    program: Program, target: str, functions: Sequence[NativeFunction], skip: Sequence[str]
) -> tuple[list[NativeFunction], list[Diagnostic]]:
    """The functions without those that `skip` names, and those whose schema a typed call cannot have."""
    names = [operator_name(f) for f in functions]
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
        if function.func.is_vararg or function.func.is_varret:
            diagnostics.append(_inexpressible(function, name, target))
        else:
            selected.append(function)
    return selected, diagnostics


def _inexpressible(function: NativeFunction, name: str, target: str) -> Diagnostic:
    """A schema with `...` has no type that a call could have."""
    span = function.func.name_span or function.func.span
    return Diagnostic(
        "TG511",
        f"`{name}` takes or gives any number of values, which a typed call cannot",
        label=Label(span, f"left out of target `{target}`") if span else None,
        severity="warning",
        operator=name,
    )


def wrong_option(
    program: Program, target: str, error: OptionError, known: Sequence[str]
) -> Diagnostic:
    """TG510 at the option in the configuration."""
    help_ = None
    if error.option not in known:
        near = suggest(error.option, known)
        help_ = f"did you mean `{near}`?" if near else f"the options are {', '.join(known)}"
    place = locate_option(program.config, f"target.{target}", error.option)
    return Diagnostic("TG510", str(error), place, help=help_)
