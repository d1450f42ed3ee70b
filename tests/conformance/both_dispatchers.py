"""What comparisons of calls through torch and this dispatcher share: tensors, outcomes of calls, stock fallbacks."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import _C as C

from torchgen_lite.runtime import DispatchKeySet, Library, fallthrough_kernel, named_sets

# Keys without a fallback in torch, or with one that falls through.
INCLUDED = ("TESTING_ONLY_GenericWrapper", "TESTING_ONLY_GenericMode", "SparseCPU", "VmapMode")
EXCLUDED = "AutogradFunctionality AutogradOther ADInplaceOrView BackendSelect CPU Dense".split()
BEHAVIORS = ("leaf", "redispatch", "redispatch", "fallthrough")


class Tensor:
    """A tensor for our dispatcher, with the keys of a tensor of torch."""

    def __init__(self, tensor: Any) -> None:
        self._dispatch_keyset = DispatchKeySet.from_raw_repr(C._dispatch_keys(tensor).raw_repr())


def torch_tensors() -> dict[str, Any]:
    """One of each kind."""
    with torch.inference_mode():
        inference = torch.ones(2)
    cpu = torch.ones(2)
    meta, sparse = torch.ones(2, device="meta"), cpu.to_sparse()
    return {"cpu": cpu, "meta": meta, "sparse": sparse, "inference": inference}


def outcome(call: Callable[[], Any]) -> str:
    """How a call ended, in terms that both dispatchers share."""
    try:
        call()
    except NotImplementedError:
        return "missing"
    except RuntimeError as error:
        text = str(error)
        return "ambiguous" if "mbiguous" in text or "AutogradOther" in text else "error"
    return "returned"


def add_stock_fallbacks(wildcard: Library) -> None:
    """The fallbacks that PyTorch registers itself, at keys that these calls reach."""
    for key in ("AutogradCPU", "AutogradMeta", "AutogradOther"):
        wildcard.fallback(_pass_on, key, with_keyset=True)
    for key in ("BackendSelect", "ADInplaceOrView", "VmapMode", "AutocastCPU"):
        wildcard.fallback(fallthrough_kernel, key)
    wildcard.fallback(_no_meta, "Meta")


def _pass_on(keys: DispatchKeySet, operator: Any, *arguments: Any, **keywords: Any) -> Any:
    return operator.redispatch(keys & named_sets.AFTER_AUTOGRAD, *arguments, **keywords)


def _no_meta(operator: Any, *arguments: Any, **keywords: Any) -> Any:
    raise NotImplementedError(f"{operator} has no Meta kernel")
