"""What is derived from a program: more functions, and which belong together."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from torchgen_lite.analysis.derive.backend_index import BackendKernel
from torchgen_lite.loader.entry import NativeFunction
from torchgen_lite.schema import SchemaKind


@dataclass(frozen=True, slots=True)
class VariantGroup:
    """A functional and an out variant, and what else shares their signature.

    torchgen `NativeFunctionsGroup`. Operators that have only one of the two are in no group.
    """

    functional: NativeFunction
    out: NativeFunction
    inplace: NativeFunction | None = None
    mutable: NativeFunction | None = None

    @property
    def structured(self) -> bool:
        """Whether the kernels are split into a meta and an impl function."""
        return self.out.structured

    def functions(self) -> Iterator[NativeFunction]:
        """The variants that are there: functional, out, in-place, mutable."""
        yield self.functional
        yield self.out
        if self.inplace is not None:
            yield self.inplace
        if self.mutable is not None:
            yield self.mutable


@dataclass(frozen=True, slots=True)
class ViewGroup:
    """A view, its variant that copies, its in-place variant (torchgen `NativeFunctionsViewGroup`)."""

    view: NativeFunction
    view_copy: NativeFunction | None = None
    view_inplace: NativeFunction | None = None

    def functions(self) -> Iterator[NativeFunction]:
        """The members that are there: view, in-place view, copy."""
        yield self.view
        if self.view_inplace is not None:
            yield self.view_inplace
        if self.view_copy is not None:
            yield self.view_copy


@dataclass(frozen=True, slots=True)
class Derived:
    """Everything that follows from the functions of a program. Keys are names: `aten::add.Tensor`.

    `functions` are those declared, in source order, and then those derived. `groups` and `view_groups`
    are in the order of their first member; `group_of` and `view_group_of` find them by member, and
    `function_of` finds a function (the first of a name).
    `views` are the functions that alias an argument, in place or not.
    """

    functions: tuple[NativeFunction, ...]
    function_of: Mapping[str, NativeFunction]
    generated: frozenset[str]
    kinds: Mapping[str, SchemaKind]
    tags: Mapping[str, tuple[str, ...]]
    groups: tuple[VariantGroup, ...]
    group_of: Mapping[str, VariantGroup]
    views: frozenset[str]
    view_groups: tuple[ViewGroup, ...]
    view_group_of: Mapping[str, ViewGroup]
    backend_index: Mapping[str, Mapping[str, BackendKernel]]
