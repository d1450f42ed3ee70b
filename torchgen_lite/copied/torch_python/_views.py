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
    if not registering.has("view"):
        return
    op = registering.op
    view = current(registering.table, registering.name, "view")

    def autograd(keyset: Any, /, *args: Any, **kwargs: Any) -> Any:
        is_wanted = torch.is_grad_enabled() and any_requires_grad(*args, kwargs)
        if is_wanted or may_have_tangents():
            return view(*args, **kwargs)
        with BelowAutograd():
            return op.redispatch(keyset & _C._after_autograd_keyset, *args, **kwargs)

    if not registering.has_kernel("Functionalize"):
        registering.impl("Functionalize", view)
    if not registering.has_kernel("Autograd"):
        registering.impl("Autograd", autograd, with_keyset=True)
