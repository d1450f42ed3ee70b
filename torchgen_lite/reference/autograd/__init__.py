"""Reverse-mode differentiation: `tl.autograd.grad`, `tl.autograd.backward`, modes, the graph.

mode.py        whether calls are recorded
node.py        nodes, edges, saved tensors
views.py       views, versions, in-place changes
history.py     what generated kernels call
engine.py      backward
support.py     gradients brought to shape, added, kept
attributes.py  `x.grad`, `x.backward()` ...
formulas/      functions that formulas call
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from torchgen_lite.reference.autograd.mode import (
    enable_grad,
    inference_mode,
    is_grad_enabled,
    no_grad,
    set_grad_enabled,
)

if TYPE_CHECKING:
    from torchgen_lite.reference.autograd.engine import backward, grad
    from torchgen_lite.reference.autograd.node import Node

__all__ = [
    "Node",
    "backward",
    "enable_grad",
    "grad",
    "inference_mode",
    "is_grad_enabled",
    "no_grad",
    "set_grad_enabled",
]


def __getattr__(name: str) -> Any:
    # The tensor class imports its attributes from this package before there are operators.
    if name in ("backward", "grad"):
        from torchgen_lite.reference.autograd import engine

        return getattr(engine, name)
    if name == "Node":
        from torchgen_lite.reference.autograd.node import Node

        return Node
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
