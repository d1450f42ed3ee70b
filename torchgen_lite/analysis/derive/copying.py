"""Variants that copy the result of the functional variant's kernel.

Note [Variants that copy]
When a backend file (torchgen's `gen_backend_stubs` format) lists `add.Tensor`, kernels for
`add_.Tensor` and `add.out` are derived: they call that kernel and copy its result to `self` with
`_copy_from`, or to the out argument with `_copy_from_and_resize`. The backend must have kernels for
these two. With `use_out_as_primary` nothing is derived: PyTorch already has kernels that call the
out variant, for operators that its own file declares structured (torchgen
`gets_generated_out_inplace_wrapper`).
"""

from __future__ import annotations

from torchgen_lite.analysis.derive.model import VariantGroup
from torchgen_lite.loader.entry.entry import DispatchEntry, NativeFunction
from torchgen_lite.schema import SchemaKind
from torchgen_lite.schema.model import annotations_of, bare_types

# The operator that copies results to an argument, by kind of variant.
COPIES = {SchemaKind.inplace: "_copy_from", SchemaKind.out: "_copy_from_and_resize"}
# These copy between devices, yet PyTorch, having no kernels for them, leaves the device check on.
BETWEEN_DEVICES = frozenset(COPIES.values())


def copied_entries(group: VariantGroup | None, variant: NativeFunction) -> list[DispatchEntry]:
    """The functional variant's kernels that serve another variant without kernels of its own."""
    keys = variant.keys
    entries = [entry for entry in copying_entries(group) if entry.key not in keys]
    if group and entries and takes_results(group, variant):
        return entries
    return []


def copying_entries(group: VariantGroup | None) -> list[DispatchEntry]:
    """The functional variant's kernels from which other variants are derived."""
    entries = group.functional.dispatch if group else ()
    return [e for e in entries if e.backend is not None and e.backend.copies_variants]


def takes_results(group: VariantGroup, variant: NativeFunction) -> bool:
    """Whether an in-place or out variant writes exactly what the functional one returns, in order.

    It may return these, and nothing else.
    """
    schema = variant.func
    kind = schema.kind()
    written = schema.written
    if kind not in COPIES or (kind is SchemaKind.out and written != schema.out):
        return False
    if not set(annotations_of(schema.returns)).issubset(annotations_of(written)):
        return False
    return bare_types(written) == bare_types(group.functional.func.returns)
