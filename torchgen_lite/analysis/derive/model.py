"""Functions that belong together."""

from __future__ import annotations

from typing import NamedTuple

from torchgen_lite.loader.entry.entry import NativeFunction
from torchgen_lite.schema.grouped import without_none


class VariantGroup(NamedTuple):
    """A functional and an out variant, and the other variants with their signature.

    torchgen `NativeFunctionsGroup`. An operator with only one of the two is in no group.
    """

    functional: NativeFunction
    out: NativeFunction
    inplace: NativeFunction | None = None
    mutable: NativeFunction | None = None

    @property
    def structured(self) -> bool:
        """Whether the kernels are split into a meta and an impl function."""
        return self.out.structured

    def functions(self) -> list[NativeFunction]:
        """The variants that exist: functional, out, in-place, mutable."""
        return without_none(self)


class ViewGroup(NamedTuple):
    """A view, its copying and its in-place variant (torchgen `NativeFunctionsViewGroup`)."""

    view: NativeFunction
    view_inplace: NativeFunction | None = None
    view_copy: NativeFunction | None = None

    def functions(self) -> list[NativeFunction]:
        """The members that exist: view, in-place view, copy."""
        return without_none(self)
