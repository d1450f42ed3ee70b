"""The signature that all variants of an operator share (torchgen `FunctionSchema.signature`).

    add.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor
    add_.Tensor(Tensor(a!) self, Tensor other, *, Scalar alpha=1) -> Tensor(a!)
    add.out(Tensor self, Tensor other, *, Scalar alpha=1, Tensor(a!) out) -> Tensor(a!)

have the same one: overload names, alias annotations, out arguments, tensor options (out variants of
factories have none) and names of returns don't count. Arguments that are mutated but not returned
count as returned.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain
from typing import NamedTuple

from torchgen_lite.analysis.derive.layout import ArgumentLayout, argument_layout
from torchgen_lite.analysis.derive.names import root_of
from torchgen_lite.loader.entry.entry import NativeFunction
from torchgen_lite.schema import Argument, FunctionSchema, SchemaKind
from torchgen_lite.schema.grouped import names_of
from torchgen_lite.schema.model import annotations_of, bare_types


class Signature(NamedTuple):
    """Equal for variants of one operator. `defaults` is separate so that it can be left out."""

    namespace: str
    name: str
    positional: tuple[tuple[str, str], ...]
    keywords: tuple[tuple[str, str], ...]
    defaults: tuple[str | None, ...]
    returns: tuple[str, ...]

    @property
    def without_defaults(self) -> Signature:
        return self._replace(defaults=())

    @property
    def inputs(self) -> tuple[object, ...]:
        """The names and types of the inputs, the same for every variant."""
        return self.positional, self.keywords


def signature_of(function: NativeFunction, kind: SchemaKind) -> Signature:
    schema = function.func
    layout = argument_layout(schema)
    keywords = layout.before_options + layout.after_options
    returned = bare_types(schema.returns)
    if kind is not SchemaKind.functional:
        returned += bare_types(unreturned_writes(schema, layout))
    return Signature(
        function.namespace,
        root_of(schema.base_name),
        _types_and_names(layout.positional),
        _types_and_names(keywords),
        tuple([argument.default for argument in layout.without_options]),
        tuple(returned),
    )


def _types_and_names(arguments: Sequence[Argument]) -> tuple[tuple[str, str], ...]:
    return tuple(zip(bare_types(arguments), names_of(arguments)))


def unreturned_writes(schema: FunctionSchema, layout: ArgumentLayout) -> Iterator[Argument]:
    """Arguments that are written and not returned: self first, then out arguments, then the others.

    This order gives in-place and out variants that write to further arguments the same signature.
    """
    if not schema.written:
        return
    receiver = [a for a in layout.positional if a.name == "self"]
    others = [a for a in layout.positional if a.name != "self"]
    returned = annotations_of(schema.returns)
    for argument in chain(receiver, layout.out, others, layout.keywords):
        if argument.is_write and argument.annotation not in returned:
            yield argument


def view_root_of(root: str) -> str:
    """The root that a view and its copy share: `slice` for `slice_copy`.

    The copy of `slice_inverse` is `slice_scatter`.
    """
    if root.endswith("_scatter"):
        return root.removesuffix("scatter") + "inverse"
    return root.removesuffix("_copy")
