"""A small tensor library on NumPy whose operators run through the dispatcher, under torch's names.

    import torchgen_lite_reference as tl
    x = tl.tensor([[1.0, 2.0]])
    tl.add(x, x, alpha=2); x + x; x.add_(1)
    tl.ops.aten.add.Tensor(x, x); tl.redispatch.add(keys, x, x)

The operators come from the package `torchgen_lite_ops`, which is generated from `native_functions.yaml`.

Note [Import order]
There are no import cycles. The generated stubs and methods need no tensor; autograd, indexing and conversions build on
them, the tensor on these, kernels on the tensor, and registrations on kernels. The generated package begins with the
stubs and ends with the registrations, so either package may be imported first.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    # Of two definitions, type checkers use the first one, and Python the last one.
    from torchgen_lite_reference.face import *  # noqa: F403

from torchgen_lite_ops import dispatcher, functions, ops, redispatch
from torchgen_lite_ops.functions import *  # type: ignore[assignment]  # noqa: F403

# isort: split
from torchgen_lite_reference import autograd, face, func
from torchgen_lite_reference.autograd.mode import (
    enable_grad,
    inference_mode,
    is_grad_enabled,
    is_inference_mode_enabled,
    no_grad,
    set_grad_enabled,
)
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
from torchgen_lite_reference.dtype import bool_ as bool
from torchgen_lite_reference.dtype import (
    complex64,
    complex128,
    dtype,
    finfo,
    float16,
    float32,
    float64,
    get_default_dtype,
    iinfo,
    int8,
    int16,
    int32,
    int64,
    set_default_dtype,
    uint8,
)
from torchgen_lite_reference.face import *  # noqa: F403
from torchgen_lite_reference.fallbacks import register_by_hand, register_fallbacks
from torchgen_lite_reference.generator import Generator, default_generator, manual_seed
from torchgen_lite_reference.making import as_tensor, from_numpy, tensor
from torchgen_lite_reference.promotion import can_cast, promote_types, result_type
from torchgen_lite_reference.sparse_tensor import SparseTensor
from torchgen_lite_reference.storage import Storage
from torchgen_lite_reference.tensor import Number, Tensor, is_tensor
from torchgen_lite_reference.window import Size

half = float16
float = float32
double = float64
short = int16
int = int32
long = int64
cfloat = complex64
cdouble = complex128

# The libraries are kept, because their registrations are undone with them.
_fallbacks = register_fallbacks(dispatcher)
_by_hand = register_by_hand(dispatcher)

__all__ = [
    "Generator",
    "Number",
    "Size",
    "SparseTensor",
    "Storage",
    "Tensor",
    "as_tensor",
    "autograd",
    "bool",
    "can_cast",
    "cdouble",
    "cfloat",
    "channels_last",
    "channels_last_3d",
    "complex128",
    "complex64",
    "contiguous_format",
    "default_generator",
    "device",
    "dispatcher",
    "double",
    "dtype",
    "enable_grad",
    "finfo",
    "float",
    "float16",
    "float32",
    "float64",
    "from_numpy",
    "func",
    "get_default_dtype",
    "half",
    "iinfo",
    "inference_mode",
    "int",
    "int16",
    "int32",
    "int64",
    "int8",
    "is_grad_enabled",
    "is_inference_mode_enabled",
    "is_tensor",
    "layout",
    "long",
    "manual_seed",
    "memory_format",
    "no_grad",
    "ops",
    "preserve_format",
    "promote_types",
    "redispatch",
    "result_type",
    "set_default_dtype",
    "set_grad_enabled",
    "short",
    "sparse_coo",
    "strided",
    "tensor",
    "uint8",
]
__all__ += sorted({*functions.__all__, *face.__all__})
