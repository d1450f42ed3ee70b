"""Why a call runs the kernel it runs, from names alone: no kernel is imported or called.

The functions here take `Registrations`, which a loaded schema file and a live dispatcher give alike. A
label that begins with the word `fallthrough` stands for a kernel that lets calls pass.

    for step in why(Registrations("ns::op", {"CPU": "op_cpu"}, {}), ["CPU"]): ...
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from torchgen_lite.runtime.keys import RUNTIME_KEYS, SLOT_OF, DispatchKey, parse_dispatch_key
from torchgen_lite.runtime.keyset import BACKEND_MASK, DispatchKeySet
from torchgen_lite.runtime.named_sets import COMPOSITE_KEYS, DEFAULT_EXCLUDED, DEFAULT_INCLUDED
from torchgen_lite.runtime.operator import OperatorHandle
from torchgen_lite.runtime.table import FALLBACK, MISSING, RULES, Choice, Plan, compute_plan

FALLTHROUGH = "fallthrough"
FALLBACK_STEP = len(RULES) + 1
MISSING_STEP = FALLBACK_STEP + 1
FALLBACK_TEXT = "a backend fallback is registered for this key"


class Registrations(NamedTuple):
    """An operator as data: what is registered at which keys, and the backend fallbacks around it."""

    name: str
    kernels: Mapping[str, str]
    fallbacks: Mapping[str, str]


class Cell(NamedTuple):
    """A slot: the rule that decided, its origin word, the key of the kernel and the kernel's label."""

    key: str
    step: int
    origin: str
    source: str
    label: str

    @property
    def falls_through(self) -> bool:
        return is_fallthrough(self.label)


class Step(NamedTuple):
    """One dispatch: the keyset, the slot it leads to, and (number, text, held) of each rule looked at."""

    how: str
    keyset: DispatchKeySet
    cell: Cell
    rules: tuple[tuple[int, str, bool], ...]


class Why(NamedTuple):
    """A call and what its kernels redispatch to. `end` says why the chain goes no further."""

    keys: DispatchKeySet
    joined: DispatchKeySet
    skipped: tuple[str, ...]
    steps: tuple[Step, ...]
    end: str


def is_fallthrough(label: str) -> bool:
    return label.partition(" ")[0] in (FALLTHROUGH, "fallthrough_kernel")


def registrations_of(operator: OperatorHandle) -> Registrations:
    """The registrations of a live operator: labels are the sites of registration."""

    def labels(kernels: Mapping[DispatchKey, object]) -> dict[str, str]:
        return {key.name: str(kernel) for key, kernel in kernels.items()}

    with operator.dispatcher.lock:
        return Registrations(
            operator.full_name, labels(operator.kernels), labels(operator.dispatcher.fallbacks)
        )


def plan_of(registrations: Registrations) -> Plan:
    """The computed table of an operator. Raises ValueError for an unknown key name."""
    kernels = _by_key(registrations)
    return compute_plan(
        frozenset(kernels),
        frozenset(key for key, label in kernels.items() if is_fallthrough(label)),
        {parse_dispatch_key(key): is_fallthrough(v) for key, v in registrations.fallbacks.items()},
    )


def _by_key(registrations: Registrations) -> dict[DispatchKey, str]:
    # Undefined means CompositeImplicitAutograd, as it does for `Library.impl`.
    return {
        parse_dispatch_key(key) or DispatchKey.CompositeImplicitAutograd: label
        for key, label in registrations.kernels.items()
    }


def table(registrations: Registrations) -> tuple[Cell, ...]:
    """Every slot in order, the missing ones too."""
    plan = plan_of(registrations)
    kernels = _by_key(registrations)
    return tuple(
        _cell(slot, choice, kernels, registrations)
        for slot, choice in zip(RUNTIME_KEYS, plan.choices)
    )


def _cell(
    slot: DispatchKey,
    choice: Choice,
    kernels: Mapping[DispatchKey, str],
    registrations: Registrations,
) -> Cell:
    if choice.source is not None:
        step = next(r.step for r in RULES if r.decide(slot, frozenset(kernels)) is not None)
        return Cell(slot.name, step, choice.origin, choice.source.name, kernels[choice.source])
    if choice.origin == FALLBACK:
        return Cell(
            slot.name, FALLBACK_STEP, FALLBACK, slot.name, registrations.fallbacks[slot.name]
        )
    if choice.origin == MISSING:
        return Cell(slot.name, MISSING_STEP, MISSING, "", "")
    ambiguous = next(rule.step for rule in RULES if rule.origin == "math kernel")
    return Cell(slot.name, ambiguous, choice.origin, "", "")


def _rules_looked_at(cell: Cell) -> tuple[tuple[int, str, bool], ...]:
    steps = [(rule.step, rule.text) for rule in RULES] + [(FALLBACK_STEP, FALLBACK_TEXT)]
    return tuple(
        (number, text, number == cell.step) for number, text in steps if number <= cell.step
    )


