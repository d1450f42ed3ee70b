"""What serves the calls of an operator: the kernels that are registered, and the dispatch table that they give."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import IntEnum

from torchgen_lite.analysis.computed_table import Cell, Registrations, table
from torchgen_lite.analysis.kernels import COMPOSITE_IMPLICIT
from torchgen_lite.analysis.operators import Operator
from torchgen_lite.analysis.policy import AUTHORS, BOXED, Origin, Policy
from torchgen_lite.analysis.registrations import FUNCTIONALIZE, Registration
from torchgen_lite.analysis.torch_library import returns_what_it_writes
from torchgen_lite.key_sets import INCLUDED_BY_DEFAULT
from torchgen_lite.loader.torch.stock_fallbacks import META_FALLBACK
from torchgen_lite.runtime.table import FALLBACK, MISSING
from torchgen_lite.schema.kept import keeping, kept

# Kernels that let calls pass but record no gradient.
_RECORD_NOTHING = frozenset(
    {
        Origin.passes,
        Origin.fallthrough,
        Origin.refuses_out,
        Origin.not_implemented,
        Origin.underived,
        *BOXED.values(),
    }
)


class Strength(IntEnum):
    """What serves a call."""

    nothing = 0
    fallback = 1
    kernel = 2


@keeping
@dataclass(frozen=True, eq=False)
class Served:
    """An operator under one policy: what is registered, by key, and the table that this gives."""

    policy: Policy
    registered: Mapping[str, Registration]
    table: Registrations

    @kept
    def cells(self) -> Mapping[str, Cell]:
        """Each slot of the table, computed."""
        return {cell.key: cell for cell in table(self.table)}

    @property
    def origins(self) -> set[Origin]:
        """Why its kernels are registered."""
        return {registration.origin for registration in self.registered.values()}

    def strength(self, slot: str) -> Strength:
        """A key without a kernel that every call includes is skipped, as one that falls through."""
        cell = self.cells[slot]
        if cell.label == META_FALLBACK:
            return Strength.nothing
        is_skipped = cell.origin == MISSING and slot in INCLUDED_BY_DEFAULT
        if cell.origin == FALLBACK or cell.falls_through or is_skipped:
            return Strength.fallback
        if cell.source:
            return Strength.kernel
        return Strength.nothing

    def origin(self, slot: str) -> Origin:
        """Why a kernel is registered; those that no schema file names are written by hand."""
        registration = self.registered.get(self.cells[slot].source)
        return Origin.written if registration is None else registration.origin

    def kernel(self, slot: str) -> str:
        """The function that a slot runs in the end, if `dispatch` has one."""
        registration = self.registered.get(self.cells[slot].source)
        if registration is None or registration.kernel is None:
            return ""
        return registration.kernel.kernel

    @property
    def is_composed(self) -> bool:
        return COMPOSITE_IMPLICIT in self.table.kernels

    def functionalizes(self, operator: Operator) -> bool:
        """Whether there is a kernel, or PyTorch's fallback is enough. The fallback decomposes, but refuses
        operators that return what they write, or a view, without a tag. For its own, torchgen generates kernels.
        """
        strength = self.strength(FUNCTIONALIZE)
        returns_alias = operator.schema.returns_alias
        is_traced = Origin.vmap in self.policy.makes and returns_what_it_writes(operator)
        is_enough = self.policy.is_pytorch or self.is_composed or is_traced or not returns_alias
        return strength is Strength.kernel or (strength is Strength.fallback and is_enough)

    def call(self, slot: str, backend: str) -> tuple[Strength, bool]:
        """A call at an autograd key: what serves it in the end, and whether it is recorded.

        Kernels that are written or composed end it; those that are generated, and fallbacks, go on
        to the backend.
        """
        above = self.strength(slot)
        origin = self.origin(slot)
        if above is Strength.kernel and origin in AUTHORS | {Origin.reference}:
            return above, True
        is_recorded = above is Strength.kernel and origin not in _RECORD_NOTHING
        return (self.strength(backend) if above else above), is_recorded
