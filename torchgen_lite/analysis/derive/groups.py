"""Groups of variants, and the variants that PyTorch derives to complete them."""

from __future__ import annotations

from collections.abc import Iterable

from torchgen_lite.analysis.derive.layout import tensors_in
from torchgen_lite.analysis.derive.model import VariantGroup
from torchgen_lite.analysis.derive.names import is_out_overload
from torchgen_lite.analysis.derive.signature import Signature
from torchgen_lite.analysis.derive.variants import derive
from torchgen_lite.analysis.kernels import COMPOSITE_IMPLICIT
from torchgen_lite.analysis.operators import Operator
from torchgen_lite.schema import SchemaKind
from torchgen_lite.schema.grouped import names_of

Slots = dict[SchemaKind, Operator]
# The variant that others are derived from, in order of preference.
_BASES = (SchemaKind.mutable, SchemaKind.inplace, SchemaKind.out, SchemaKind.functional)


def group_by_signature(operators: Iterable[Operator]) -> list[Slots]:
    """The variants by signature, in order of first appearance; the first of each kind counts."""
    groups: dict[Signature, Slots] = {}
    for operator in operators:
        groups.setdefault(operator.signature, {}).setdefault(operator.kind, operator)
    _join_by_autogen(groups)
    return list(groups.values())


def _join_by_autogen(groups: dict[Signature, Slots]) -> None:
    """Give in-place operators a functional variant that differs only in its defaults.

    Note [A functional variant with other defaults]
    The `autogen` of `bernoulli_.float(Tensor(a!) self, float p=0.5)` lists an out variant but no
    functional one, which is `bernoulli.p(Tensor self, float p)`: with a default for `p` it would be
    ambiguous with `bernoulli`. So an operator that asks only for an out variant looks for its
    functional variant among those with other defaults. torchgen special-cases this one by name.
    """
    asking = {}
    for signature, slots in groups.items():
        base = slots.get(SchemaKind.inplace)
        if base is None or SchemaKind.functional in slots or not base.function.autogen:
            continue
        if all(map(is_out_overload, base.function.autogen)):
            asking[signature] = slots
    names = set(names_of(asking))
    lonely: dict[Signature, Signature] = {}
    for signature, slots in groups.items():
        if signature.name in names and len(slots) == 1 and SchemaKind.functional in slots:
            lonely.setdefault(signature.without_defaults, signature)
    for signature, slots in asking.items():
        other = lonely.pop(signature.without_defaults, None)
        if other is not None:
            slots[SchemaKind.functional] = groups.pop(other)[SchemaKind.functional]


def derive_variants(groups: Iterable[Slots], names: Iterable[str]) -> list[Operator]:
    """Complete the groups in place, and return the derived operators in order. `names` are taken.

    torchgen `add_generated_native_functions`: out variants are derived where `autogen` asks for one,
    functional variants wherever a group has an out variant and a mutating one.
    """
    derived = []
    taken = set(names)
    for slots in groups:
        # Most groups are complete, or a single function without `autogen`.
        asks = any(operator.function.autogen for operator in slots.values())
        if SchemaKind.functional in slots and (SchemaKind.out in slots or not asks):
            continue
        base = _base_of(slots)
        if base is None:
            continue
        wanted = []
        if SchemaKind.out not in slots and _wants_out(base, slots):
            wanted.append(SchemaKind.out)
        if SchemaKind.functional not in slots and (wanted or SchemaKind.out in slots):
            wanted.append(SchemaKind.functional)
        for kind in wanted:
            function = derive(base.function, kind, base.tags)
            operator = Operator(function, base.others, is_derived=True)
            name = operator.name
            # Another signature may already have the name; the checks across entries report it.
            if name not in taken:
                taken.add(name)
                slots[kind] = operator
                derived.append(operator)
    return derived


def _base_of(slots: Slots) -> Operator | None:
    """The variant to derive from, or None where PyTorch derives nothing.

    That is: lone out variants, views, operators bound by hand, and composite operators outside the
    core set.
    """
    operators = slots.values()
    kind = next((kind for kind in _BASES if kind in slots), None)
    if kind is None or (kind is SchemaKind.out and len(slots) == 1):
        return None
    is_view = any(o.schema.is_aliasing for o in operators)
    if is_view or all(o.function.manual_cpp_binding for o in operators):
        return None
    are_composite = all(map(_is_composite, operators))
    is_core = any("core" in operator.function.tags for operator in operators)
    if are_composite and not is_core:
        return None
    return slots[kind]


def _is_composite(operator: Operator) -> bool:
    return any(kernel.key == COMPOSITE_IMPLICIT for kernel in operator.kernels)


def _wants_out(base: Operator, slots: Slots) -> bool:
    """Whether `autogen` names an out variant, and there is a result to write."""
    if not any(map(is_out_overload, base.function.autogen)):
        return False
    schema = base.schema
    if slots.get(SchemaKind.inplace) is base:
        return any(a.name == "self" and a.is_write and not a.kwarg_only for a in schema.arguments)
    return bool(tensors_in(schema.returns))


def complete_groups(groups: Iterable[Slots]) -> tuple[VariantGroup, ...]:
    """The groups that have both a functional and an out variant."""
    complete = []
    for slots in groups:
        if SchemaKind.functional in slots and SchemaKind.out in slots:
            functions = {kind.name: operator.function for kind, operator in slots.items()}
            members = map(functions.get, ("inplace", "mutable"))
            complete.append(VariantGroup(functions["functional"], functions["out"], *members))
    return tuple(complete)
