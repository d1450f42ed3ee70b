"""What PyTorch's composite kernels and a fallback cannot give a backend.

Note [Results that are not dense]
A fallback computes on the CPU, and copies back what it gets; a composite kernel calls the
constructor of its result. Where the result is sparse, quantized or nested, both end in a call
with another key of the same backend (`SparsePrivateUse1`), which no fallback of the dense key
serves. No schema says what the layout of a result is, so these operators stand here by name.
`tests/conformance/happened.py` calls what PyTorch's samples reach, and most of these, on a device
that was built; a test compares what happened with the verdicts.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from torchgen_lite.runtime import DispatchKey


class Results(NamedTuple):
    """Operators with results of one functionality, and what makes such a result on a backend."""

    functionality: str
    made_by: str
    operators: frozenset[str]


NOT_DENSE = (
    Results(
        "Sparse",
        "_sparse_coo_tensor_with_dims_and_tensors",
        frozenset(
            {
                "_embedding_bag_sparse_backward",
                "_gather_sparse_backward",
                "_sparse_coo_tensor_unsafe",
                "_spdiags",
                "_to_sparse",
                "_to_sparse.sparse_dim",
                "embedding_sparse_backward",
                "sparse_coo_tensor.indices",
                "sparse_coo_tensor.indices_size",
                "sparse_coo_tensor.size",
                "to_sparse",
                "to_sparse.sparse_dim",
            }
        ),
    ),
    Results(
        "Quantized",
        "empty_quantized",
        frozenset(
            {
                "_empty_affine_quantized",
                "_empty_per_channel_affine_quantized",
                "_make_per_channel_quantized_tensor",
                "_make_per_tensor_quantized_tensor",
                "quantize_per_channel",
                "quantize_per_tensor",
                "quantize_per_tensor.tensor_qparams",
                "quantize_per_tensor.tensors",
                "quantize_per_tensor_dynamic",
            }
        ),
    ),
    Results(
        "NestedTensor",
        "_to_copy",
        frozenset(
            {
                "_nested_from_padded",
                "_nested_tensor_from_mask",
            }
        ),
    ),
)
# Their kernels, which are composite or of the CPU, take and give memory of the CPU alone.
ONLY_CPU = frozenset(
    {
        "_pin_memory",
        "mkldnn_convolution",
        "pin_memory",
        "to_mkldnn",
    }
)
# PyTorch's kernels for them raise an error that asks the backend for one.
ONLY_RAISING = frozenset(
    {
        "_scaled_dot_product_fused_attention_overrideable",
        "_scaled_dot_product_fused_attention_overrideable_backward",
        "convolution_backward_overrideable",
        "convolution_overrideable",
    }
)


def made_below(name: str, key: str) -> Iterator[tuple[str, str]]:
    """The calls, operator and key, in which a composite kernel or a fallback of `key` ends for its result."""
    for results in NOT_DENSE:
        beside = f"{results.functionality}{key}"
        if name.removeprefix("aten::") in results.operators and beside in DispatchKey.__members__:
            yield f"aten::{results.made_by}", beside


def is_refused(name: str, key: str) -> bool:
    """Whether PyTorch's composite kernel, or the CPU's below a fallback, refuses tensors with `key`."""
    plain = name.removeprefix("aten::")
    return plain in ONLY_RAISING or plain in ONLY_CPU and key != "CPU"
