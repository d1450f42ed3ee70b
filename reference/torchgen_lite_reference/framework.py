"""The names that the generated package imports from this tensor library (option `framework`).

Types for annotations: Tensor Number Generator dtype device layout memory_format Storage Stream.
Constants of schema defaults: contiguous_format, preserve_format, strided, sparse_coo. Helpers of
structured kernels and of BackendSelect: allocate resize_out check_inplace key_for_options.
"""

from __future__ import annotations

from typing import Final

from torchgen_lite_reference.autograd.forward import element_wise, set_tangents
from torchgen_lite_reference.autograd.history import (
    after_adinplaceorview,
    after_autograd,
    as_view,
    as_views,
    bump_version,
    edge_of,
    edges_of,
    grad_enabled,
    needs_grad,
    original,
    output_of,
    rebase_history,
    refuse_out,
    save,
    save_list,
    save_optional,
    save_result,
    set_histories,
    set_history,
)
from torchgen_lite_reference.autograd.history import check_inplace as check_inplace_history
from torchgen_lite_reference.autograd.node import Gradients, Node, zeros
from torchgen_lite_reference.autograd.support import conj
from torchgen_lite_reference.autograd.tangents import dual_levels, refuse_tangents, tangents_of
from torchgen_lite_reference.device import (
    channels_last,
    channels_last_3d,
    contiguous_format,
    device,
    layout,
    memory_format,
    preserve_format,
    sparse_coo,
    strided,
)
from torchgen_lite_reference.dtype import dtype
from torchgen_lite_reference.generator import Generator
from torchgen_lite_reference.storage import Storage
from torchgen_lite_reference.structured import allocate, check_inplace, key_for_options, resize_out
from torchgen_lite_reference.tensor import Number, Tensor

# What this library registers in addition to the generated package, as literals that `torchgen-lite table` reads: the
# backend fallbacks by key (a label that begins with `fallthrough` lets calls pass), and kernels of operators.
FALLBACKS: Final = {
    "BackendSelect": "fallthrough",
    "ADInplaceOrView": "fallthrough",
    "AutocastCPU": "fallthrough",
    "AutocastMTIA": "fallthrough",
    "AutocastMAIA": "fallthrough",
    "AutocastXPU": "fallthrough",
    "AutocastIPU": "fallthrough",
    "AutocastHPU": "fallthrough",
    "AutocastXLA": "fallthrough",
    "AutocastMPS": "fallthrough",
    "AutocastCUDA": "fallthrough",
    "AutocastPrivateUse1": "fallthrough",
    "AutogradOther": "autograd_not_implemented",
    "AutogradNestedTensor": "autograd_not_implemented",
    "AutogradCPU": "autograd_not_implemented",
    "AutogradMeta": "autograd_not_implemented",
    "AutogradCUDA": "autograd_not_implemented",
    "AutogradHIP": "autograd_not_implemented",
    "AutogradXLA": "autograd_not_implemented",
    "AutogradMPS": "autograd_not_implemented",
    "AutogradIPU": "autograd_not_implemented",
    "AutogradXPU": "autograd_not_implemented",
    "AutogradHPU": "autograd_not_implemented",
    "AutogradVE": "autograd_not_implemented",
    "AutogradLazy": "autograd_not_implemented",
    "AutogradMTIA": "autograd_not_implemented",
    "AutogradMAIA": "autograd_not_implemented",
    "AutogradPrivateUse1": "autograd_not_implemented",
    "AutogradPrivateUse2": "autograd_not_implemented",
    "AutogradPrivateUse3": "autograd_not_implemented",
}
KERNELS: Final = {"aten::resize_": {"Autograd": "resize_, which has no formula"}}

__all__ = [
    "Generator",
    "Gradients",
    "Node",
    "Number",
    "Storage",
    "Stream",
    "Tensor",
    "after_adinplaceorview",
    "after_autograd",
    "allocate",
    "as_view",
    "as_views",
    "bump_version",
    "channels_last",
    "channels_last_3d",
    "check_inplace",
    "check_inplace_history",
    "conj",
    "contiguous_format",
    "device",
    "dtype",
    "dual_levels",
    "edge_of",
    "edges_of",
    "element_wise",
    "grad_enabled",
    "key_for_options",
    "layout",
    "memory_format",
    "needs_grad",
    "original",
    "output_of",
    "preserve_format",
    "rebase_history",
    "refuse_out",
    "refuse_tangents",
    "resize_out",
    "save",
    "save_list",
    "save_optional",
    "save_result",
    "set_histories",
    "set_history",
    "set_tangents",
    "sparse_coo",
    "strided",
    "tangents_of",
    "zeros",
]


class Stream:
    """An execution stream. NumPy has none; the type exists for schemas that name it."""
