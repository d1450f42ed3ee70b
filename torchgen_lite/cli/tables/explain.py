"""Why a call runs a certain kernel, from names alone: no kernel is imported or called.

Registrations are data (`analysis.computed_table`), and so are the answers.

    for step in why(Registrations("ns::op", {"CPU": "op_cpu"}, {}), ["CPU"]): ...
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from torchgen_lite.analysis.computed_table import (
    FALLBACK_STEP,
    FALLBACK_TEXT,
    PYTORCHS,
    YOURS,
    Cell,
    Registrations,
    are_alike,
    plan_of,
    run_name,
    runs_of,
    table,
)
from torchgen_lite.cli.pages import Row, Section, section_text
from torchgen_lite.diagnostics.text import counted
from torchgen_lite.key_sets import INCLUDED_BY_DEFAULT, KeySets
from torchgen_lite.loader.config.options import Json
from torchgen_lite.runtime.table import MISSING, RULES, SERVE_UNDEFINED


class Step(NamedTuple):
    """One dispatch: its keys, and the resulting slot."""

    how: str
    keys: Sequence[str]
    cell: Cell

    @property
    def rules(self) -> list[tuple[int, str, bool]]:
        """The number and the text of each rule tried, and whether it held."""
        every = [*[(rule.step, rule.text) for rule in RULES], (FALLBACK_STEP, FALLBACK_TEXT)]
        last = self.cell.step
        return [(number, text, number == last) for number, text in every if number <= last]


class LocalSets(NamedTuple):
    """The two sets of a thread: a call has the keys of its arguments and the included ones, without the excluded.

    Of an excluded key that belongs to a backend, the functionality is excluded, for every backend.
    """

    included: frozenset[str]
    excluded: frozenset[str]


def of_a_new_thread(sets: KeySets) -> LocalSets:
    """What a thread begins with: c10 `default_included_set` and `default_excluded_set`."""
    return LocalSets(frozenset(INCLUDED_BY_DEFAULT), frozenset(sets.autocast))


class Why(NamedTuple):
    """A call and what its kernels redispatch to. `end` says why the chain goes no further.

    `joined` are the keys that the local state adds, and `excluded` those of the arguments that it takes away.
    """

    keys: Sequence[str]
    joined: Sequence[str]
    excluded: Sequence[str]
    skipped: Sequence[str]
    steps: Sequence[Step]
    end: str


def why(registrations: Registrations, keys: Iterable[str], local: LocalSets | None = None) -> Why:
    """What a call whose arguments have these keys runs, and the chain of redispatch below it.

    The local state is a new thread's, unless another is given. The chain follows kernels that redispatch to the keys
    below their own, as for autograd, tracing and modes, up to a backend or composite kernel. Raises ValueError for
    unknown keys.
    """
    sets = registrations.sets
    local = of_a_new_thread(sets) if local is None else local
    cells = {cell.key: cell for cell in table(registrations)}
    plan = plan_of(registrations)
    asked = sets.bits(*map(sets.parse, keys))
    joined = sets.bits(*local.included)
    # A set only loses functionalities: backends stay, since any remaining one may need them.
    gone = sets.bits(*local.excluded) & ~sets.backend_mask
    bits = (asked | joined) & ~gone
    kept = set(sets.names(bits))
    excluded = [name for name in sets.names(asked | joined) if name not in kept]
    mask = plan.mask
    if plan.backend_masks is not None:
        mask = plan.backend_masks[max((bits & sets.backend_mask).bit_length() - 1, 0)]
    left = set(sets.names(bits & mask))
    skipped = [name for name in sets.names(bits) if name not in left]
    steps: list[Step] = []
    current = bits & mask
    how = "call"
    end = ""
    while not end:
        cell = cells[sets.highest(current)]
        steps.append(Step(how, sets.names(current), cell))
        below = sets.below(current)
        end = _end_of_chain(registrations, cell, not below & ~sets.backend_mask)
        current = below
        how = "redispatch"
    return Why(sets.names(asked), sets.names(joined), excluded, skipped, steps, end)


def _end_of_chain(registrations: Registrations, cell: Cell, is_last: bool) -> str:
    """Why a kernel is the last of its chain; empty if it is not."""
    if cell.origin == MISSING and registrations.own is not None:
        unsaid = f"unless your code registers a fallback for {cell.key}, which no schema file says"
        return f"no kernel serves this key: the call raises NotImplementedError, {unsaid} (`--fallback {cell.key}`)"
    if cell.origin == MISSING:
        return "no kernel serves this key: the call raises MissingKernelError"
    if cell.origin == "ambiguous autogradother":
        return "two kernels could serve this key: the call raises AmbiguousKernelError"
    if cell.falls_through:
        return "a fallthrough kernel cannot be run: the call raises"
    if cell.source in SERVE_UNDEFINED or cell.origin == "nested kernel":
        return (
            "a composite kernel calls other operators, and each of these calls is dispatched anew"
        )
    return "no keys are left below this kernel" if is_last else ""


def render_why(registrations: Registrations, answer: Why, rows: str = "") -> str:
    """`why` as text, one block for each dispatch; `rows` says among which kernels the last one is chosen."""
    names = ", ".join(answer.keys) or "no keys"
    lines = [f"{registrations.name} called with {names}"]
    if answer.joined:
        lines.append(f"  included by the local state: {', '.join(answer.joined)}")
    if answer.excluded:
        lines.append(f"  excluded by the local state: {', '.join(answer.excluded)}")
        if any(key in registrations.sets.autocast for key in answer.excluded):
            lines.append(
                "    (keys of autocast are, unless `--autocast DEVICE` says that it is on)"
            )
    if answer.skipped:
        lines.append(f"  skipped, as there is nothing to do: {', '.join(answer.skipped)}")
    for step in answer.steps:
        keys = f"DispatchKeySet({', '.join(step.keys)})"
        lines += ["", f"{step.how} with {keys}", f"  highest key: {step.cell.key}"]
        for number, text, held in step.rules:
            lines.append(f"  {'yes' if held else ' no'}  {number}. {text}")
        lines.append(f"  => {_verdict(step.cell)}")
    if rows:
        lines.append(rows.rstrip("\n"))
    return "\n".join([*lines, "", f"end: {answer.end}", ""])


def _verdict(cell: Cell) -> str:
    if not cell.label:
        return cell.called
    if cell.source in (cell.key, cell.called):
        where = ""
    else:
        where = f", registered at {cell.source}"
    whose = f" ({cell.whose})" if cell.whose else ""
    return f"{cell.called}{whose}: {cell.label}{where}"


def why_data(registrations: Registrations, answer: Why) -> Json:
    steps = []
    for step in answer.steps:
        rules = []
        for number, text, holds in step.rules:
            rules.append({"rule": number, "text": text, "holds": holds})
        steps.append(
            {
                "how": step.how,
                "keys": list(step.keys),
                "slot": cell_data(step.cell),
                "rules": rules,
            }
        )
    return {"operator": registrations.name, **answer._asdict(), "steps": steps}


def table_data(registrations: Registrations, only: Iterable[str] = ()) -> Json:
    """The computed table as JSON data; `only` picks slots."""
    slots = [cell_data(cell) for cell in _slots(registrations, only)]
    return {"operator": registrations.name, "slots": slots}


def cell_data(cell: Cell) -> Json:
    return {
        "key": cell.key,
        "rule": cell.step,
        "origin": cell.origin,
        "registered_at": cell.source or None,
        "kernel": cell.label or None,
        **({"whose": cell.whose} if cell.whose else {}),
    }


def _slots(registrations: Registrations, only: Iterable[str]) -> list[Cell]:
    wanted = {registrations.sets.parse(key) for key in only}
    return [cell for cell in table(registrations) if not wanted or cell.key in wanted]


def render_table(registrations: Registrations, only: Iterable[str] = (), width: int = 0) -> str:
    """The computed table as text, with equal neighboring slots on one line; what is yours before what is PyTorch's.

    `only` picks slots. Without it those that nothing serves are counted, not listed.
    """
    wanted = tuple(only)
    aliases = registrations.keys.aliases
    groups: dict[str, list[Row]] = {}
    unserved = 0
    for run in runs_of(_slots(registrations, wanted), are_alike):
        cell = run[0]
        is_missing = run[0].origin == MISSING
        if is_missing and not wanted:
            unserved += len(run)
            continue
        is_said = cell.source == cell.called or cell.source not in aliases
        kernel = cell.label if is_said else f"{cell.label}  [{cell.source}]"
        row = (run_name(run), cell.called, kernel)
        group = "" if registrations.own is None else cell.whose or "nothing"
        groups.setdefault(group, []).append(row)
    rows: list[Row] = groups.pop("", [])
    for title in (YOURS, PYTORCHS, "nothing"):
        lines = groups.get(title, [])
        rows += [(title,), *((f"  {key}", *rest) for key, *rest in lines)] if lines else []
    heads = ("key", "what serves it", "kernel")
    text = section_text(Section(registrations.name, rows, heads), width)
    return text + (f"  nothing serves {counted(unserved, 'key')}\n" if unserved else "")
