"""Why a call runs the kernel it runs, from names alone: no kernel is imported or called.

The functions here take `Registrations`, which a loaded schema file and an installed torch give alike. A
label that begins with the word `fallthrough` stands for a kernel that lets calls pass.

    for step in why(Registrations("ns::op", {"CPU": "op_cpu"}, {}), ["CPU"]): ...
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from torchgen_lite.key_sets import INCLUDED_BY_DEFAULT, KeySets, key_sets
from torchgen_lite.key_tables import CURRENT, KeyTable
from torchgen_lite.runtime.table import (
    FALLBACK,
    MISSING,
    RULES,
    SERVE_UNDEFINED,
    Choice,
    Plan,
    compute_plan,
)

FALLTHROUGH = "fallthrough"
FALLBACK_STEP = len(RULES) + 1
MISSING_STEP = FALLBACK_STEP + 1
FALLBACK_TEXT = "a backend fallback is registered for this key"


class Registrations(NamedTuple):
    """An operator as data: what is registered at which keys, and the backend fallbacks around it.

    `keys` are those of the release that it is registered with.
    """

    name: str
    kernels: Mapping[str, str]
    fallbacks: Mapping[str, str]
    keys: KeyTable = CURRENT

    @property
    def sets(self) -> KeySets:
        return key_sets(self.keys)


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
    """One dispatch: its keys, the slot they lead to, and (number, text, held) of each rule looked at."""

    how: str
    keys: tuple[str, ...]
    cell: Cell
    rules: tuple[tuple[int, str, bool], ...]


class Why(NamedTuple):
    """A call and what its kernels redispatch to. `end` says why the chain goes no further."""

    keys: tuple[str, ...]
    joined: tuple[str, ...]
    skipped: tuple[str, ...]
    steps: tuple[Step, ...]
    end: str


def is_fallthrough(label: str) -> bool:
    return label.partition(" ")[0] in (FALLTHROUGH, "fallthrough_kernel")


def plan_of(registrations: Registrations) -> Plan:
    """The computed table of an operator. Raises ValueError for an unknown key name."""
    sets, kernels = registrations.sets, _by_key(registrations)
    return compute_plan(
        frozenset(kernels),
        frozenset(key for key, label in kernels.items() if is_fallthrough(label)),
        {sets.parse(key): is_fallthrough(v) for key, v in registrations.fallbacks.items()},
        sets,
    )


def _by_key(registrations: Registrations) -> dict[str, str]:
    # Undefined means CompositeImplicitAutograd, as it does for `Library.impl`.
    parsed = {registrations.sets.parse(key): label for key, label in registrations.kernels.items()}
    if "Undefined" in parsed:
        parsed["CompositeImplicitAutograd"] = parsed.pop("Undefined")
    return parsed


def table(registrations: Registrations) -> tuple[Cell, ...]:
    """Every slot in order, the missing ones too."""
    plan = plan_of(registrations)
    kernels = _by_key(registrations)
    return tuple(
        _cell(slot, choice, kernels, registrations)
        for slot, choice in zip(registrations.sets.slots, plan.choices)
    )


def _cell(
    slot: str, choice: Choice, kernels: Mapping[str, str], registrations: Registrations
) -> Cell:
    if choice.source is not None:
        where = frozenset(kernels)
        step = next(r.step for r in RULES if r.decide(registrations.sets, slot, where) is not None)
        return Cell(slot, step, choice.origin, choice.source, kernels[choice.source])
    if choice.origin == FALLBACK:
        return Cell(slot, FALLBACK_STEP, FALLBACK, slot, registrations.fallbacks[slot])
    if choice.origin == MISSING:
        return Cell(slot, MISSING_STEP, MISSING, "", "")
    ambiguous = next(rule.step for rule in RULES if rule.origin == "math kernel")
    return Cell(slot, ambiguous, choice.origin, "", "")


def _rules_looked_at(cell: Cell) -> tuple[tuple[int, str, bool], ...]:
    steps = [(rule.step, rule.text) for rule in RULES] + [(FALLBACK_STEP, FALLBACK_TEXT)]
    return tuple(
        (number, text, number == cell.step) for number, text in steps if number <= cell.step
    )


def why(
    registrations: Registrations,
    keys: Iterable[str],
    included: Iterable[str] = INCLUDED_BY_DEFAULT,
    excluded: Iterable[str] | None = None,
) -> Why:
    """What a call whose arguments have these keys runs, and the chain of redispatch below it.

    `included` and `excluded` are the local state, by default that of a new thread. The chain is that of
    kernels that redispatch to the keys below their own, as those of autograd, tracing and modes do; it
    ends at a backend or composite kernel. Raises ValueError for unknown keys.
    """
    sets = registrations.sets
    cells = {cell.key: cell for cell in table(registrations)}
    plan = plan_of(registrations)
    asked, joined = sets.bits(*map(sets.parse, keys)), sets.bits(*included)
    # A set loses functionalities alone: a backend stays as long as any of them may need it.
    gone = sets.bits(*(sets.autocast if excluded is None else excluded)) & ~sets.backend_mask
    bits = (asked | joined) & ~gone
    mask = plan.mask
    if plan.backend_masks is not None:
        mask = plan.backend_masks[max((bits & sets.backend_mask).bit_length() - 1, 0)]
    left = set(sets.names(bits & mask))
    skipped = tuple(name for name in sets.names(bits) if name not in left)
    steps: list[Step] = []
    current, how, end = bits & mask, "call", ""
    while not end:
        cell = cells[sets.highest(current)]
        steps.append(Step(how, sets.names(current), cell, _rules_looked_at(cell)))
        below = sets.below(current)
        end = _end_of_chain(cell, not below & ~sets.backend_mask)
        current, how = below, "redispatch"
    return Why(sets.names(asked), sets.names(joined), skipped, tuple(steps), end)


def _end_of_chain(cell: Cell, is_last: bool) -> str:
    """Why a kernel is the last of its chain; empty if it is not."""
    if cell.origin == MISSING:
        return "no kernel serves this key: the call raises MissingKernelError"
    if cell.origin == "ambiguous autogradother":
        return "two kernels could serve this key: the call raises AmbiguousKernelError"
    if cell.falls_through:
        return "a kernel that falls through is not to be run: the call raises"
    if cell.source in SERVE_UNDEFINED or cell.origin == "nested kernel":
        return "a composite kernel calls other operators; each of those calls dispatches anew"
    return "no keys are left below this kernel" if is_last else ""


def render_why(registrations: Registrations, answer: Why) -> str:
    """`why` as text, one block for each dispatch."""
    names = ", ".join(answer.keys) or "no keys"
    lines = [f"{registrations.name} called with {names}"]
    if answer.joined:
        lines.append(f"  joined by the local state: {', '.join(answer.joined)}")
    if answer.skipped:
        lines.append(f"  skipped, nothing to do there: {', '.join(answer.skipped)}")
    for step in answer.steps:
        keys = f"DispatchKeySet({', '.join(step.keys)})"
        lines += ["", f"{step.how} with {keys}", f"  highest key: {step.cell.key}"]
        for number, text, held in step.rules:
            lines.append(f"  {'yes' if held else ' no'}  {number}. {text}")
        lines.append(f"  => {_verdict(step.cell)}")
    return "\n".join([*lines, "", f"end: {answer.end}", ""])


def _verdict(cell: Cell) -> str:
    if not cell.label:
        return cell.origin
    where = "" if cell.source == cell.key else f", registered at {cell.source}"
    return f"{cell.origin}: {cell.label}{where}"


def why_data(registrations: Registrations, answer: Why) -> dict[str, object]:
    """`why` as JSON data."""
    steps = [
        {
            "how": step.how,
            "keys": list(step.keys),
            "slot": cell_data(step.cell),
            "rules": [{"rule": n, "text": text, "holds": holds} for n, text, holds in step.rules],
        }
        for step in answer.steps
    ]
    return {
        "operator": registrations.name,
        "keys": list(answer.keys),
        "joined": list(answer.joined),
        "skipped": list(answer.skipped),
        "steps": steps,
        "end": answer.end,
    }


def table_data(registrations: Registrations, only: Iterable[str] = ()) -> dict[str, object]:
    """The computed table as JSON data; `only` picks slots."""
    return {
        "operator": registrations.name,
        "slots": [cell_data(cell) for cell in _slots(registrations, only)],
    }


def cell_data(cell: Cell) -> dict[str, object]:
    """A slot as JSON data."""
    return {
        "key": cell.key,
        "rule": cell.step,
        "origin": cell.origin,
        "registered_at": cell.source or None,
        "kernel": cell.label or None,
    }


def _slots(registrations: Registrations, only: Iterable[str]) -> list[Cell]:
    wanted = {registrations.sets.parse(key) for key in only}
    return [cell for cell in table(registrations) if not wanted or cell.key in wanted]


def render_table(registrations: Registrations, only: Iterable[str] = ()) -> str:
    """The computed table as text; runs of slots that are alike are one line. `only` picks slots."""
    runs: list[list[Cell]] = []
    for cell in _slots(registrations, only):
        if runs and are_alike(runs[-1][-1], cell):
            runs[-1].append(cell)
        else:
            runs.append([cell])
    aliases = registrations.keys.aliases
    rows = [(run_name(run), run[0].origin, _origin_of(run[0], aliases)) for run in runs]
    widths = [max((len(row[i]) for row in rows), default=0) for i in (0, 1)]
    lines = [f"{a:{widths[0]}}  {b:{widths[1]}}  {c}".rstrip() for a, b, c in rows]
    return "\n".join([registrations.name, *(f"  {line}" for line in lines)]) + "\n"


def are_alike(a: Cell, b: Cell) -> bool:
    """Whether two slots tell the same: a kernel registered at each of two keys does not."""
    if a.key == "Undefined" or b.key == "Undefined":
        return False  # It is not a key, and no one would look for it in a run.
    direct = a.source == a.key or b.source == b.key
    return a[1:3] == b[1:3] and a.label == b.label and (not direct or a.origin == FALLBACK)


def run_name(run: Sequence[Cell]) -> str:
    """`CPU`, or `AutogradOther .. AutogradNestedTensor (18)`."""
    if len(run) == 1:
        return run[0].key
    return f"{run[0].key} .. {run[-1].key} ({len(run)})"


def _origin_of(cell: Cell, aliases: tuple[str, ...]) -> str:
    return f"{cell.label}  [{cell.source}]" if cell.source in aliases else cell.label
