"""Backend fallbacks that let calls pass the keys for which this library has no kernels.

Every tensor carries ADInplaceOrView, an autograd and perhaps an autocast key, as torch's do; a fallthrough removes
them from the dispatch at no cost (the corresponding table of stock torch is in
ATen `VariableFallbackKernel.cpp` and `autocast_mode.cpp`).
"""

from __future__ import annotations

from typing import Any

from torchgen_lite_ops import ops
from torchgen_lite_reference.autograd.history import after_autograd, autograd_not_implemented
from torchgen_lite_reference.autograd.tangents import tangent_of
from torchgen_lite_reference.framework import FALLBACKS
from torchgen_lite_runtime import Dispatcher, DispatchKeySet, Library, fallthrough_kernel

_KERNELS = {
    "fallthrough": fallthrough_kernel,
    "autograd_not_implemented": autograd_not_implemented,
}


def register_fallbacks(dispatcher: Dispatcher) -> Library:
    """Register them; the returned library keeps them alive."""
    library = Library("_", "IMPL", dispatcher=dispatcher)
    for key, name in FALLBACKS.items():
        kernel = _KERNELS[name]
        library.fallback(kernel, key, with_keyset=kernel is not fallthrough_kernel)
    return library


def register_by_hand(dispatcher: Dispatcher) -> Library:
    """The autograd kernels that are handwritten in torch, too; the returned library keeps them alive."""
    library = Library("aten", "IMPL", "Autograd", dispatcher=dispatcher)
    library.impl("resize_", _resize_, with_keyset=True)
    return library


def _resize_(keyset: DispatchKeySet, self: Any, *arguments: Any, **keywords: Any) -> Any:
    """What has been recorded for a tensor is for its old shape."""
    if self._requires_grad:
        raise RuntimeError("cannot resize variables that require grad")
    if tangent_of(self) is not None:
        raise RuntimeError("cannot resize variables that has a forward grad")
    below = after_autograd[keyset]
    return ops.aten.resize_.default.redispatch(below, self, *arguments, **keywords)
