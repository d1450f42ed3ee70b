"""Differentiation: `tl.autograd.grad`, `tl.autograd.backward`, modes, the graph.

mode.py        whether calls are recorded
node.py        nodes, edges, saved tensors
views.py       views and their versions
edges.py       leaves, and changes in place of what views share
history.py     what generated kernels call
engine.py      backward
tangents.py    which tensors have tangents
forward.py     tangents of results
forward_ad.py  dual numbers
support.py     gradients brought to shape, added, kept
attributes.py  `x.grad`, `x.backward()` ...
formulas/      functions that formulas call
"""

from __future__ import annotations

from torchgen_lite_reference.autograd import forward_ad
from torchgen_lite_reference.autograd.engine import backward, grad
from torchgen_lite_reference.autograd.mode import (
    enable_grad,
    inference_mode,
    is_grad_enabled,
    no_grad,
    set_grad_enabled,
)
from torchgen_lite_reference.autograd.node import Node

__all__ = [
    "Node",
    "backward",
    "enable_grad",
    "forward_ad",
    "grad",
    "inference_mode",
    "is_grad_enabled",
    "no_grad",
    "set_grad_enabled",
]
