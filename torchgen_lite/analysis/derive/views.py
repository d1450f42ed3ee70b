"""Views: operators whose result aliases an argument, and their copying variants."""

from __future__ import annotations

from collections.abc import Sequence

from torchgen_lite.analysis.derive.model import ViewGroup
from torchgen_lite.analysis.derive.names import root_of
from torchgen_lite.analysis.derive.signature import Signature, view_root_of
from torchgen_lite.analysis.kernels import COMPOSITE_IMPLICIT, kernels_of
from torchgen_lite.analysis.operators import Operator
from torchgen_lite.loader.entry.entry import NativeFunction
from torchgen_lite.schema import SchemaKind

_IN_PLACE_TAG = "inplace_view"


def find_views(operators: Sequence[Operator]) -> frozenset[str]:
    """The names of all views, including in-place ones.

    Note [resize_ is not a view]
    `resize_`, `resize_as_` and `set_` have the tag `inplace_view`, but no view counterpart: their
    functional variants are derived and copy. So an in-place operator is a view only if there is a
    view with its signature. torchgen special-cases the three by name.
    """
    signatures = {o.signature for o in operators if o.schema.is_aliasing}
    return frozenset(
        o.name
        for o in operators
        if o.schema.is_aliasing or (_IN_PLACE_TAG in o.function.tags and o.signature in signatures)
    )


def group_views(operators: Sequence[Operator], views: frozenset[str]) -> tuple[ViewGroup, ...]:
    """Views with their copies and in-place variants, in the order of the first member."""
    names = {view_root_of(o.signature.name) for o in operators if o.name in views}
    slots: dict[Signature, dict[str, NativeFunction]] = {}
    for operator in operators:
        signature = operator.signature
        name = view_root_of(signature.name)
        if name not in names:
            continue
        key = signature if name == signature.name else signature._replace(name=name)
        role = operator.kind.value
        if operator.name in views:
            role = "view_inplace" if operator.kind is SchemaKind.inplace else "view"
        slots.setdefault(key, {}).setdefault(role, operator.function)
    return tuple(
        ViewGroup(members["view"], members.get("view_inplace"), members.get("functional"))
        for members in slots.values()
        if "view" in members
    )


def needs_copy(view: NativeFunction) -> bool:
    """Whether PyTorch wants a `<name>_copy` beside this view.

    Composite views get theirs through the operators they call; an in-place view copies nothing; the
    copy of `<name>_inverse` is `<name>_scatter`, written by hand.
    """
    if any(k.key == COMPOSITE_IMPLICIT for k in kernels_of(view)) or _IN_PLACE_TAG in view.tags:
        return False
    return not root_of(view.func.base_name).endswith("_inverse")


def copy_name(view: NativeFunction) -> str:
    """The name of the copying variant, without a namespace: `unbind_copy.int`."""
    name = f"{root_of(view.func.base_name)}_copy"
    overload = view.func.overload_name
    return f"{name}.{overload}" if overload else name
