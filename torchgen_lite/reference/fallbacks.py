"""Backend fallbacks that let calls pass the keys for which this library has no kernels.

Every tensor carries ADInplaceOrView, an autograd and perhaps an autocast key, as torch's do; a
fallthrough takes them out of the dispatch at no cost (the corresponding table of stock torch is in
ATen `VariableFallbackKernel.cpp` and `autocast_mode.cpp`).
"""

from __future__ import annotations

from typing import Any

from torchgen_lite.reference.autograd.history import after_autograd, autograd_not_implemented
from torchgen_lite.reference.device import BACKENDS
from torchgen_lite.runtime import Dispatcher, DispatchKeySet, Library, fallthrough_kernel
from torchgen_lite_ops import redispatch_operators

AUTOCAST_KEYS = (
    "AutocastCPU",
    "AutocastMTIA",
    "AutocastMAIA",
    "AutocastXPU",
    "AutocastIPU",
    "AutocastHPU",
    "AutocastXLA",
    "AutocastMPS",
    "AutocastCUDA",
    "AutocastPrivateUse1",
)


def autograd_keys() -> tuple[str, ...]:
    """The runtime keys of autograd."""
    autograd = ["AutogradOther", "AutogradNestedTensor"]
    autograd += ["Autograd" + backend for backend in dict.fromkeys(BACKENDS.values())]
    return tuple(autograd)


def fallthrough_keys() -> tuple[str, ...]:
    """The runtime keys that are skipped where an operator has no kernel for them."""
    return ("BackendSelect", "ADInplaceOrView", *AUTOCAST_KEYS)


def register_fallbacks(dispatcher: Dispatcher) -> Library:
    """Register them; the library that is returned keeps them alive."""
    library = Library("_", "IMPL", dispatcher=dispatcher)
    for key in fallthrough_keys():
        library.fallback(fallthrough_kernel, key)
    for key in autograd_keys():
        library.fallback(autograd_not_implemented, key, with_keyset=True)
    return library


def register_by_hand(dispatcher: Dispatcher) -> Library:
    """The autograd kernels that torch writes by hand too; the library that is returned keeps them alive."""
    library = Library("aten", "IMPL", "Autograd", dispatcher=dispatcher)
    library.impl("resize_", _resize_, with_keyset=True)
    return library


def _resize_(keyset: DispatchKeySet, self: Any, *arguments: Any, **keywords: Any) -> Any:
    """What is recorded of a tensor is for the shape that it had."""
    if self._requires_grad:
        raise RuntimeError("cannot resize variables that require grad")
    return redispatch_operators.resize_(after_autograd[keyset], self, *arguments, **keywords)