def why(
    registrations: Registrations,
    keys: Iterable[str],
    included: DispatchKeySet = DEFAULT_INCLUDED,
    excluded: DispatchKeySet = DEFAULT_EXCLUDED,
) -> Why:
    """What a call whose arguments have these keys runs, and the chain of redispatch below it.

    The chain is that of kernels that redispatch to the keys below their own, as those of autograd,
    tracing and modes do; it ends at a backend or composite kernel. Raises ValueError for unknown keys.
    """
    cells = table(registrations)
    plan = plan_of(registrations)
    asked = DispatchKeySet(parse_dispatch_key(key) for key in keys)
    keyset = (asked | included) - excluded
    mask = plan.mask if plan.backend_masks is None else plan.backend_masks[keyset.backend_index()]
    masked = DispatchKeySet.from_raw_repr(keyset.raw_repr() & mask)
    skipped = tuple(key.name for key in keyset if not masked.has(key))
    steps: list[Step] = []
    current, how, end = masked, "call", ""
    while not end:
        cell = cells[current.dispatch_table_index()]
        steps.append(Step(how, current, cell, _rules_looked_at(cell)))
        end = _end_of_chain(cell, current)
        current = _below(current)
        how = "redispatch"
    return Why(asked, included, skipped, tuple(steps), end)


def _below(keyset: DispatchKeySet) -> DispatchKeySet:
    """What a kernel redispatches to. `full_after` keeps PythonDispatcher, which may be the kernel's own key."""
    key = keyset.highest_priority_type_id()
    return (keyset & DispatchKeySet.full_after(key)).remove(key)


def _end_of_chain(cell: Cell, keyset: DispatchKeySet) -> str:
    """Why a kernel is the last of its chain; empty if it is not."""
    if cell.origin == MISSING:
        return "no kernel serves this key: the call raises MissingKernelError"
    if cell.origin == "ambiguous autogradother":
        return "two kernels could serve this key: the call raises AmbiguousKernelError"
    if cell.falls_through:
        return "a kernel that falls through is not to be run: the call raises"
    if cell.source in {key.name for key in COMPOSITE_KEYS} or cell.origin == "nested kernel":
        return "a composite kernel calls other operators; each of those calls dispatches anew"
    if not _below(keyset).raw_repr() & ~BACKEND_MASK:
        return "no keys are left below this kernel"
    return ""


def render_why(registrations: Registrations, answer: Why) -> str:
    """`why` as text, one block for each dispatch."""
    names = ", ".join(key.name for key in answer.keys) or "no keys"
    lines = [f"{registrations.name} called with {names}"]
    if answer.joined:
        lines.append(f"  joined by the local state: {', '.join(k.name for k in answer.joined)}")
    if answer.skipped:
        lines.append(f"  skipped, nothing to do there: {', '.join(answer.skipped)}")
    for step in answer.steps:
        lines += ["", f"{step.how} with {step.keyset}", f"  highest key: {step.cell.key}"]
        for number, text, held in step.rules:
            lines.append(f"  {'yes' if held else ' no'}  {number}. {text}")
        lines.append(f"  => {_verdict(step.cell)}")
    return "\n".join([*lines, "", f"end: {answer.end}", ""])


def _verdict(cell: Cell) -> str:
    if not cell.label:
        return cell.origin
    where = "" if cell.source == cell.key else f", registered at {cell.source}"
    return f"{cell.origin}: {cell.label}{where}"


def render_table(registrations: Registrations, only: Iterable[str] = ()) -> str:
    """The computed table as text; runs of slots that are alike are one line. `only` picks slots."""
    wanted = {parse_dispatch_key(key).name for key in only}
    cells = [cell for cell in table(registrations) if not wanted or cell.key in wanted]
    runs: list[list[Cell]] = []
    for cell in cells:
        if runs and _alike(runs[-1][-1], cell):
            runs[-1].append(cell)
        else:
            runs.append([cell])
    rows = [(_run_name(run), run[0].origin, _origin_of(run)) for run in runs]
    widths = [max((len(row[i]) for row in rows), default=0) for i in (0, 1)]
    lines = [f"{a:{widths[0]}}  {b:{widths[1]}}  {c}".rstrip() for a, b, c in rows]
    return "\n".join([registrations.name, *(f"  {line}" for line in lines)]) + "\n"


def _alike(a: Cell, b: Cell) -> bool:
    """Whether two slots tell the same: a kernel registered at each of two keys does not."""
    if a.key == "Undefined" or b.key == "Undefined":
        return False  # It is no key, and no one would look for it in a run.
    direct = a.source == a.key or b.source == b.key
    return a[1:3] == b[1:3] and a.label == b.label and (not direct or a.origin == FALLBACK)


def _run_name(run: list[Cell]) -> str:
    if len(run) == 1:
        return run[0].key
    return f"{run[0].key} .. {run[-1].key} ({len(run)})"


def _origin_of(run: list[Cell]) -> str:
    cell = run[0]
    if not cell.label:
        return ""
    aliased = SLOT_OF.get(DispatchKey[cell.source]) is None
    return f"{cell.label}  [{cell.source}]" if aliased else cell.label
