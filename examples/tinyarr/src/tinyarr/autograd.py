"""Gradients: what generated kernels of Autograd call, what formulas call, and the way back.

>>> from tinyarr import array
>>> x = wanted(array([1.0, 2.0]))
>>> backward((x * x).sum())
>>> x.grad
array([2.0, 4.0], device='cpu')
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from torchgen_lite.runtime import DispatchKey, DispatchKeySet, KeysetMask, Library, OperatorHandle

from tinyarr._array import Array
from tinyarr._ops import dispatcher, functions

Gradients = Sequence["Array | None"]
# By the keyset of a call that of the kernels below Autograd.
after_autograd = KeysetMask(DispatchKeySet.full_after(DispatchKey.AutogradOther))
_recording = [True]


class Node:
    """A recorded call: what made its arguments (None: no gradient wanted), and what it saved."""

    def __init__(self, edges: Sequence[Node | None], needs: Sequence[bool]) -> None:
        self.edges = edges
        self.needs = needs
        self.saved: tuple[Any, ...] = ()

    def unpack(self) -> tuple[Any, ...]:
        return self.saved

    def apply(self, grads: Gradients) -> Gradients:
        """The gradients of the arguments; the generated nodes have the formulas of `ops.yaml`."""
        raise NotImplementedError


class Leaf(Node):
    """Where gradients end: they are added up in an array."""

    def __init__(self, array: Array) -> None:
        super().__init__((), ())
        self.array = array

    def apply(self, grads: Gradients) -> Gradients:
        (grad,) = grads
        if grad is not None:
            self.array.grad = grad if self.array.grad is None else self.array.grad + grad
        return ()


def wanted(array: Array) -> Array:
    """Says that the gradient of an array is wanted."""
    array.record(Leaf(array))
    return array


def grad_enabled() -> bool:
    return _recording[-1]


@contextmanager
def no_grad() -> Iterator[None]:
    """Records nothing."""
    _recording.append(False)
    try:
        yield
    finally:
        _recording.pop()


def edge_of(array: Array) -> Node | None:
    return array.node if array._requires_grad else None


def save(array: Array) -> Array:
    """No operator writes to an array, so what is saved stays as it is."""
    return array


def set_history(node: Node, result: Array) -> None:
    result.record(node)


def backward(array: Array) -> None:
    """Adds to `grad` of every array that is `wanted` how `array`, a sum, depends on it."""
    grads: dict[Node, Array] = {array.node: functions.full(array.shape, 1, device=array.device)}
    order: dict[Node, None] = {}
    _visit(array.node, order)
    with no_grad():
        for node in reversed(order):
            for edge, grad in zip(node.edges, node.apply([grads.pop(node)])):
                if edge is not None and grad is not None:
                    grads[edge] = grads[edge] + grad if edge in grads else grad


def _visit(node: Node, order: dict[Node, None]) -> None:
    """Nodes behind those that they depend on."""
    if node not in order:
        for edge in node.edges:
            if edge is not None:
                _visit(edge, order)
        order[node] = None


def spread(grad: Array, like: Array) -> Array:
    """For the formula of `sum`: one number everywhere."""
    return functions.full(like.shape, grad.numpy().item(), device=like.device)


def _no_formula(keys: DispatchKeySet, op: OperatorHandle, /, *given: Any, **named: Any) -> Any:
    """At the autograd keys of operators without `derivatives:`."""
    if grad_enabled():
        raise NotImplementedError(f"{op} has no gradient")
    return op.redispatch(after_autograd[keys], *given, **named)


_fallbacks = Library("_", "IMPL", dispatcher=dispatcher)
for _key in ("AutogradCPU", "AutogradPrivateUse1"):
    _fallbacks.fallback(_no_formula, _key, with_keyset=True)
