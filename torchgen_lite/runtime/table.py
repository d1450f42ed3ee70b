"""The rules by which an operator's dispatch table is computed.

Note [Tables are shared]
Which kernel serves which slot depends on where an operator has kernels, not on what they are. So the
rules run once for each distinct *pattern* (the set of keys with kernels, and which of these fall
through) and give a `Plan`, which all operators of that pattern share. An operator holds only its kernels.

The rules are those of c10 `OperatorEntry::computeDispatchTableEntryWithDebug`, in its order. The results are those of
a freshly computed table, whatever the order of registrations: see docs/differences.md.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import NamedTuple

from ..key_sets import INCLUDED_BY_DEFAULT, KeySets, key_sets

Registered = frozenset[str]

_EXPLICIT = "CompositeExplicitAutograd"
_IMPLICIT = "CompositeImplicitAutograd"
SERVE_UNDEFINED = frozenset((_EXPLICIT, f"{_EXPLICIT}NonFunctional", _IMPLICIT))
"""The aliases that also serve the Undefined slot: calls without a tensor."""


class Choice(NamedTuple):
    """What serves a slot: the key that the kernel is registered at, None where there is no kernel."""

    origin: str
    source: str | None


class Rule(NamedTuple):
    """One step. `text` says when it holds; `decide` gives its choice for a slot, or None."""

    step: int
    origin: str
    text: str
    decide: Callable[[KeySets, str, Registered], Choice | None]


def _direct(sets: KeySets, slot: str, registered: Registered) -> Choice | None:
    # Registrations at Undefined are turned into CompositeImplicitAutograd before they get here.
    return Choice("kernel", slot) if slot in registered else None


def _alias(step: int, alias: str, origin: str) -> Rule:
    """The alias has a kernel, and the slot is one of its members; or Undefined, which some serve too."""
    serves_undefined = alias in SERVE_UNDEFINED
    choice = Choice(origin, alias)

    def decide(sets: KeySets, slot: str, registered: Registered) -> Choice | None:
        if alias in registered and (
            slot in sets.members[alias] or (serves_undefined and slot == "Undefined")
        ):
            return choice
        return None

    return Rule(step, origin, f"{alias} has a kernel and serves this key", decide)


def _composite_implicit(sets: KeySets, slot: str, registered: Registered) -> Choice | None:
    if _IMPLICIT not in registered:
        return None
    if slot != "Undefined" and slot not in sets.members[_IMPLICIT]:
        return None
    has_own = not registered.isdisjoint(sets.backends_of[slot])
    if slot == "AutogradOther" and has_own:
        return Choice("ambiguous autogradother", None)
    if has_own or _EXPLICIT in registered:
        return None
    return Choice("math kernel", _IMPLICIT)


RULES: tuple[Rule, ...] = (
    Rule(1, "kernel", "a kernel is registered at this key itself", _direct),
    _alias(2, f"{_EXPLICIT}NonFunctional", "default backend kernel"),
    _alias(3, _EXPLICIT, "default backend kernel"),
    _alias(4, f"{_IMPLICIT}NestedTensor", "nested kernel"),
    Rule(
        5,
        "math kernel",
        f"{_IMPLICIT} has a kernel, serves this key, and no backend below it has its own",
        _composite_implicit,
    ),
    _alias(6, "Autograd", "autograd kernel"),
    _alias(7, "FuncTorchBatchedDecomposition", "batched kernel"),
)
"""The steps that look at the operator's kernels, in order. Two follow them for every operator: the
backend fallback of the slot, and `missing`."""

FALLBACK = "backend fallback"
MISSING = "missing"


def choose(sets: KeySets, slot: str, registered: Registered, has_fallback: bool) -> Choice:
    """What serves a slot of an operator with kernels at `registered`."""
    for rule in RULES:
        choice = rule.decide(sets, slot, registered)
        if choice is not None:
            return choice
    return Choice(FALLBACK, None) if has_fallback else Choice(MISSING, None)


class Plan(NamedTuple):
    """A computed table without its kernels.

    `choices` has one entry a slot. `mask` is what a call's keyset is masked with, so that keys whose
    kernel falls through are skipped; `backend_masks` replaces it, one mask for each backend, where
    backends differ (c10 `DispatchKeyExtractor::requiresBitsetPerBackend_`).
    """

    choices: tuple[Choice, ...]
    mask: int
    backend_masks: tuple[int, ...] | None


def compute_plan(
    registered: Registered,
    falls_through: Registered,
    fallbacks: Mapping[str, bool],
    sets: KeySets | None = None,
) -> Plan:
    """The plan of a pattern. `fallbacks` maps the keys with a backend fallback to whether it falls through.

    Note [Keys that every call includes]
    BackendSelect and ADInplaceOrView are in the local state from the start. ATen gives both a fallback
    that falls through; here, so that a new dispatcher is ready for use, a call skips them where they have
    neither a kernel nor a fallback. Their slots stay empty.
    """
    sets = sets or key_sets()
    choices = tuple(choose(sets, slot, registered, slot in fallbacks) for slot in sets.slots)
    masks = [sets.full_mask] * len(sets.table.backends)
    for slot, choice in zip(sets.slots, choices):
        if choice.origin == FALLBACK:
            skipped = fallbacks[slot]
        elif choice.origin == MISSING:
            skipped = slot in INCLUDED_BY_DEFAULT
        else:
            skipped = choice.source in falls_through
        if skipped:
            functionality, backend = divmod(sets.bits(slot), 1 << len(masks))
            backends: Iterable[int] = range(len(masks))
            if backend:
                backends = (backend.bit_length() - 1,)
            for index in backends:
                masks[index] &= ~(functionality << len(masks))
    same = all(mask == masks[0] for mask in masks)
    return Plan(choices, masks[0], None if same else tuple(masks))


class Cell(NamedTuple):
    """One slot of a computed table: where its kernel was registered, which rule chose it, whether it falls through."""

    debug: str
    origin: str
    fallthrough: bool

    def __str__(self) -> str:
        return f"{'fallthrough ' if self.fallthrough else ''}{self.debug} [{self.origin}]"
