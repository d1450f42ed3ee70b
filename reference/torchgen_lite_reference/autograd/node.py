"""The graph: nodes, edges, what nodes save, and what a tensor knows about its place in the graph.

A node stands for one call. It has an edge for each input that may get a gradient: the node that made that
input and the number of its output there, or None where no gradient is wanted. `apply` takes a gradient
for each output and returns one for each edge.
"""

from __future__ import annotations

import itertools
import weakref
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from torchgen_lite_ops import operators

if TYPE_CHECKING:
    from torchgen_lite_reference.device import device
    from torchgen_lite_reference.dtype import dtype
    from torchgen_lite_reference.tensor import Tensor

Gradients = Sequence["Tensor | None"]
Hook = Callable[["Tensor"], "Tensor | None"]

FREED = (
    "Trying to backward through the graph a second time (or directly access saved tensors after they have"
    " already been freed). Saved intermediate values of the graph are freed when you call .backward() or"
    " autograd.grad(). Specify retain_graph=True if you need to backward through the graph a second time"
    " or if you need to access saved tensors after calling backward."
)

INFERENCE_SAVED = (
    "Inference tensors cannot be saved for backward. A tensor made in inference mode has no "
    "version counter, so autograd could not detect changes to it: use a clone of it, which is a "
    "normal tensor, or make it under no_grad() instead of inference_mode()."
)

_sequence = itertools.count()

LEAVES = 1 << 62
"""The sequence number of leaves: their gradients are added up first, as soon as they are complete."""


Edge = tuple["Node", int]
"""One output of a node. A plain tuple, for a call makes one of each argument."""


class Output(NamedTuple):
    """What a gradient for an output has to look like."""

    shape: tuple[int, ...]
    dtype: dtype
    device: device


def output_of(tensor: Tensor) -> Output:
    # Half the cost of `Output(...)`, whose `__new__` is written in Python.
    return tuple.__new__(Output, (tensor._shape, tensor._dtype, tensor._device))


def zeros(output: Output) -> Tensor:
    """Zeros of an output's shape, type and device."""
    return operators.zeros(output.shape, dtype=output.dtype, device=output.device)


class Node:
    """One recorded call. Subclasses, which are generated, say how gradients go through it, and whether their formulas call
    what may not be linear, so that forward mode tries them (`is_tried`)."""

    is_tried = False
    __slots__ = ("__weakref__", "edges", "hooks", "needs", "outputs", "saved", "sequence")

    def __init__(self, edges: tuple[Edge | None, ...], needs: tuple[bool, ...] = ()) -> None:
        self.edges = edges
        self.needs = needs
        self.saved: tuple[Any, ...] | None = ()
        self.outputs: list[Output] = []
        self.hooks: Hooks | None = None
        self.sequence = next(_sequence)

    def apply(self, grads: Gradients) -> Gradients:
        """A gradient for each edge."""
        raise NotImplementedError

    def keep(self, *items: Any) -> None:
        """Save more values, after those that were saved before."""
        self.saved = (*(self.saved or ()), *items)

    def unpack(self) -> list[Any]:
        """The saved values; RuntimeError if they were freed, or changed in place since."""
        if self.saved is None:
            raise RuntimeError(FREED)
        return [item.unpack(self) if type(item) in _TENSORS else item for item in self.saved]

    def release(self) -> None:
        """Release the saved tensors. A node that saved no tensors can run again."""
        for item in self.saved or ():
            if type(item) in _TENSORS:
                self.saved = None
                return

    def materialize(self, grads: Gradients) -> list[Tensor]:
        """The gradients, with zeros for those that are missing."""
        return [
            zeros(output) if grad is None else grad for grad, output in zip(grads, self.outputs)
        ]

    def name(self) -> str:
        return type(self).__name__

    @property
    def next_functions(self) -> tuple[tuple[Node | None, int], ...]:
        """The edges as torch shows them."""
        return tuple(edge if edge is not None else (None, 0) for edge in self.edges)

    def register_hook(self, hook: Callable[[Gradients, Gradients], Gradients | None]) -> Handle:
        """`hook(grad_inputs, grad_outputs)` runs after the node and may replace its results."""
        return _hooks_of(self).add(_hooks_of(self).after, hook)

    def register_prehook(self, hook: Callable[[Gradients], Gradients | None]) -> Handle:
        """`hook(grad_outputs)` runs before the node and may replace its gradients."""
        return _hooks_of(self).add(_hooks_of(self).before, hook)

    def __repr__(self) -> str:
        return f"<{self.name()}>"


