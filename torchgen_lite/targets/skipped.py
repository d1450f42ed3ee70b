"""Operators that a target leaves out: those that the author names, and those that it has no way to express."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from typing import TYPE_CHECKING

from torchgen_lite.analysis.finding import finding
from torchgen_lite.diagnostics import Diagnostic, did_you_mean
from torchgen_lite.loader.config import locate_option
from torchgen_lite.loader.entry import NativeFunction

if TYPE_CHECKING:
    from torchgen_lite.analysis.program import Program


def select(
    program: Program,
    target: str,
    functions: Iterable[NativeFunction],
    skip: Collection[str],
    refusal: Callable[[NativeFunction], str],
) -> tuple[list[NativeFunction], list[Diagnostic]]:
    """The functions without those that `skip` names, and those for which there is a `refusal`."""
    by_name = {function.name: function for function in functions}
    diagnostics = []
    for name in skip:
        if name not in by_name:
            help_ = did_you_mean(name, by_name) or "names are whole: `mylib::add.out`"
            place = locate_option(program.config, f"target.{target}", "skip")
            message = f"`skip`: there is no operator `{name}`"
            diagnostics.append(Diagnostic("TG510", message, place, help=help_))
    selected = []
    for name, function in by_name.items():
        if name in skip:
            continue
        reason = refusal(function)
        if reason:
            diagnostics.append(skipped(function, reason, target))
        else:
            selected.append(function)
    return selected, diagnostics


def has_any_number(function: NativeFunction) -> bool:
    """Whether a schema has `...` where arguments or results are, which no signature has."""
    return function.func.is_vararg or function.func.is_varret


def skipped(function: NativeFunction, reason: str, target: str) -> Diagnostic:
    """The warning that a target generates nothing for an operator."""
    schema = function.func
    place = schema.name_span or schema.span
    message = f"`{schema.full_name}` {reason}"
    return finding(function, "TG511", message, place, f"left out of target `{target}`")
