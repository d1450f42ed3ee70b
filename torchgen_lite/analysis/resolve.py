"""From the functions of a program to its operators: each with every fact, those that are derived too.

Note [Resolved once]
A program is resolved when somebody first asks (`Program.resolved`), and everybody reads the result: targets,
commands, the export. Nobody else groups functions, derives variants or matches formulas, so that two
readers cannot come to different answers.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from torchgen_lite.analysis.derive.groups import (
    complete_groups,
    derive_variants,
    group_by_signature,
)
from torchgen_lite.analysis.derive.members import Member, member_of
from torchgen_lite.analysis.derive.model import VariantGroup, ViewGroup
from torchgen_lite.analysis.derive.signature import Signature
from torchgen_lite.analysis.derive.tags import tags_of
from torchgen_lite.analysis.derive.views import find_views, group_views
from torchgen_lite.analysis.kernels import kernels_of
from torchgen_lite.analysis.operators import Operator
from torchgen_lite.loader.entry import NativeFunction
from torchgen_lite.loader.gc_pause import gc_paused
from torchgen_lite.schema import SchemaKind

if TYPE_CHECKING:
    from torchgen_lite.analysis.differentiability.plan import AutogradPlan


@dataclass(frozen=True)
class Resolved:
    """The operators of a program: those declared, in source order, then those derived.

    `groups` and `views` are in the order of their first member.
    """

    operators: tuple[Operator, ...]
    groups: tuple[VariantGroup, ...]
    views: tuple[ViewGroup, ...]

    @cached_property
    def declared(self) -> tuple[Operator, ...]:
        return tuple([o for o in self.operators if not o.is_derived])

    @cached_property
    def by_name(self) -> Mapping[str, Operator]:
        """By whole names, `aten::add.Tensor`; the first of a name counts."""
        return {operator.name: operator for operator in reversed(self.operators)}

    def of(self, functions: Iterable[NativeFunction]) -> tuple[Operator, ...]:
        """The operators of these functions."""
        return tuple([self.by_name[function.name] for function in functions])

    def find(self, name: str) -> Operator | None:
        """`aten::add.Tensor`, or `add.Tensor` for the first operator of that name in any namespace."""
        if "::" in name:
            return self.by_name.get(name)
        return next((o for o in self.operators if o.schema.local_name == name), None)

    @cached_property
    def autograd(self) -> Mapping[str, AutogradPlan]:
        """What autograd does for each operator, by its name."""
        # Imported here: most programs have no formulas.
        from torchgen_lite.analysis.differentiability.plan import plan_autograd

        return plan_autograd(self.operators)

    @cached_property
    def _functional(self) -> Mapping[Signature, Operator]:
        return {
            operator.signature._replace(defaults=()): operator
            for operator in reversed(self.declared)
            if operator.kind is SchemaKind.functional
        }

    def functional_of(self, operator: Operator) -> Operator | None:
        """For an operator that writes, the one that takes the same and returns it; defaults may differ."""
        found = self._functional.get(operator.signature._replace(defaults=()))
        return found if found is not None and _inputs(found) == _inputs(operator) else None


def _inputs(operator: Operator) -> list[str]:
    return [a.name for a in operator.schema.arguments if not a.is_out]


def resolve(
    functions: Sequence[NativeFunction],
    vocabulary: Collection[str] = (),
    context: Sequence[NativeFunction] = (),
) -> Resolved:
    """Derive variants, groups, views and tags.

    `vocabulary` is the tags that there are; without it no tag follows from another fact. `context` are
    functions that are declared elsewhere: they complete groups, and are no operators of this program.
    """
    with gc_paused():
        return _resolve(functions, vocabulary, context)


def derive_functions(
    functions: Sequence[NativeFunction], vocabulary: Collection[str] = ()
) -> tuple[NativeFunction, ...]:
    """The operators that PyTorch derives from these."""
    operators = resolve(functions, vocabulary).operators
    return tuple([operator.function for operator in operators if operator.is_derived])


def lacking_functional(functions: Sequence[NativeFunction]) -> frozenset[str]:
    """The structured operators of PyTorch's to which no functional variant here delegates, by local name."""
    structured = {f.name: f for f in functions if f.structured and f.namespace == "aten"}
    if not structured:
        return frozenset()
    for function in functions:
        if function.delegate in structured and function.func.kind() is SchemaKind.functional:
            del structured[function.delegate]
    return frozenset(function.func.local_name for function in structured.values())


def _resolve(
    functions: Sequence[NativeFunction],
    vocabulary: Collection[str],
    context: Sequence[NativeFunction],
) -> Resolved:
    members = [member_of(function) for function in functions]
    tags = {m.name: tags_of(m.function, m.kind, vocabulary) for m in members}
    groups = group_by_signature([*members, *map(member_of, context)])
    aliasing = {id(m.function) for m in members if m.aliasing}
    tags_by_id = {id(m.function): tags[m.name] for m in members}
    added = [member_of(f) for f in derive_variants(groups, aliasing, tags_by_id, tags)]
    tags.update({m.name: m.function.tags for m in added})
    members += added
    views = find_views(members)
    complete = complete_groups(groups)
    view_groups = group_views(members, views)
    group_of = {id(f): group for group in complete for f in group.functions()}
    views_of = {id(f): group for group in view_groups for f in group.functions()}
    declared = len(members) - len(added)

    def operator(index: int, member: Member) -> Operator:
        function, place = member.function, id(member.function)
        return Operator(
            function=function,
            name=member.name,
            kind=member.kind,
            signature=member.signature,
            is_derived=index >= declared,
            is_view=member.name in views,
            tags=tags[member.name],
            kernels=kernels_of(function),
            group=group_of.get(place),
            views=views_of.get(place),
        )

    operators = tuple([operator(index, member) for index, member in enumerate(members)])
    return Resolved(operators, complete, view_groups)
