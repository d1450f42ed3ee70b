"""One operator with everything that follows from its entry and the rest of the program."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import TYPE_CHECKING, Any, Protocol

from torchgen_lite.analysis.derive.model import VariantGroup, ViewGroup
from torchgen_lite.analysis.derive.names import root_of, tags_of
from torchgen_lite.analysis.derive.signature import Signature, signature_of
from torchgen_lite.analysis.kernels import (
    COMPOSITE_IMPLICIT,
    COMPOSITE_KEYS,
    WORDS,
    kernels_of,
    own_kernels,
)
from torchgen_lite.loader.entry.derivatives import DEFAULT
from torchgen_lite.loader.entry.entry import DispatchEntry, NativeFunction
from torchgen_lite.schema import FunctionSchema, SchemaKind
from torchgen_lite.schema.kept import keeping, kept

if TYPE_CHECKING:
    from torchgen_lite.analysis.differentiability.model import DifferentiabilityInfo
    from torchgen_lite.loader.entry.axes import Axes


class Others(Protocol):
    """What `Resolved`, which imports this module, says about the operators around one."""

    @property
    def functions(self) -> tuple[NativeFunction, ...]: ...
    @property
    def overloads(self) -> Mapping[tuple[str, str], Sequence[NativeFunction]]: ...
    @property
    def vocabulary(self) -> Collection[str]: ...
    @property
    def lent(self) -> Mapping[str, Operator]: ...
    @property
    def group_of(self) -> Mapping[str, VariantGroup]: ...
    @property
    def views_of(self) -> Mapping[str, ViewGroup]: ...
    @property
    def view_names(self) -> frozenset[str]: ...
    @property
    def axes(self) -> Mapping[str, Axes]: ...

    # Of `AutogradPlan`, whose module imports this one.
    @property
    def autograd(self) -> Mapping[str, Any]: ...


class HasFunction(Protocol):
    """An operator, here or with what a target knows of it."""

    @property
    def function(self) -> NativeFunction: ...


def functions_of(operators: Iterable[HasFunction]) -> list[NativeFunction]:
    """The entries of operators."""
    return [operator.function for operator in operators]


def related_to(some: Iterable[Operator], operators: Iterable[Operator]) -> list[Operator]:
    """The operators that have the name of one of these, apart from underscores."""
    roots = {root_of(operator.schema.base_name) for operator in some}
    return [o for o in operators if root_of(o.schema.base_name) in roots]


@keeping
@dataclass(frozen=True, eq=False)
class Operator:
    """An operator, declared or derived. Operators are compared by identity.

    Each fact is computed on first use; those that depend on other operators come from `others`.
    """

    function: NativeFunction
    others: Others = field(repr=False)
    is_derived: bool = False

    @kept
    def schema(self) -> FunctionSchema:
        return self.function.func

    @kept
    def name(self) -> str:
        return self.function.name

    @kept
    def kind(self) -> SchemaKind:
        return self.schema.kind()

    @kept
    def signature(self) -> Signature:
        return signature_of(self.function, self.kind)

    @kept
    def tags(self) -> tuple[str, ...]:
        """The tags in effect. A derived operator is made with all of its own."""
        if self.is_derived:
            return self.function.tags
        return tags_of(self.function, self.kind, self.others.vocabulary)

    @kept
    def kernels(self) -> tuple[DispatchEntry, ...]:
        return kernels_of(self.function)

    @kept
    def own_kernels(self) -> tuple[DispatchEntry, ...]:
        """The kernels that generated code registers."""
        return own_kernels(self.function, self.kernels)

    @kept
    def keys(self) -> frozenset[str]:
        """The dispatch keys of these kernels."""
        return frozenset([kernel.key for kernel in self.own_kernels])

    @property
    def author_kernels(self) -> list[DispatchEntry]:
        """Those that are functions, without what `dispatch` says in the place of one; several if a key has rows."""
        named = [kernel for kernel in self.own_kernels if kernel.kernel not in WORDS]
        return list(chain.from_iterable(kernel.kernels for kernel in named))

    @kept
    def is_composed(self) -> bool:
        """Whether a kernel is composed of other operators, so that autograd sees through it."""
        return COMPOSITE_IMPLICIT in self.keys

    @kept
    def is_only_composed(self) -> bool:
        """Whether all kernels are composite and one implicit, which gives fakes and derivatives."""
        return self.is_composed and self.keys <= COMPOSITE_KEYS

    @property
    def axes(self) -> Axes | None:
        """The line of `axes`, with all names, or the one that the tag `pointwise` implies."""
        return self.others.axes.get(self.name)

    @property
    def infos(self) -> Mapping[str, DifferentiabilityInfo]:
        """The formulas that autograd uses, by its key."""
        plan = self.others.autograd.get(self.name)
        infos: Mapping[str, DifferentiabilityInfo] = {} if plan is None else plan.infos
        return infos

    @property
    def info(self) -> DifferentiabilityInfo | None:
        """The formulas for every key without formulas of its own."""
        return self.infos.get(DEFAULT)

    @property
    def group(self) -> VariantGroup | None:
        """The group, if the operator has a functional and an out variant."""
        return self.others.group_of.get(self.name)

    @property
    def views(self) -> ViewGroup | None:
        """The view group, for views and their variants."""
        return self.others.views_of.get(self.name)

    @property
    def is_view(self) -> bool:
        """Whether a result aliases an argument: see Note [resize_ is not a view]."""
        return self.name in self.others.view_names
