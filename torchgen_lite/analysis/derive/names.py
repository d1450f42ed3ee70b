"""Names and tags of operators and of their variants: implied tags follow from the kind and the origin of a schema."""

from __future__ import annotations

from collections.abc import Collection

from torchgen_lite.loader.entry.entry import NativeFunction
from torchgen_lite.schema import SchemaKind
from torchgen_lite.schema.kind import is_inplace_name

# Ends the base name of a functional variant derived from a mutable operator.
FUNCTIONAL_SUFFIX = "_functional"
GENERATED = "generated"
# The tags that a derived variant inherits from its base.
_INHERITED = ("nondeterministic_seeded", "view_copy", "pt2_compliant_tag")
# Scratch space is an out argument too.
_KIND_TAGS = {
    SchemaKind.out: ("out",),
    SchemaKind.scratch: ("out",),
    SchemaKind.inplace: ("inplace",),
}


def root_of(base_name: str) -> str:
    """The name all variants share: `add` for `add_`, `__and__` for `__iand__`, `norm` for
    `norm_functional`."""
    if not is_inplace_name(base_name):
        return base_name.removesuffix(FUNCTIONAL_SUFFIX)
    if base_name.endswith("__"):
        return f"__{base_name[3:]}"
    return base_name[:-1]


def out_overload(overload_name: str) -> str:
    """The overload name of a derived out variant: `out`, `Tensor_out`."""
    if overload_name:
        return f"{overload_name}_out"
    return "out"


def is_out_overload(name: str) -> bool:
    """Whether `autogen` names an out variant: `add.out`, `set.source_Tensor_out`."""
    overload = name.rpartition("::")[2].partition(".")[2]
    return overload == "out" or overload.endswith("_out")


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
