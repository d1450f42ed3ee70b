"""Operators that a target leaves out: those that the author names, and those that it cannot
express."""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import TYPE_CHECKING

from torchgen_lite.analysis.finding import finding
from torchgen_lite.analysis.policy import Origin, Policy
from torchgen_lite.diagnostics import Diagnostic, did_you_mean
from torchgen_lite.loader.config import locate_option
from torchgen_lite.loader.entry import NativeFunction
from torchgen_lite.targets.output import Selection

if TYPE_CHECKING:
    from torchgen_lite.analysis.program import Program


def select(
    program: Program,
    policy: Policy,
    skip: Collection[str],
    refusal: Callable[[NativeFunction], str],
    *,
    calls_only: bool = False,
) -> Selection:
    """The operators, without those that `skip` names or that have a `refusal`.

    Derived operators have typed calls even if nothing else is generated for them.
    """
    resolved, target = program.resolved, policy.target
    by_name = resolved.declared_by_name
    if calls_only:
        policy = policy._replace(makes=frozenset())
        by_name = {operator.name: operator for operator in resolved.operators}
    if Origin.copied in policy.makes and resolved.copying:
        by_name = {**by_name, **{operator.name: operator for operator in resolved.copying}}
    diagnostics = []
    for name in skip:
        if name not in by_name:
            help_ = did_you_mean(name, by_name) or "names are whole: `mylib::add.out`"
            place = locate_option(program.config, f"target.{target}", "skip")
            message = f"`skip`: there is no operator `{name}`"
            diagnostics.append(Diagnostic("TG510", message, place, help=help_))
    selected = []
    refused = {}
    for name, operator in by_name.items():
        if name in skip:
            continue
        reason = refusal(operator.function)
        if reason:
            refused[name] = reason
            diagnostics.append(skipped(operator.function, reason, target))
        else:
            selected.append(operator)
    return Selection(tuple(selected), policy, tuple(diagnostics), refused)


def has_any_number(function: NativeFunction) -> bool:
    """Whether a schema has `...` among its arguments or results, which no signature can express."""
    return function.func.is_vararg or function.func.is_varret


def skipped(function: NativeFunction, reason: str, target: str) -> Diagnostic:
    """The warning that a target generates nothing for an operator."""
    schema = function.func
    place = schema.name_span or schema.span
    message = f"`{schema.full_name}` {reason}"
    return finding(function, "TG511", message, place, f"left out of target `{target}`")
