"""Groups of variants, and the variants that PyTorch derives to complete them."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping

from torchgen_lite.analysis.derive.layout import is_tensor_like
from torchgen_lite.analysis.derive.members import Member
from torchgen_lite.analysis.derive.model import VariantGroup
from torchgen_lite.analysis.derive.names import is_out_overload
from torchgen_lite.analysis.derive.signature import Signature
from torchgen_lite.analysis.derive.variants import derive_functional, derive_out
from torchgen_lite.analysis.kernels import COMPOSITE_IMPLICIT, kernels_of
from torchgen_lite.loader.entry import NativeFunction
from torchgen_lite.schema import SchemaKind

Slots = dict[SchemaKind, NativeFunction]
# From which variant the others are derived, if there are several.
_BASES = (SchemaKind.mutable, SchemaKind.inplace, SchemaKind.out, SchemaKind.functional)


def group_by_signature(members: Iterable[Member]) -> list[Slots]:
    """The variants of each signature, in the order of the first. The first of a kind counts."""
    groups: dict[Signature, Slots] = {}
    for member in members:
        groups.setdefault(member.signature, {}).setdefault(member.kind, member.function)
    _join_by_autogen(groups)
    return list(groups.values())


def _join_by_autogen(groups: dict[Signature, Slots]) -> None:
    """Give in-place operators a functional variant that differs from them in defaults only.

    Note [A functional variant with other defaults]
    `bernoulli_.float(Tensor(a!) self, float p=0.5)` asks by `autogen` for an out variant and not for a
    functional one, because `bernoulli.p(Tensor self, float p)` is it: with a default for `p` it couldn't
    be told apart from `bernoulli`. So who asks for out alone looks for its functional variant among
    those that differ in defaults. torchgen knows this one by name.
    """
    lonely: dict[Signature, Signature] = {}
    for signature, slots in groups.items():
        if len(slots) == 1 and SchemaKind.functional in slots:
            lonely.setdefault(signature._replace(defaults=()), signature)
    for signature, slots in tuple(groups.items()):
        base = slots.get(SchemaKind.inplace)
        if base is None or SchemaKind.functional in slots or not base.autogen:
            continue
        if all(map(is_out_overload, base.autogen)):
            other = lonely.pop(signature._replace(defaults=()), None)
            if other is not None:
                slots[SchemaKind.functional] = groups.pop(other)[SchemaKind.functional]


def derive_variants(
    groups: Iterable[Slots],
    views: Collection[int],
    tags: Mapping[int, tuple[str, ...]],
    names: Iterable[str],
) -> list[NativeFunction]:
    """Complete the groups in place, and return what was derived, in order.

    `views` are the functions whose schemas alias, by identity, `tags` the tags of each; `names` are taken.
    torchgen `add_generated_native_functions`: out variants are derived where `autogen` asks for one,
    functional variants wherever there is an out variant and a mutating one.
    """
    derived: list[NativeFunction] = []
    taken = set(names)
    for slots in groups:
        # Most groups are complete, or one function that asks for nothing.
        asks = any(function.autogen for function in slots.values())
        if SchemaKind.functional in slots and (SchemaKind.out in slots or not asks):
            continue
        base = _base_of(slots, views)
        if base is None:
            continue
        wanted = []
        if SchemaKind.out not in slots and _wants_out(base, slots):
            wanted.append((SchemaKind.out, derive_out))
        if SchemaKind.functional not in slots and (wanted or SchemaKind.out in slots):
            wanted.append((SchemaKind.functional, derive_functional))
        for kind, make in wanted:
            function = make(base, tags[id(base)])
            name = function.name
            # Another signature may have the name already; the checks across entries speak of it.
            if name not in taken:
                taken.add(name)
                slots[kind] = function
                derived.append(function)
    return derived


def _base_of(slots: Slots, views: Collection[int]) -> NativeFunction | None:
    """The variant to derive from, or None where PyTorch derives nothing.

    That is: out variants without company, views, what is bound by hand, and operators that are composed
    of others, unless they belong to the core set.
    """
    functions = slots.values()
    kind = next((kind for kind in _BASES if kind in slots), None)
    if kind is None or (kind is SchemaKind.out and len(slots) == 1):
        return None
    if any(id(f) in views for f in functions) or all(f.manual_cpp_binding for f in functions):
        return None
    composite = all(any(k.key == COMPOSITE_IMPLICIT for k in kernels_of(f)) for f in functions)
    core = any("core" in f.tags for f in functions)
    return None if composite and not core else slots[kind]


def _wants_out(base: NativeFunction, slots: Slots) -> bool:
    """Whether `autogen` names an out variant, and there is something to write to."""
    if not any(map(is_out_overload, base.autogen)):
        return False
    schema = base.func
    if slots.get(SchemaKind.inplace) is base:
        return any(a.name == "self" and a.is_write and not a.kwarg_only for a in schema.arguments)
    return any(is_tensor_like(value.type) for value in schema.returns)


def complete_groups(groups: Iterable[Slots]) -> tuple[VariantGroup, ...]:
    """The groups that have both a functional and an out variant."""
    return tuple(
        VariantGroup(
            slots[SchemaKind.functional],
            slots[SchemaKind.out],
            slots.get(SchemaKind.inplace),
            slots.get(SchemaKind.mutable),
        )
        for slots in groups
        if len(slots) > 1 and SchemaKind.functional in slots and SchemaKind.out in slots
    )
