"""Variants that copy the result of the functional variant's kernel.

Note [Variants that copy]
The file of a backend, in the format of torchgen's `gen_backend_stubs`, names `add.Tensor`, and `add_.Tensor` and
`add.out` follow: they call the kernel and copy what it gives to where the caller wants it, with PyTorch's `_copy_from`
or, for an out argument, `_copy_from_and_resize`. The backend has to have kernels for these two. With
`use_out_as_primary` nothing follows: PyTorch itself has kernels that call the out variant, for operators that are
structured in its own file (torchgen `gets_generated_out_inplace_wrapper`).
"""

from __future__ import annotations

from torchgen_lite.analysis.derive.model import VariantGroup
from torchgen_lite.loader.entry import DispatchEntry, NativeFunction
from torchgen_lite.schema import SchemaKind
from torchgen_lite.schema.model import bare_type

# What copies results to an argument, by the kind of the variant that has it.
COPIES = {SchemaKind.inplace: "_copy_from", SchemaKind.out: "_copy_from_and_resize"}
# PyTorch has no kernels for these and so leaves the check of devices on; but they copy from one device to another.
BETWEEN_DEVICES = frozenset(COPIES.values())


def copied_entries(group: VariantGroup, variant: NativeFunction) -> list[DispatchEntry]:
    """The kernels of the functional variant that serve another one, which has none of its own."""
    own = {entry.key for entry in variant.dispatch}
    found = [entry for entry in copying_entries(group) if entry.key not in own]
    return found if found and takes_results(group, variant) else []


def copying_entries(group: VariantGroup) -> list[DispatchEntry]:
    """The kernels of the functional variant that other variants follow from."""
    entries = group.functional.dispatch
    return [e for e in entries if e.backend is not None and e.backend.copies_variants]


def takes_results(group: VariantGroup, variant: NativeFunction) -> bool:
    """Whether an in-place or out variant writes what the functional one returns, in its order, and nothing else.

    Whatever it returns is one of these.
    """
    schema = variant.func
    kind = schema.kind()
    written = tuple([argument for argument in schema.arguments if argument.is_write])
    if kind not in COPIES:
        return False
    if kind is SchemaKind.out and written != schema.out:
        return False
    if not {value.annotation for value in schema.returns} <= {a.annotation for a in written}:
        return False
    results = group.functional.func.returns
    return [bare_type(a.type) for a in written] == [bare_type(r.type) for r in results]
