"""Operators that a target leaves out: those that the author names, and those that it cannot
express."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import TYPE_CHECKING

from torchgen_lite.analysis.finding import finding
from torchgen_lite.analysis.policy import Origin, Policy
from torchgen_lite.diagnostics import Diagnostic, did_you_mean
from torchgen_lite.loader.config import locate_option
from torchgen_lite.loader.entry import NativeFunction
from torchgen_lite.targets.output import Selection

if TYPE_CHECKING:
    from torchgen_lite.analysis.operators import Operator
    from torchgen_lite.analysis.program import Program


def select(
    program: Program,
    policy: Policy,
    skip: Collection[str],
    refusal: Callable[[NativeFunction], str],
    by_name: Mapping[str, Operator] | None = None,
) -> Selection:
    """The operators, by default those that are declared, without those that `skip` names or that have a `refusal`."""
    resolved, target = program.resolved, policy.target
    if by_name is None:
        by_name = resolved.declared_by_name
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
    takes_one = policy.in_pytorch and not policy.by_range
    several = {function.name for function in program.elsewhere} if takes_one else ()
    for name, operator in by_name.items():
        if name in skip:
            continue
        reason = "has several entries, each for other releases" if name in several else ""
        reason = reason or refusal(operator.function)
        if reason:
            refused[name] = reason
            schema, label = operator.schema, f"left out of target `{target}`"
            span, message = schema.name_span or schema.span, f"`{schema.full_name}` {reason}"
            diagnostics.append(finding(operator.function, "TG511", message, span, label))
        else:
            selected.append(operator)
    return Selection(tuple(selected), policy, tuple(diagnostics), refused)


def select_calls(
    program: Program,
    policy: Policy,
    skip: Collection[str],
    refusal: Callable[[NativeFunction], str],
) -> Selection:
    """The operators that have typed calls if nothing else is generated: also the derived ones."""
    every = {operator.name: operator for operator in program.resolved.operators}
    return select(program, policy._replace(makes=frozenset()), skip, refusal, every)
