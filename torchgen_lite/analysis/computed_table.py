"""The computed dispatch table of an operator, from names alone: no kernel is imported or called.

The functions here take `Registrations`, made from a loaded schema file or an installed torch. A
label that begins with the word `fallthrough` stands for a fallthrough kernel.

    for cell in table(Registrations("ns::op", {"CPU": "op_cpu"}, {})): ...
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple, TypeVar

from torchgen_lite.key_sets import KeySets, key_sets
from torchgen_lite.key_tables import CURRENT, KeyTable
from torchgen_lite.runtime.table import FALLBACK, MISSING, RULES, Plan, choose, compute_plan

_One = TypeVar("_One")
FALLTHROUGH = "fallthrough"
YOURS = "yours"
PYTORCHS = "PyTorch's"
FALLBACK_STEP = len(RULES) + 1
_STEPS = {FALLBACK: FALLBACK_STEP, MISSING: FALLBACK_STEP + 1}
FALLBACK_TEXT = "a backend fallback is registered for this key"


# c10's words for composite kernels are older than the keys, which authors of kernels know.
CALLED = {
    "math kernel": "CompositeImplicitAutograd",
    "default backend kernel": "CompositeExplicitAutograd",
    "nested kernel": "CompositeImplicitAutogradNestedTensor",
}


class Registrations(NamedTuple):
    """An operator as data: its registrations by key, and the backend fallbacks.

    `keys` are the keys of the release that it is registered with. `own` are those at which an author's file has
    something over what PyTorch has; None where the registrations are of one origin.
    """

    name: str
    kernels: Mapping[str, str]
    fallbacks: Mapping[str, str]
    keys: KeyTable = CURRENT
    own: frozenset[str] | None = None

    @property
    def sets(self) -> KeySets:
        return key_sets(self.keys)


class Cell(NamedTuple):
    """A slot: the deciding rule, its origin in c10's words, the kernel's key and the kernel's label, and whose it is:
    `YOURS`, `PYTORCHS`, or empty if nothing serves it or there is one origin."""

    key: str
    step: int
    origin: str
    source: str
    label: str
    whose: str = ""

    @property
    def called(self) -> str:
        """The origin as readers are told."""
        if self.origin in CALLED:
            return self.source
        return self.origin

    @property
    def falls_through(self) -> bool:
        return is_fallthrough(self.label)


def is_fallthrough(label: str) -> bool:
    return label.partition(" ")[0] in (FALLTHROUGH, "fallthrough_kernel")


def plan_of(registrations: Registrations) -> Plan:
    """The computed table of an operator. Raises ValueError for an unknown key name."""
    sets = registrations.sets
    kernels = kernels_by_key(registrations)
    falling = frozenset(key for key, label in kernels.items() if is_fallthrough(label))
    fallbacks = {
        sets.parse(key): is_fallthrough(label) for key, label in registrations.fallbacks.items()
    }
    return compute_plan(frozenset(kernels), falling, fallbacks, sets)


def kernels_by_key(registrations: Registrations) -> dict[str, str]:
    """The label of each kernel, by its key in the table."""
    # Undefined means CompositeImplicitAutograd, as it does for `Library.impl`.
    parsed = {registrations.sets.parse(key): label for key, label in registrations.kernels.items()}
    if "Undefined" in parsed:
        parsed["CompositeImplicitAutograd"] = parsed.pop("Undefined")
    return parsed


def table(registrations: Registrations) -> tuple[Cell, ...]:
    """Every slot in order, including missing ones."""
    return tuple(_cells(registrations, registrations.sets.slots))


def cell_of(registrations: Registrations, slot: str) -> Cell:
    """One slot of the table."""
    return next(_cells(registrations, (slot,)))


def _cells(registrations: Registrations, slots: Iterable[str]) -> Iterator[Cell]:
    kernels = kernels_by_key(registrations)
    registered = frozenset(kernels)
    for slot in slots:
        has_fallback = slot in registrations.fallbacks
        step, origin, source = _filled(registered, slot, has_fallback, registrations.keys)
        label = registrations.fallbacks[slot] if origin == FALLBACK else kernels.get(source, "")
        whose = "" if registrations.own is None or not source else PYTORCHS
        if registrations.own and source in registrations.own:
            whose = YOURS
        yield Cell(slot, step, origin, source, label, whose)


@lru_cache(maxsize=1 << 16)
def _filled(
    registered: frozenset[str], slot: str, has_fallback: bool, keys: KeyTable
) -> tuple[int, str, str]:
    """Rule, origin and kernel key of a slot, which many operators share."""
    sets = key_sets(keys)
    choice = choose(sets, slot, registered, has_fallback)
    decided = (r.step for r in RULES if r.decide(sets, slot, registered) is not None)
    step = _STEPS.get(choice.origin) or next(decided)
    source = slot if choice.origin == FALLBACK else choice.source or ""
    return step, choice.origin, source


def are_alike(a: Cell, b: Cell) -> bool:
    """Whether two slots say the same; they don't if each key has its own registration."""
    if a.key == "Undefined" or b.key == "Undefined":
        return False  # Not a key, and readers would not look for it inside a run.
    direct = a.source == a.key or b.source == b.key
    return a[1:3] == b[1:3] and a.label == b.label and (not direct or a.origin == FALLBACK)


def runs_of(cells: Iterable[_One], alike: Callable[[_One, _One], bool]) -> list[list[_One]]:
    """The slots, with neighbors that are alike in one run."""
    runs: list[list[_One]] = []
    for cell in cells:
        if runs and alike(runs[-1][-1], cell):
            runs[-1].append(cell)
        else:
            runs.append([cell])
    return runs


def run_name(run: Sequence[Cell]) -> str:
    """`CPU`, or `AutogradOther .. AutogradNestedTensor (18)`."""
    if len(run) == 1:
        return run[0].key
    return f"{run[0].key} .. {run[-1].key} ({len(run)})"
