"""From the functions of a program to everything that follows from them."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from torchgen_lite.analysis.derive.backend_index import build_backend_index
from torchgen_lite.analysis.derive.groups import (
    complete_groups,
    derive_variants,
    group_by_signature,
)
from torchgen_lite.analysis.derive.model import Derived
from torchgen_lite.analysis.derive.signature import signature_of
from torchgen_lite.analysis.derive.tags import tags_of
from torchgen_lite.analysis.derive.views import (
    Member,
    find_views,
    group_views,
    is_aliasing,
    returns_alias,
)
from torchgen_lite.loader.entry import NativeFunction
from torchgen_lite.loader.gc_pause import gc_paused
from torchgen_lite.schema import SchemaKind, find_annotation
from torchgen_lite.schema.kind import is_inplace_name


def derive(functions: Sequence[NativeFunction], vocabulary: Collection[str] = ()) -> Derived:
    """Derive variants, groups, views, tags and the backend index.

    `vocabulary` is the tags that there are; without it no tag follows from another fact.
    """
    with gc_paused():
        return _derive(functions, vocabulary)


def _derive(functions: Sequence[NativeFunction], vocabulary: Collection[str]) -> Derived:
    members = [member_of(function) for function in functions]
    tags = {m.name: tags_of(m.function, m.kind, vocabulary) for m in members}
    groups = group_by_signature(members)
    aliasing = {id(m.function) for m in members if m.aliasing}
    tags_by_id = {id(m.function): tags[m.name] for m in members}
    derived = derive_variants(groups, aliasing, tags_by_id, tags)
    added = [member_of(function) for function in derived]
    tags.update({m.name: m.function.tags for m in added})
    members += added
    views = find_views(members)
    name_of = {id(m.function): m.name for m in members}
    complete = complete_groups(groups)
    view_groups = group_views(members, views)
    function_of: dict[str, NativeFunction] = {}
    for member in members:
        function_of.setdefault(member.name, member.function)
    return Derived(
        functions=tuple([m.function for m in members]),
        function_of=function_of,
        generated=frozenset([m.name for m in added]),
        kinds={m.name: m.kind for m in members},
        tags=tags,
        groups=complete,
        group_of={name_of[id(f)]: group for group in complete for f in group.functions()},
        views=views,
        view_groups=view_groups,
        view_group_of={name_of[id(f)]: group for group in view_groups for f in group.functions()},
        backend_index=build_backend_index((m.name, m.function) for m in members),
    )


def member_of(function: NativeFunction) -> Member:
    """A function with its name, kind and signature."""
    schema = function.func
    # Most schemas have no annotation at all, and need not be asked what the annotations say.
    if any(map(find_annotation, [argument.type for argument in schema.arguments])):
        kind = schema.kind()
        aliasing = is_aliasing(schema)
    else:
        in_place = is_inplace_name(schema.base_name)
        kind = SchemaKind.inplace if in_place else SchemaKind.functional
        aliasing = returns_alias(schema)
    signature = signature_of(function, kind)
    return Member(function, function.name, kind, signature, aliasing)
