"""The rules by which an operator's dispatch table is computed.

Note [Tables are shared]
Which kernel serves which slot depends on where an operator has kernels, not on what they are. So the
rules run once for each distinct *pattern* (the set of keys with kernels, and which of these fall
through) and give a `Plan`, which all operators of that pattern share. An operator holds only its kernels.

The rules are those of c10 `OperatorEntry::computeDispatchTableEntryWithDebug`, in its order. Answers
are those of a table computed afresh, whatever the order of registrations: see docs/differences.md.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple

from torchgen_lite.runtime.keys import (
    NUM_BACKENDS,
    RUNTIME_KEYS,
    DispatchKey,
    to_backend_component,
)
from torchgen_lite.runtime.keyset import BACKEND_MASK, FULL_MASK, DispatchKeySet
from torchgen_lite.runtime.named_sets import (
    AUTOGRADOTHER_BACKENDS,
    DEFAULT_INCLUDED,
    backend_keyset_from_autograd,
    is_included_in_alias,
)

_K = DispatchKey
Registered = frozenset[DispatchKey]


class Choice(NamedTuple):
    """What serves a slot: the key that the kernel is registered at, None where there is no kernel."""

    origin: str
    source: DispatchKey | None


class Rule(NamedTuple):
    """One step. `text` says when it holds; `decide` gives its choice for (slot, registered), or None."""

    step: int
    origin: str
    text: str
    decide: Callable[[DispatchKey, Registered], Choice | None]


def _has_kernel_for_any(keyset: DispatchKeySet, registered: Registered) -> bool:
    # Alias keys own no bit, so a superset test would find them in every set.
    return any(keyset.has(key) for key in registered if key < _K.Autograd)


def has_backend_kernel(slot: DispatchKey, registered: Registered) -> bool:
    """Whether a backend below the autograd key `slot` brings a kernel of its own."""
    return _K.CompositeExplicitAutograd in registered or _has_kernel_for_any(
        backend_keyset_from_autograd(slot), registered
    )


def _direct(slot: DispatchKey, registered: Registered) -> Choice | None:
    # Registrations at Undefined are turned into CompositeImplicitAutograd before they get here.
    return Choice("kernel", slot) if slot in registered else None


def _serves_undefined_or_member(
    alias: DispatchKey, origin: str
) -> Callable[[DispatchKey, Registered], Choice | None]:
    def decide(slot: DispatchKey, registered: Registered) -> Choice | None:
        if alias in registered and (slot == _K.Undefined or is_included_in_alias(slot, alias)):
            return Choice(origin, alias)
        return None

    return decide


def _serves_member(
    alias: DispatchKey, origin: str
) -> Callable[[DispatchKey, Registered], Choice | None]:
    def decide(slot: DispatchKey, registered: Registered) -> Choice | None:
        if alias in registered and is_included_in_alias(slot, alias):
            return Choice(origin, alias)
        return None

    return decide


def _composite_implicit(slot: DispatchKey, registered: Registered) -> Choice | None:
    alias = _K.CompositeImplicitAutograd
    if alias not in registered:
        return None
    if slot != _K.Undefined and not is_included_in_alias(slot, alias):
        return None
    if slot == _K.AutogradOther and _has_kernel_for_any(AUTOGRADOTHER_BACKENDS, registered):
        return Choice("ambiguous autogradother", None)
    if has_backend_kernel(slot, registered):
        return None
    return Choice("math kernel", alias)


RULES: tuple[Rule, ...] = (
    Rule(1, "kernel", "a kernel is registered at this key itself", _direct),
    Rule(
        2,
        "default backend kernel",
        "CompositeExplicitAutogradNonFunctional has a kernel and serves this key",
        _serves_undefined_or_member(
            _K.CompositeExplicitAutogradNonFunctional, "default backend kernel"
        ),
    ),
    Rule(
        3,
        "default backend kernel",
        "CompositeExplicitAutograd has a kernel and serves this key",
        _serves_undefined_or_member(_K.CompositeExplicitAutograd, "default backend kernel"),
    ),
    Rule(
        4,
        "nested kernel",
        "CompositeImplicitAutogradNestedTensor has a kernel and serves this key",
        _serves_member(_K.CompositeImplicitAutogradNestedTensor, "nested kernel"),
    ),
    Rule(
        5,
        "math kernel",
        "CompositeImplicitAutograd has a kernel, serves this key, and no backend below it has its own",
        _composite_implicit,
    ),
    Rule(
        6,
        "autograd kernel",
        "Autograd has a kernel and serves this key",
        _serves_member(_K.Autograd, "autograd kernel"),
    ),
    Rule(
        7,
        "batched kernel",
        "FuncTorchBatchedDecomposition has a kernel and serves this key",
        _serves_member(_K.FuncTorchBatchedDecomposition, "batched kernel"),
    ),
)
"""The steps that look at the operator's kernels, in order. Two follow them for every operator: the
backend fallback of the slot, and `missing`."""

FALLBACK = "backend fallback"
MISSING = "missing"

_INCLUDED_BY_DEFAULT = frozenset(DEFAULT_INCLUDED)


def choose(slot: DispatchKey, registered: Registered, has_fallback: bool) -> Choice:
    """What serves a slot of an operator with kernels at `registered`."""
    for rule in RULES:
        choice = rule.decide(slot, registered)
        if choice is not None:
            return choice
    return Choice(FALLBACK, None) if has_fallback else Choice(MISSING, None)


class Plan:
    """A computed table without its kernels.

    `choices` has one entry a slot. `mask` is what a call's keyset is masked with, so that keys whose
    kernel falls through are skipped; `backend_masks` replaces it, one mask for each backend, where
    backends differ (c10 `DispatchKeyExtractor::requiresBitsetPerBackend_`).
    """

    __slots__ = ("backend_masks", "choices", "mask")

    def __init__(
        self, choices: tuple[Choice, ...], mask: int, backend_masks: tuple[int, ...] | None
    ) -> None:
        self.choices = choices
        self.mask = mask
        self.backend_masks = backend_masks


def compute_plan(
    registered: Registered, falls_through: Registered, fallbacks: Mapping[DispatchKey, bool]
) -> Plan:
    """The plan of a pattern. `fallbacks` maps the keys with a backend fallback to whether it falls through.

    Note [Keys that every call includes]
    BackendSelect and ADInplaceOrView are in the local state from the start. ATen gives both a fallback
    that falls through; here, so that a new dispatcher is ready for use, a call skips them where they have
    neither a kernel nor a fallback. Their slots stay empty.
    """
    choices = tuple(choose(slot, registered, slot in fallbacks) for slot in RUNTIME_KEYS)
    masks = [FULL_MASK] * NUM_BACKENDS
    for slot, choice in zip(RUNTIME_KEYS, choices):
        if choice.origin == FALLBACK:
            skipped = fallbacks[slot]
        elif choice.origin == MISSING:
            skipped = slot in _INCLUDED_BY_DEFAULT
        else:
            skipped = choice.source in falls_through
        if skipped:
            functionality = DispatchKeySet(slot).raw_repr() & ~BACKEND_MASK
            backend = to_backend_component(slot)
            for index in (backend - 1,) if backend else range(NUM_BACKENDS):
                masks[index] &= ~functionality
    same = all(mask == masks[0] for mask in masks)
    return Plan(choices, masks[0], None if same else tuple(masks))


class Cell:
    """One slot of a computed table: where its kernel was registered, which rule chose it, whether it falls through."""

    __slots__ = ("debug", "fallthrough", "origin")

    def __init__(self, debug: str, origin: str, fallthrough: bool) -> None:
        self.debug = debug
        self.origin = origin
        self.fallthrough = fallthrough

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Cell) and str(self) == str(other)

    def __hash__(self) -> int:
        return hash(str(self))

    def __str__(self) -> str:
        return f"{'fallthrough ' if self.fallthrough else ''}{self.debug} [{self.origin}]"

    def __repr__(self) -> str:
        return f"Cell({self})"
