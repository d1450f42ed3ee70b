"""Leaves, which accumulate gradients, and in-place changes of memory that views share.

gradient_edge(tensor)           where the gradient of a tensor goes
rebase_history(node, tensor)    a tensor was changed in place by the call of `node`
"""

from __future__ import annotations

import weakref
from typing import TYPE_CHECKING

from torchgen_lite_ops import operators
from torchgen_lite_reference.autograd.node import (
    LEAVES,
    Edge,
    Gradients,
    Meta,
    Node,
    attach,
    meta_of,
    output_of,
)
from torchgen_lite_reference.autograd.support import accumulate
from torchgen_lite_reference.autograd.views import Replay, View, mark_views, refresh

if TYPE_CHECKING:
    from torchgen_lite_reference.tensor import Tensor


class AccumulateGrad(Node):
    """The end of the graph at a leaf: adds the gradients that arrive to the leaf's `grad`."""

    __slots__ = ("variable",)

    def __init__(self, variable: Tensor) -> None:
        super().__init__(())
        self.variable = variable
        self.sequence = LEAVES
        self.outputs.append(output_of(variable))

    def apply(self, grads: Gradients) -> Gradients:
        if grads[0] is not None:
            accumulate(self.variable, grads[0])
        return ()


def gradient_edge(tensor: Tensor) -> Edge | None:
    """Where the gradient of a tensor goes; None if it needs none."""
    meta = tensor._meta
    if meta is not None:
        if meta.view is not None:
            refresh(tensor, meta)
        if meta.grad_fn is not None:
            return meta.grad_fn, meta.output
    if not tensor._requires_grad:
        return None
    if meta is None:
        meta = tensor._meta = Meta()
    node = meta.accumulator() if meta.accumulator is not None else None
    if node is None:
        node = AccumulateGrad(tensor)
        meta.accumulator = weakref.ref(node)
    return node, 0


def rebase_history(node: Node, tensor: Tensor) -> Tensor:
    """Make a tensor that was just changed in place the result of `node`."""
    node.outputs.append(output_of(tensor))
    if not tensor._dtype.differentiable:
        return tensor
    meta = meta_of(tensor)
    if meta.view is None:
        attach(tensor, node, 0)
        mark_views(tensor)
        return tensor
    view: View = meta.view
    base = view.base
    copy = CopySlices(gradient_edge(base), node, base, view.chain)
    attach(base, copy, 0)
    mark_views(base)
    tensor._requires_grad = True
    meta.grad_fn = None
    view.version = -1
    return tensor


class CopySlices(Node):
    """A base that was partly changed: the gradient of that part goes through the node of the change."""

    __slots__ = ("chain", "inner", "strides")

    def __init__(
        self, edge: Edge | None, inner: Node, base: Tensor, chain: tuple[Replay, ...]
    ) -> None:
        super().__init__((edge, *inner.edges[1:]))
        self.inner = inner
        self.chain = chain
        self.strides = base._strides
        self.outputs.append(output_of(base))

    def apply(self, grads: Gradients) -> Gradients:
        (grad,) = grads
        assert grad is not None
        output = self.outputs[0]
        result = operators.empty_strided(
            output.shape, self.strides, dtype=output.dtype, device=output.device
        )
        operators.copy_(result, grad)
        part = result
        for step in self.chain:
            part = step(part)
        found = self.inner.apply((operators.clone(part),))
        if found[0] is None:
            operators.zero_(part)
        else:
            operators.copy_(part, found[0])
        return (result, *found[1:])

    def release(self) -> None:
        self.inner.release()