class Hooks:
    """The hooks of one node: of its outputs (`tensor.register_hook`), before and after it."""

    __slots__ = ("after", "before", "outputs", "retains")

    def __init__(self) -> None:
        self.outputs: dict[int, dict[int, Hook]] = {}
        self.retains: dict[int, weakref.ref[Tensor]] = {}
        self.before: dict[int, Any] = {}
        self.after: dict[int, Any] = {}

    def add(self, table: dict[int, Any], hook: Any) -> Handle:
        handle = Handle(table)
        table[handle.id] = hook
        return handle


_handles = itertools.count()


class Handle:
    """Removes a hook."""

    __slots__ = ("_table", "id")

    def __init__(self, table: dict[int, Any]) -> None:
        self._table = table
        self.id = next(_handles)

    def remove(self) -> None:
        self._table.pop(self.id, None)


def _hooks_of(node: Node) -> Hooks:
    if node.hooks is None:
        node.hooks = Hooks()
    return node.hooks


def add_output_hook(edge: Edge, hook: Hook) -> Handle:
    node, output = edge
    hooks = _hooks_of(node)
    return hooks.add(hooks.outputs.setdefault(output, {}), hook)


def add_retained(edge: Edge, tensor: Tensor) -> None:
    """The gradient that arrives at an output is kept as the tensor's `.grad`."""
    node, output = edge
    _hooks_of(node).retains[output] = weakref.ref(tensor)


class SavedTensor:
    """An input that backward needs, and the version it had.

    Note [Saved results]
    A node that saved its own result would be in a reference cycle with it until the garbage collector runs. So a
    result is saved as another tensor with the same memory, which is put back in its place in the graph when it is
    unpacked.
    """

    __slots__ = ("output", "tensor", "version")

    def __init__(self, tensor: Tensor, output: int = -1) -> None:
        version = self.version = tensor._storage.version
        if version is None:
            raise RuntimeError(INFERENCE_SAVED)
        self.output = output
        self.tensor = tensor if output < 0 else tensor._shallow_copy()

    def unpack(self, node: Node) -> Tensor:
        tensor = self.tensor
        version = tensor._storage.version
        if version != self.version:
            made = _made_by(tensor, self.output, node)
            raise RuntimeError(
                "one of the variables needed for gradient computation has been modified by an inplace"
                f" operation: [{tensor._dtype.scalar_type} {list(tensor._shape)}]{made} is at version"
                f" {version}; expected version {self.version} instead. Hint: the variable is an input or"
                f" the result of {node.name()}; modify it out of place, or clone it first."
            )
        if self.output < 0:
            return tensor
        same = attach(tensor._shallow_copy(), node, self.output)
        if tensor._meta is not None:
            meta_of(same).tangent = tensor._meta.tangent
        return same


def _made_by(tensor: Tensor, output: int, node: Node) -> str:
    """Which output of which node a saved tensor is, for a message."""
    maker: Node | None = node if output >= 0 else None
    if maker is None and tensor._meta is not None:
        maker, output = tensor._meta.grad_fn, tensor._meta.output
    return "" if maker is None else f", which is output {output} of {maker.name()},"


class SavedTensors:
    """A list of tensors, or of tensors and None."""

    __slots__ = ("items",)

    def __init__(self, tensors: Sequence[Tensor | None]) -> None:
        self.items = [None if t is None else SavedTensor(t) for t in tensors]

    def unpack(self, node: Node) -> list[Tensor | None]:
        return [None if item is None else item.unpack(node) for item in self.items]


_TENSORS = frozenset({SavedTensor, SavedTensors})


class Meta:
    """What a tensor knows about the graph. Most tensors have no such record (`tensor._meta is None`).

    `grad_fn` and `output`: the node that made it; None for a leaf. `accumulator`: the node that adds to a
    leaf's `grad`, weakly, for it holds the leaf. `view`: set for views, see `views.py`. `tangent`: see `tangents.py`;
    a view `apart` has not that of its base.
    """

    # Every view has one of these, and few set more than one attribute: the others are those of the class.
    grad_fn: Node | None = None
    output = 0
    grad: Tensor | None = None
    accumulator: Callable[[], Node | None] | None = None
    retains = False
    view: Any = None
    views: list[weakref.ref[Tensor]] | None = None
    tangent: Tensor | None = None
    apart = False


def meta_of(tensor: Tensor) -> Meta:
    """The tensor's record, created if there is none."""
    meta = tensor._meta
    if meta is None:
        meta = tensor._meta = Meta()
    return meta


def attach(tensor: Tensor, node: Node, output: int) -> Tensor:
    """Make a tensor the numbered output of a node."""
    meta = tensor._meta
    if meta is None:
        meta = tensor._meta = Meta()
    meta.grad_fn = node
    meta.output = output
    tensor._requires_grad = True
    return tensor
