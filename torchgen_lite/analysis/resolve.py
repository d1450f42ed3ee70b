"""From the functions of a program to its operators, declared and derived, each with every fact.

Note [Resolved once]
Checks, lint rules, targets, commands and the export all read these facts. Nothing else groups
functions, derives variants or matches formulas, so two readers cannot get different answers. Each
step runs on first use: checks and lint rules need only facts about single entries, for which no
variants are derived.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from operator import attrgetter
from typing import TYPE_CHECKING, TypeVar

from torchgen_lite.analysis.derive.copying import copied_entries, copying_entries
from torchgen_lite.analysis.derive.groups import (
    complete_groups,
    derive_variants,
    group_by_signature,
)
from torchgen_lite.analysis.derive.model import VariantGroup, ViewGroup
from torchgen_lite.analysis.derive.names import root_of
from torchgen_lite.analysis.derive.signature import Signature
from torchgen_lite.analysis.derive.views import find_views, group_views
from torchgen_lite.analysis.operators import Operator
from torchgen_lite.loader.entry.entry import NativeFunction
from torchgen_lite.loader.formats.earlier import adopt, unstructured
from torchgen_lite.schema import SchemaKind
from torchgen_lite.schema.grouped import by_name, grouped, names_of
from torchgen_lite.schema.kept import kept

if TYPE_CHECKING:
    from torchgen_lite.analysis.differentiability.model import DifferentiabilityInfo
    from torchgen_lite.analysis.differentiability.plan import AutogradPlan
    from torchgen_lite.loader.entry.axes import Axes


_Group = TypeVar("_Group", VariantGroup, ViewGroup)


@dataclass(frozen=True, eq=False)
class Resolved:
    """The operators of a program: those declared, in source order, then those derived.

    `vocabulary` is the set of known tags; without it no tags are implied. `context` are functions
    declared elsewhere: they complete groups, but are not operators of this program.
    """

    functions: tuple[NativeFunction, ...]
    vocabulary: Collection[str] = ()
    context: tuple[NativeFunction, ...] = ()

    @kept
    def declared(self) -> tuple[Operator, ...]:
        return tuple([Operator(function, self) for function in self.functions])

    @kept
    def declared_by_name(self) -> Mapping[str, Operator]:
        """Declared operators by full name; derives no variants."""
        return by_name(self.declared)

    @kept
    def overloads(self) -> Mapping[tuple[str, str], Sequence[NativeFunction]]:
        """The declared functions by namespace and base name, in source order."""
        return grouped(self.functions, attrgetter("packet"))

    @kept
    def lent(self) -> Mapping[str, Operator]:
        """The operators of the context, by full name."""
        return {function.name: Operator(function, self) for function in self.context}

    def without_lent(self) -> Resolved:
        """The program without the entries of operators that the context has."""
        functions = tuple(
            [function for function in self.functions if function.name not in self.lent]
        )
        if len(functions) == len(self.functions):
            return self
        return Resolved(functions, self.vocabulary)

    @kept
    def _completed(self) -> tuple[tuple[Operator, ...], tuple[VariantGroup, ...]]:
        """All operators, and the groups that some of them are derived to complete."""
        declared = self.declared_by_name
        lent = self.lent
        elsewhere = [operator for name, operator in lent.items() if name not in declared]
        every = [*self.declared, *elsewhere]
        if not [o for o in every if o.schema.written or o.function.autogen]:
            return self.declared, ()  # There are only functional operators, each alone.
        # So is one whose name no other shares, unless it asks for variants; signatures take time.
        shared = Counter([root_of(o.schema.base_name) for o in every])
        groups = group_by_signature(
            [o for o in every if o.function.autogen or shared[root_of(o.schema.base_name)] > 1]
        )
        if elsewhere:
            # Groups made up only of lent operators are left to their authors.
            groups = [group for group in groups if _has_any(group, declared)]
        derived = derive_variants(groups, {**lent, **declared})
        return (*self.declared, *derived), complete_groups(groups)

    @property
    def operators(self) -> tuple[Operator, ...]:
        return self._completed[0]

    @property
    def groups(self) -> tuple[VariantGroup, ...]:
        """In the order of their first member."""
        return self._completed[1]

    @kept
    def copying(self) -> tuple[Operator, ...]:
        """Operators of the context without an entry that are derived from one in a backend file.

        See Note [Variants that copy].
        """
        operators = {}
        for group in self.groups:
            if copying_entries(group):
                for lent in group.functions():
                    function = unstructured(adopt(lent, group.functional.func.name_span))
                    if lent.name not in self.declared_by_name and copied_entries(group, function):
                        operators[lent.name] = Operator(function, self, is_derived=True)
        return tuple(operators.values())

    @kept
    def view_names(self) -> frozenset[str]:
        return find_views(self.operators)

    @kept
    def views(self) -> tuple[ViewGroup, ...]:
        """In the order of their first member."""
        return group_views(self.operators, self.view_names)

    @kept
    def group_of(self) -> Mapping[str, VariantGroup]:
        """The group of an operator, by full name."""
        return _by_member(self.groups)

    @kept
    def views_of(self) -> Mapping[str, ViewGroup]:
        """The view group of an operator, by full name."""
        return _by_member(self.views)

    @kept
    def by_name(self) -> Mapping[str, Operator]:
        """Operators by full name, `aten::add.Tensor`; the first of each name counts."""
        return by_name(reversed(self.operators))

    def find(self, name: str) -> Operator | None:
        """`aten::add.Tensor`, or `add.Tensor` for the first operator of that name in any namespace."""
        if "::" in name:
            return self.by_name.get(name)
        return next((o for o in self.operators if o.schema.local_name == name), None)

    @kept
    def autograd(self) -> Mapping[str, AutogradPlan]:
        """What autograd does for operators, by their names; nothing for those that are left out."""
        # Imported here: most programs have no formulas.
        from torchgen_lite.analysis.differentiability.plan import plan_autograd

        return plan_autograd(self.operators)

    @property
    def formulas(self) -> Iterator[tuple[Operator, DifferentiabilityInfo]]:
        """The declared operators that have formulas in their entries, each with those for every key."""
        for operator in self.declared:
            if operator.function.derivatives is not None:
                for info in operator.infos.values():
                    yield operator, info

    @kept
    def axes(self) -> Mapping[str, Axes]:
        """The axes of declared operators, by their names."""
        if not any(f.axes is not None or "pointwise" in f.tags for f in self.functions):
            return {}
        from torchgen_lite.analysis.axes import axes_of

        lines = {}
        for operator in self.declared:
            line = axes_of(operator)
            if line is not None:
                lines[operator.name] = line
        return lines

    @kept
    def _functional(self) -> Mapping[Signature, Operator]:
        return {
            operator.signature.without_defaults: operator
            for operator in reversed(self.declared)
            if operator.kind is SchemaKind.functional
        }

    def functional_of(self, operator: Operator) -> Operator | None:
        """The functional variant of an operator that writes; defaults may differ."""
        functional = self._functional.get(operator.signature.without_defaults)
        if functional is None or _input_names(functional) != _input_names(operator):
            return None
        return functional


def _by_member(groups: Iterable[_Group]) -> dict[str, _Group]:
    by_member = {}
    for group in groups:
        for name in names_of(group.functions()):
            by_member[name] = group
    return by_member


def _has_any(group: Mapping[SchemaKind, Operator], names: Collection[str]) -> bool:
    return any(operator.name in names for operator in group.values())


def _input_names(operator: Operator) -> list[str]:
    return names_of(operator.schema.inputs)


def derive_functions(
    functions: Sequence[NativeFunction], vocabulary: Collection[str] = ()
) -> tuple[NativeFunction, ...]:
    """The operators that PyTorch derives from these."""
    operators = Resolved(tuple(functions), vocabulary).operators
    return tuple([operator.function for operator in operators if operator.is_derived])


def lacking_functional(functions: Sequence[NativeFunction]) -> frozenset[str]:
    """PyTorch's structured operators to which no functional variant here delegates, by local name."""
    structured = {f.name: f for f in functions if f.structured and f.namespace == "aten"}
    if not structured:
        return frozenset()
    for function in functions:
        if function.delegate in structured and function.func.kind() is SchemaKind.functional:
            del structured[function.delegate]
    return frozenset(function.func.local_name for function in structured.values())
