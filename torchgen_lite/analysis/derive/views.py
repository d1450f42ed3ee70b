"""Views: operators whose result aliases an argument, and the variants of them that copy."""

from __future__ import annotations

from collections.abc import Iterable

from torchgen_lite.analysis.derive.members import Member
from torchgen_lite.analysis.derive.model import ViewGroup
from torchgen_lite.analysis.derive.names import root_of
from torchgen_lite.analysis.derive.signature import Signature, view_root_of
from torchgen_lite.analysis.kernels import COMPOSITE_IMPLICIT, kernels_of
from torchgen_lite.loader.entry import NativeFunction
from torchgen_lite.schema import SchemaKind

_IN_PLACE_TAG = "inplace_view"


def find_views(members: Iterable[Member]) -> frozenset[str]:
    """The names of all views, those in place included.

    Note [resize_ is no view]
    `resize_`, `resize_as_` and `set_` carry the tag `inplace_view`, but there is no `resize` that views:
    their functional variants are derived and copy. So an in-place operator is a view here if there is a
    view with its signature; torchgen knows the three by name.
    """
    members = tuple(members)
    signatures = {m.signature for m in members if m.aliasing}
    return frozenset(
        m.name
        for m in members
        if m.aliasing or (_IN_PLACE_TAG in m.function.tags and m.signature in signatures)
    )


def group_views(members: Iterable[Member], views: frozenset[str]) -> tuple[ViewGroup, ...]:
    """Views with their copies and in-place variants, in the order of the first member."""
    slots: dict[Signature, dict[str, NativeFunction]] = {}
    for member in members:
        signature = member.signature
        name = view_root_of(signature.name)
        key = signature if name == signature.name else signature._replace(name=name)
        slots.setdefault(key, {}).setdefault(_role(member, views), member.function)
    return tuple(
        ViewGroup(members["view"], members.get("functional"), members.get("view_inplace"))
        for members in slots.values()
        if "view" in members
    )


def _role(member: Member, views: frozenset[str]) -> str:
    if member.name not in views:
        return member.kind.value
    return "view_inplace" if member.kind is SchemaKind.inplace else "view"


def needs_copy(view: NativeFunction) -> bool:
    """Whether PyTorch wants a `<name>_copy` beside this view.

    Composed views have one through what they are composed of; an in-place view copies nothing; the copy
    of `<name>_inverse` is `<name>_scatter`, and written by hand.
    """
    if any(k.key == COMPOSITE_IMPLICIT for k in kernels_of(view)) or _IN_PLACE_TAG in view.tags:
        return False
    return not root_of(view.func.base_name).endswith("_inverse")


def copy_name(view: NativeFunction) -> str:
    """The name of the copying variant, without a namespace: `unbind_copy.int`."""
    name = f"{root_of(view.func.base_name)}_copy"
    overload = view.func.overload_name
    return f"{name}.{overload}" if overload else name
