"""Implied tags, which follow from the kind of a schema and from where it came from."""

from __future__ import annotations

from collections.abc import Collection

from torchgen_lite.loader.entry import NativeFunction
from torchgen_lite.schema import SchemaKind

GENERATED = "generated"
# The tags that a derived variant inherits from its base.
_INHERITED = ("nondeterministic_seeded", "view_copy", "pt2_compliant_tag")

# Scratch space is an out argument too.
_KIND_TAGS: dict[SchemaKind, tuple[str, ...]] = {
    SchemaKind.out: ("out",),
    SchemaKind.scratch: ("out",),
    SchemaKind.inplace: ("inplace",),
}


def tags_of(
    function: NativeFunction, kind: SchemaKind, vocabulary: Collection[str]
) -> tuple[str, ...]:
    """The tags as written, plus implied tags that the vocabulary (tags.yaml) has.

    torchgen `NativeFunction.from_yaml`: PyTorch's own operators are `pt2_compliant_tag`, out variants
    `out`, in-place variants `inplace`.
    """
    following = _KIND_TAGS.get(kind, ())
    if function.namespace == "aten":
        following = ("pt2_compliant_tag", *following)
    added = [tag for tag in following if tag in vocabulary and tag not in function.tags]
    return (*function.tags, *added)


def derived_tags(kind: SchemaKind, base_tags: tuple[str, ...]) -> tuple[str, ...]:
    """The tags of a variant of this kind, derived from an operator with `base_tags`."""
    inherited = [tag for tag in _INHERITED if tag in base_tags]
    return (GENERATED, *inherited, *_KIND_TAGS.get(kind, ()))
