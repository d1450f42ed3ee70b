"""Operators that a target leaves out: those that the author names, and those that it cannot
express."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence

from torchgen_lite.analysis.finding import finding
from torchgen_lite.analysis.namespaces import TORCH_NAMESPACES
from torchgen_lite.analysis.operators import Operator
from torchgen_lite.analysis.policy import BY_WORD, Origin, Policy
from torchgen_lite.analysis.program import Program
from torchgen_lite.diagnostics import Diagnostic, did_you_mean
from torchgen_lite.key_sets import key_sets
from torchgen_lite.loader.config.project import locate_option
from torchgen_lite.loader.entry.entry import NativeFunction
from torchgen_lite.targets import TARGETS
from torchgen_lite.targets.brought import BRINGS, refers
from torchgen_lite.targets.generation import generation_of
from torchgen_lite.targets.output import Selection


def select(
    program: Program,
    target: str,
    skip: Collection[str],
    refusal: Callable[[NativeFunction], str],
    without: Collection[Origin] = (),
    *,
    calls_only: bool = False,
) -> Selection:
    """The declared operators without those that `skip` names or that have a `refusal`; if only typed calls are generated,
    also the derived ones. Nothing is registered for the reasons `without`."""
    resolved, policy = program.resolved, TARGETS[target].policy
    policy = policy._replace(makes=frozenset() if calls_only else policy.makes.difference(without))
    by_name = resolved.declared_by_name
    if calls_only:
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
    takes_one = policy.in_pytorch and not policy.by_range
    several = {function.name for function in program.elsewhere} if takes_one else ()
    for name, operator in by_name.items():
        if name in skip:
            continue
        reason = "has several entries, each for other releases" if name in several else ""
        reason = reason or refusal(operator.function)
        is_here = policy.target == BRINGS and not generation_of(program).libraries
        if program.config.opaque and not is_here and operator.schema.opaque_types:
            reason = f"has a class of Python as a type, which `{BRINGS}` takes if no target is C++"
        if reason:
            refused[name] = reason
            schema, label = operator.schema, f"left out of target `{target}`"
            span, message = schema.name_span or schema.span, f"`{schema.full_name}` {reason}"
            diagnostics.append(finding(operator.function, "TG511", message, span, label))
        else:
            selected.append(operator)
            diagnostics += () if calls_only else _unregistrable(program, operator, policy)
    if policy.in_pytorch and not calls_only:
        diagnostics += _of_executorch(selected, policy)
    return Selection(tuple(selected), policy, tuple(diagnostics), refused)


def _unregistrable(program: Program, operator: Operator, policy: Policy) -> Iterator[Diagnostic]:
    """TG515: what the entry asks for, and the target or the key has not."""
    function = operator.function
    is_over = function.autocast is not None and function.namespace in TORCH_NAMESPACES
    if is_over and Origin.autocast in policy.makes and Origin.autocast_over not in policy.makes:
        message = f"target `{policy.target}` has no `autocast` for an operator of PyTorch"
        hint = "target `cpp-torch` registers it"
        yield finding(function, "TG515", message, function.place("autocast"), "here", hint)
    if function.triton and not policy.in_pytorch:
        message = f"target `{policy.target}` runs no kernels of Triton"
        hint = "target `torch-python` does; leave the operator out here with `skip`"
        yield finding(function, "TG515", message, function.place("triton"), "here", hint)
    for entry in function.dispatch:
        origin = BY_WORD.get(entry.kernel)
        if origin is None:
            continue
        copies = entry.key in key_sets().backends and entry.key not in ("CPU", "Meta")
        if origin not in policy.makes:
            message = f"target `{policy.target}` has no `{entry.kernel}`"
        elif origin is Origin.cpu_fallback and not copies:
            message = f"`{entry.kernel}` copies from a device, and `{entry.key}` is none"
        else:
            continue
        hint = "name a function of another name, or leave the operator out with `skip`"
        if origin is Origin.reference and policy.in_pytorch:
            if operator.name in refers(program, BRINGS):
                continue
            hint = f"add the target `{BRINGS}`, whose package registers it"
        yield finding(function, "TG515", message, entry.kernel_span, "here", hint)


def _of_executorch(operators: Sequence[Operator], policy: Policy) -> Iterator[Diagnostic]:
    """TG515, at the first of the operators whose `kernels` are functions of ExecuTorch."""
    found = [one for one in operators if one.function.place("kernels") is not None]
    if found:
        function, more = found[0].function, len(found) - 1
        message = f"the `kernels` of `{function.func.local_name}`{f' and {more} more' if more else ''} are ExecuTorch's"
        label = f"target `{policy.target}` registers kernels in PyTorch"
        hint = "name PyTorch's kernels under `dispatch`, or use the targets `docs` and `torch-stubs`, which register nothing"
        yield finding(function, "TG515", message, function.place("kernels"), label, hint)
