"""A view is traced and differentiated as the torch view that its rule names."""

from __future__ import annotations

from typing import Any

import torch

from ._autograd import BelowAutograd, any_requires_grad
from ._forward import may_have_tangents
from ._library import Registering, current

# Parts of torch have no annotations.
_C: Any = torch._C


def register(registering: Registering) -> None:
    """The view in place of the operator, for compilers and for `torch.vmap`."""
    for key in ("Functionalize", "FuncTorchBatched"):
        if registering.has("view") and not registering.has_kernel(key):
            registering.impl(key, current(registering.table, registering.name, "view"))


def register_autograd(registering: Registering) -> None:
    """The kernel for Autograd, unless the author has written one."""
    if not registering.has("view") or registering.has("Autograd"):
        return
    op = registering.op
    view = current(registering.table, registering.name, "view")

    def autograd(keyset: Any, /, *args: Any, **kwargs: Any) -> Any:
        is_wanted = torch.is_grad_enabled() and any_requires_grad(*args, kwargs)
        if is_wanted or may_have_tangents():
            return view(*args, **kwargs)
        with BelowAutograd():
            return op.redispatch(keyset & _C._after_autograd_keyset, *args, **kwargs)

    registering.impl("Autograd", autograd, with_keyset=True)
