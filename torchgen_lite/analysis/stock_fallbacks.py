"""The backend fallbacks of stock PyTorch 2.13, as data: key name to label.

Schema files don't mention fallbacks, but most tables end in them. A label that begins with
`fallthrough` stands for a fallthrough; the others run, and most of them redispatch below.
"""

from __future__ import annotations

_AUTOCAST = [f"Autocast{device}" for device in "CPU MTIA MAIA XPU MPS CUDA".split()]
_FALLTHROUGH = ("BackendSelect", "ADInplaceOrView", *_AUTOCAST, "FuncTorchVmapMode", "VmapMode")
_BACKENDS = "Other CPU CUDA XLA MPS XPU HPU Lazy MTIA MAIA PrivateUse1 Meta".split()
_AUTOGRAD = [f"Autograd{backend}" for backend in _BACKENDS]
META_FALLBACK = "PyTorch's Meta fallback"
"""It serves no call: it raises an error that says so."""

STOCK_FALLBACKS: dict[str, str] = {
    **dict.fromkeys(_FALLTHROUGH, "fallthrough"),
    **dict.fromkeys(_AUTOGRAD, "PyTorch's autograd-not-implemented"),
    "Meta": META_FALLBACK,
    "Python": "PyTorch's __torch_dispatch__",
    "FuncTorchDynamicLayerBackMode": "PyTorch's functorch interpreter",
    "Functionalize": "PyTorch's functionalization",
    "Conjugate": "PyTorch's conjugate fallback",
    "Negative": "PyTorch's negative fallback",
    "ZeroTensor": "PyTorch's zero tensor fallback",
    "Tracer": "PyTorch's tracer",
    "FuncTorchBatched": "PyTorch's batching fallback",
    "BatchedNestedTensor": "PyTorch's batching fallback for nested tensors",
    "Batched": "PyTorch's old batching fallback",
    "FuncTorchGradWrapper": "PyTorch's functorch fallback",
    "PythonTLSSnapshot": "PyTorch's snapshot of the local state",
    "FuncTorchDynamicLayerFrontMode": "PyTorch's functorch interpreter",
    "PreDispatch": "PyTorch's pre-dispatch fallback",
    "PythonDispatcher": "PyTorch's Python dispatcher",
}
