"""Structured operators: one implementation, written for the out variant, serves all three variants.

    def structured_add_Tensor(self: Tensor, other: Tensor, *, alpha: Number = 1) -> Tensor:
        spec = _pointwise.meta_add_Tensor(self, other, alpha=alpha)
        out = allocate(spec, "CPU")
        _pointwise.ufunc_add_CPU(self, other, alpha=alpha, out=out)
        return out

The in-place variant checks that `self` has the shape and dtype of the result, the out variant resizes what
it was given. The author writes the meta function and the implementation; a structured operator has its
Meta kernels by itself, because they are the same without the implementation.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from torchgen_lite.dialects import python
from torchgen_lite.dialects.python_names import identifier
from torchgen_lite.dialects.text import bracketed, quote
from torchgen_lite.schema import Argument, SchemaKind
from torchgen_lite.targets.python.model import Overload


@dataclass(frozen=True, slots=True)
class StructuredGroup:
    """An out variant with `structured: True` and the variants that delegate to it."""

    out: Overload
    members: tuple[Overload, ...]

    @property
    def meta_name(self) -> str:
        """`meta_add_Tensor`, after the functional variant."""
        for member in self.members:
            if member.schema.kind() is SchemaKind.functional:
                return f"meta_{member.names.flat}"
        return f"meta_{self.out.names.flat}"


@dataclass(frozen=True, slots=True)
class StructuredView:
    """One generated kernel: `lines` is its body."""

    name: str
    parameters: str
    returns: str
    lines: tuple[str, ...]


def structured_groups(overloads: Sequence[Overload]) -> list[StructuredGroup]:
    """Every group of the package, in the order of the out variants."""
    delegates: dict[tuple[str, str], list[Overload]] = {}
    for overload in overloads:
        delegate = overload.function.structured_delegate
        if delegate is not None:
            delegates.setdefault((overload.names.namespace, delegate), []).append(overload)
    groups = []
    for overload in overloads:
        if overload.function.structured:
            key = (
                overload.names.namespace,
                f"{overload.schema.base_name}.{overload.schema.overload_name}",
            )
            members = (*delegates.get(key, ()), overload)
            groups.append(StructuredGroup(overload, members))
    return groups


def structured_kernels(
    group: StructuredGroup, key: str, meta: str, implementation: str | None
) -> Iterator[tuple[Overload, StructuredView]]:
    """The kernels of a group for one backend; Meta has no implementation."""
    for member in group.members:
        yield member, StructuredView(
            name=f"structured_{member.names.flat}",
            parameters=python.signature(member.parameters),
            returns=python.returns_annotation(member.returns),
            lines=tuple(_body(group, member, key, meta, implementation)),
        )


def _body(
    group: StructuredGroup, member: Overload, key: str, meta: str, implementation: str | None
) -> Iterator[str]:
    outs = group.out.schema.out
    kind = member.schema.kind()
    targets = ["self"] if kind is SchemaKind.inplace else [identifier(a.name) for a in outs]
    inputs = [a for a in member.schema.arguments if not a.is_out]
    spec = "spec" if len(outs) == 1 else "specs"
    yield bracketed(f"{spec} = {meta}(", _call(inputs), indent=4)
    for index, target in enumerate(targets):
        one = spec if len(outs) == 1 else f"{spec}[{index}]"
        if kind is SchemaKind.inplace:
            yield f"check_inplace({target}, {one})"
        elif kind is SchemaKind.out:
            yield f"resize_out({target}, {one})"
        else:
            yield f"{target} = allocate({one}, {quote(key)})"
    if implementation is not None:
        passed = [f"{identifier(a.name)}={t}" for a, t in zip(outs, targets, strict=True)]
        yield bracketed(f"{implementation}(", [*_call(inputs), *passed], indent=4)
    yield f"return {', '.join(targets)}"


def _call(arguments: Sequence[Argument]) -> list[str]:
    names: Mapping[str, bool] = {identifier(a.name): a.kwarg_only for a in arguments}
    return [f"{name}={name}" if keyword else name for name, keyword in names.items()]
