"""What a target leaves out: operators that the author names or that it cannot express, and fields of entries, which the
package of another target may bring."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence

from torchgen_lite.analysis.finding import finding
from torchgen_lite.analysis.operators import Operator, functions_of
from torchgen_lite.analysis.policy import BY_WORD, Origin, Policy
from torchgen_lite.analysis.program import Program
from torchgen_lite.diagnostics import did_you_mean
from torchgen_lite.key_sets import key_sets
from torchgen_lite.loader.entry.entry import DispatchEntry, NativeFunction
from torchgen_lite.schema.grouped import by_name, names_of
from torchgen_lite.targets import TARGETS
from torchgen_lite.targets.generation import generation_beside, generation_of, left_out
from torchgen_lite.targets.output import Findings, Selection, wrong_option

BRINGS = "torch-python"
# Fields that no registration of a kernel comes from.
PLAIN = ("fake", "effects", "checkpoint", "decompose", "triton", "flops")
# What is registered from a field, and the key at which an author's kernel takes its place.
_BROUGHT = {
    "derivatives": (Origin.formulas, "Autograd"),
    "autocast": (Origin.autocast, "Autocast"),
    "vmap": (Origin.vmap, "FuncTorchBatched"),
    "axes": (Origin.axes, "FuncTorchBatched"),
}
BROUGHT = (*_BROUGHT, *PLAIN)
"""The fields of which the package in Python registers something, beside any library."""
# Of these other dispatchers have formulas, and refuse `triton`.
IN_PYTORCH = [field for field in BROUGHT if field not in ("derivatives", "triton")]


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
    policy = TARGETS[target].policy
    makes = frozenset[Origin]()
    if not calls_only:
        makes = policy.makes.difference(without)
    policy = policy._replace(makes=makes)
    candidates = _candidates(program, policy, calls_only=calls_only)
    diagnostics = [*_unknown(program, target, skip, candidates)]
    several = _several(program, policy)
    selected = []
    refused = {}
    for name, operator in candidates.items():
        if name in skip:
            continue
        reason = _refusal(program, operator, policy)
        if not reason and name in several:
            reason = "has several entries, each for other releases"
        reason = reason or refusal(operator.function)
        if reason:
            refused[name] = reason
            diagnostics.append(left_out(operator, target, reason))
            continue
        selected.append(operator)
        if not calls_only:
            diagnostics += _unregistrable(program, operator, policy)
    if policy.in_pytorch and not calls_only:
        diagnostics += _of_executorch(selected, policy)
    return Selection(selected, policy, diagnostics, refused)


def _candidates(program: Program, policy: Policy, *, calls_only: bool) -> Mapping[str, Operator]:
    """The operators that a target might take, by name."""
    resolved = program.resolved
    candidates = by_name(resolved.operators) if calls_only else resolved.declared_by_name
    if Origin.copied in policy.makes and resolved.copying:
        return {**candidates, **by_name(resolved.copying)}
    return candidates


def _unknown(
    program: Program, target: str, skip: Collection[str], candidates: Mapping[str, Operator]
) -> Findings:
    """TG510, for names under `skip` that no operator has."""
    for name in skip:
        if name not in candidates:
            help_ = did_you_mean(name, candidates) or "names are whole: `mylib::add.out`"
            message = f"`skip`: there is no operator `{name}`"
            yield wrong_option(program.config, target, "skip", message, help_)


def _several(program: Program, policy: Policy) -> Collection[str]:
    """The operators with an entry for other releases too, in a target whose code has one for each."""
    if policy.by_range or not policy.in_pytorch:
        return ()
    return set(names_of(program.elsewhere))


def _refusal(program: Program, operator: Operator, policy: Policy) -> str:
    """Why an operator is for another kind of project, whatever its target can express."""
    if not program.config.opaque or not operator.schema.opaque_types:
        return ""
    if policy.target == BRINGS and not generation_of(program).libraries:
        return ""
    return f"has a class of Python as a type, which `{BRINGS}` takes if no target is C++"


def _unregistrable(program: Program, operator: Operator, policy: Policy) -> Findings:
    """TG515: what the entry asks for, and the target or the key has not. TG535, where it only does without."""
    function = operator.function
    if function.autogen and not function.is_pytorchs:
        # Of every target the same is true, so that several say it once.
        message = "no target registers what `autogen` names"
        hint = "operators are derived in PyTorch alone: write an entry for each"
        yield finding(function, "TG535", message, function.place("autogen"), "not used", hint)
    is_over = function.autocast is not None and function.is_pytorchs
    if is_over and Origin.autocast in policy.makes and Origin.autocast_over not in policy.makes:
        message = f"target `{policy.target}` has no `autocast` for an operator of PyTorch"
        hint = "target `cpp-torch` registers it"
        yield finding(function, "TG515", message, function.place("autocast"), "here", hint)
    if function.triton and not policy.in_pytorch:
        message = f"target `{policy.target}` runs no kernels of Triton"
        hint = "target `torch-python` does; leave the operator out here with `skip`"
        yield finding(function, "TG515", message, function.place("triton"), "here", hint)
    for entry in function.dispatch:
        # One that registers nothing here, since others have the kernels, has no part in choosing.
        if entry.rows and Origin.selected not in TARGETS[policy.target].policy.makes:
            message = f"target `{policy.target}` chooses among no kernels"
            hint = "name one kernel, or leave the operator out with `skip`"
            yield finding(function, "TG515", message, entry.kernel_span, "several here", hint)
        yield from _of_python(program, operator, entry, policy)
        yield from _of_word(program, operator, entry, policy)


def _of_word(
    program: Program, operator: Operator, entry: DispatchEntry, policy: Policy
) -> Findings:
    """TG515: a word in place of a kernel that means nothing to the target, or for the key."""
    origin = BY_WORD.get(entry.kernel)
    if origin is None:
        return
    copies = entry.key in key_sets().backends and entry.key not in ("CPU", "Meta")
    hint = "name a function of another name, or leave the operator out with `skip`"
    if origin not in policy.makes:
        message = f"target `{policy.target}` has no `{entry.kernel}`"
    elif origin is Origin.cpu_fallback and not copies:
        message = f"`{entry.kernel}` copies from a device, and `{entry.key}` is none"
    else:
        return
    if origin is Origin.reference and policy.in_pytorch:
        if operator.name in generation_beside(program).has_reference(BRINGS):
            return
        hint = f"add the target `{BRINGS}`, whose package registers it"
    yield finding(operator.function, "TG515", message, entry.kernel_span, "here", hint)


def _of_python(
    program: Program, operator: Operator, entry: DispatchEntry, policy: Policy
) -> Findings:
    """TG515: options of a kernel, or its language, where no package of Python has it."""
    if policy.target == BRINGS:
        return
    python = generation_beside(program).python_kernels if policy.in_pytorch else None
    hint = f"target `{BRINGS}` does; leave the operator out here with `skip`"
    for row in entry.rows:
        if python is not None and python.find(row.kernel):
            continue
        for is_given, problem, label in (
            (row.tune, "passes no options of `tune`", "has options here"),
            (row.language, "knows no `language` of kernels", "has one here"),
        ):
            if is_given:
                message = f"target `{policy.target}` {problem}"
                yield finding(operator.function, "TG515", message, row.kernel_span, label, hint)


def _of_executorch(operators: Sequence[Operator], policy: Policy) -> Findings:
    """TG515, at the first of the operators whose `kernels` are functions of ExecuTorch."""
    named = [function for function in functions_of(operators) if function.place("kernels")]
    if named:
        function = named[0]
        more = len(named) - 1
        message = f"the `kernels` of `{function.func.local_name}`{f' and {more} more' if more else ''} are ExecuTorch's"
        label = f"target `{policy.target}` registers kernels in PyTorch"
        hint = "name PyTorch's kernels under `dispatch`, or use the targets `docs` and `torch-stubs`, which register nothing"
        yield finding(function, "TG515", message, function.place("kernels"), label, hint)


def check_brought(
    program: Program, target: str, operators: Sequence[Operator], fields: Sequence[str]
) -> Findings:
    """TG535: what entries say in `fields`, for which the target has no kernel, and neither has what is loaded with it. To a
    target for another dispatcher, they say it to those for PyTorch, if there are any."""
    generation = generation_beside(program)
    in_pytorch = TARGETS[target].policy.in_pytorch
    if not in_pytorch and any(beside.policy.in_pytorch for beside in generation.targets):
        return
    python = generation.python
    brought = _brought_by(program, python) if python is not None else set()
    help_ = f"add the target `{BRINGS}`, whose package registers it"
    if not in_pytorch:
        help_ = "write a kernel by hand, or remove the field"
    elif python is not None:
        help_ = f"see what target `{BRINGS}` leaves out: `skip`, `autograd`"
    for field in fields:
        for operator in operators:
            place = operator.function.place(field)
            is_brought = (operator.name, field) in brought or _is_by_hand(operator, field)
            if place is not None and not is_brought:
                message = f"target `{target}` registers nothing for `{field}`"
                yield finding(operator.function, "TG535", message, place, "not used", help_)


def _brought_by(program: Program, python: Selection) -> set[tuple[str, str]]:
    """The operators, each with a field of which the package in Python registers something."""
    brought = {(operator.name, field) for operator in python.operators for field in PLAIN}
    field_of = {origin: field for field, (origin, _) in _BROUGHT.items()} | {Origin.loop: "vmap"}
    for registration in python.registrations(program):
        if registration.origin in field_of:
            brought.add((registration.operator.name, field_of[registration.origin]))
    return brought


def _is_by_hand(operator: Operator, field: str) -> bool:
    """Whether a kernel of the author's does what the field says."""
    if field not in _BROUGHT:
        return False
    _, key = _BROUGHT[field]
    return any(kernel.key.startswith(key) for kernel in operator.own_kernels)
