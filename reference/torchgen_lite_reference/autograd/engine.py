"""Backward: gradients through the graph, one node after the other, without recursion.

    backward(tensors, gradients, retain_graph=None, create_graph=False, inputs=None)
    grad(outputs, inputs, grad_outputs, retain_graph=None, create_graph=False, allow_unused=False)

A node runs when every gradient for its outputs has arrived. Of the nodes that are ready, the one that was recorded
last runs first, so the order depends only on the program.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Sequence
from operator import attrgetter
from typing import TYPE_CHECKING

from torchgen_lite_ops import operators
from torchgen_lite_reference.autograd.edges import gradient_edge
from torchgen_lite_reference.autograd.mode import set_grad_enabled
from torchgen_lite_reference.autograd.node import Edge, Gradients, Node
from torchgen_lite_reference.autograd.support import accumulate, add, fit, implicit_gradient

if TYPE_CHECKING:
    from torchgen_lite_reference.tensor import Tensor

Buffers = dict[Node, "list[Tensor | None]"]


def backward(
    tensors: Tensor | Sequence[Tensor],
    gradients: Tensor | Sequence[Tensor | None] | None = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    inputs: Tensor | Sequence[Tensor] | None = None,
) -> None:
    """Add the gradient of `tensors` to the `.grad` of every leaf, or only of `inputs`.

    RuntimeError if no tensor requires grad, or if one isn't a scalar and has no gradient given.
    """
    roots = _as_tuple(tensors)
    if not roots:
        return
    seeds = _seeds(roots, gradients)
    if inputs is None:
        _run(roots, seeds, retain_graph, create_graph, None)
        return
    wanted = _as_tuple(inputs)
    if not wanted:
        raise RuntimeError("'inputs' argument to backward cannot be empty.")

    captured = _run(roots, seeds, retain_graph, create_graph, [_edge_of(t) for t in wanted])
    with set_grad_enabled(create_graph):
        for tensor, gradient in zip(wanted, captured):
            if gradient is not None:
                accumulate(tensor, gradient)


def grad(
    outputs: Tensor | Sequence[Tensor],
    inputs: Tensor | Sequence[Tensor],
    grad_outputs: Tensor | Sequence[Tensor | None] | None = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    allow_unused: bool | None = None,
    materialize_grads: bool = False,
) -> tuple[Tensor | None, ...]:
    """The gradients of `outputs` with respect to `inputs`; no `.grad` is touched."""
    roots, wanted = _as_tuple(outputs), _as_tuple(inputs)
    edges = [_edge_of(tensor) for tensor in wanted]
    captured = _run(roots, _seeds(roots, grad_outputs), retain_graph, create_graph, edges)
    if materialize_grads:
        return tuple(
            operators.zeros_like(tensor) if gradient is None else gradient
            for tensor, gradient in zip(wanted, captured)
        )
    if not allow_unused and any(gradient is None for gradient in captured):
        raise RuntimeError(
            "One of the differentiated Tensors appears to not have been used in the graph. Set"
            " allow_unused=True if this is the desired behavior."
        )
    return tuple(captured)


def _as_tuple(tensors: Tensor | Sequence[Tensor]) -> tuple[Tensor, ...]:
    return tuple(tensors) if isinstance(tensors, (list, tuple)) else (tensors,)  # type: ignore[return-value]


def _edge_of(tensor: Tensor) -> Edge:
    edge = gradient_edge(tensor)
    if edge is None:
        raise RuntimeError("One of the differentiated Tensors does not require grad")
    return edge


def _seeds(
    roots: Sequence[Tensor], gradients: Tensor | Sequence[Tensor | None] | None
) -> list[Tensor]:
    """A gradient for each root: the one given, or 1 for a scalar."""
    given: Sequence[Tensor | None]
    if gradients is None:
        given = [None] * len(roots)
    else:
        given = gradients if isinstance(gradients, (list, tuple)) else [gradients]  # type: ignore[list-item]
    if len(given) != len(roots):
        raise RuntimeError(f"got {len(roots)} tensors and {len(given)} gradients")
    return [implicit_gradient(root, value) for root, value in zip(roots, given)]


def _run(
    roots: Sequence[Tensor],
    seeds: Sequence[Tensor],
    retain_graph: bool | None,
    create_graph: bool,
    captures: Sequence[Edge] | None,
) -> list[Tensor | None]:
    """Run the graph from the roots. With captures, return the gradients that arrive there, and change no leaf."""
    starts = [gradient_edge(root) for root in roots]
    for index, start in enumerate(starts):
        if start is None:
            raise RuntimeError(
                f"element {index} of tensors does not require grad and does not have a grad_fn"
            )
    edges = [start for start in starts if start is not None]
    keep = create_graph if retain_graph is None else retain_graph
    with set_grad_enabled(create_graph):
        buffers: Buffers = {}
        for edge, seed in zip(edges, seeds):
            deliver(buffers, edge, seed)
        waiting = _count_dependencies(edges)
        needed = None if captures is None else _reaching(waiting, captures)
        return _loop(buffers, waiting, needed, captures, keep)


def _loop(
    buffers: Buffers,
    waiting: dict[Node, int],
    needed: set[Node] | None,
    captures: Sequence[Edge] | None,
    keep: bool,
) -> list[Tensor | None]:
    result: list[Tensor | None] = [] if captures is None else [None] * len(captures)
    places: dict[Node, list[int]] = {}
    for place, (node, _) in enumerate(captures or ()):
        places.setdefault(node, []).append(place)
    ready = [(-node.sequence, id(node), node) for node in buffers if not waiting.get(node)]
    heapq.heapify(ready)
    while ready:
        node = heapq.heappop(ready)[2]
        grads: Gradients = buffers.pop(node, ())
        if node.hooks is not None:
            grads = _run_before(node, grads)
        if node in places:
            assert captures is not None
            for place in places[node]:
                result[place] = grads[captures[place][1]] if grads else None
        found: Gradients = ()
        if (needed is None or node in needed) and _has_any(grads):
            found = node.apply(grads)
            if node.hooks is not None and node.hooks.after:
                found = _run_after(node, found, grads)
            if not keep:
                node.release()
        count = len(found)
        for position, edge in enumerate(node.edges):
            if edge is None:
                continue
            if position < count:
                gradient = found[position]
                if gradient is not None:
                    deliver(buffers, edge, gradient, node)
            target = edge[0]
            left = waiting[target] = waiting[target] - 1
            if not left:
                heapq.heappush(ready, (-target.sequence, id(target), target))
    return result


def _has_any(grads: Gradients) -> bool:
    for grad in grads:  # noqa: SIM110 - `any` would make a generator for each node
        if grad is not None:
            return True
    return False


def deliver(buffers: Buffers, edge: Edge, gradient: Tensor, maker: Node | None = None) -> None:
    """Add a gradient to what has arrived at an edge, brought to the output's shape and type."""
    node, number = edge
    outputs = node.outputs
    shape, dtype, _ = outputs[number]
    if gradient._shape != shape or gradient._dtype is not dtype:
        gradient = fit(gradient, outputs[number], maker)
    arrived = buffers.get(node)
    if arrived is None:
        arrived = buffers[node] = [None] * len(outputs)
    present = arrived[number]
    arrived[number] = gradient if present is None else add(present, gradient)


def _count_dependencies(starts: Sequence[Edge]) -> dict[Node, int]:
    """For each node below the roots the number of edges that lead to it."""
    count: dict[Node, int] = {node: 0 for node, _ in starts}
    stack = list(count)
    while stack:
        for edge in stack.pop().edges:
            if edge is None:
                continue
            node = edge[0]
            seen = count.get(node)
            if seen is None:
                count[node] = 1
                stack.append(node)
            else:
                count[node] = seen + 1
    return count


def _reaching(nodes: Iterable[Node], captures: Sequence[Edge]) -> set[Node]:
    """The nodes from which a captured edge can be reached: the others need not run."""
    wanted = {node for node, _ in captures}
    reached: set[Node] = set()
    # A node's edges lead to nodes that were recorded before it.
    for node in sorted(nodes, key=_sequence):
        for edge in node.edges:
            if edge is not None and (edge[0] in wanted or edge[0] in reached):
                reached.add(node)
                break
    return reached


_sequence = attrgetter("sequence")


def _run_before(node: Node, grads: Gradients) -> Gradients:
    """Hooks of the outputs, and those before the node."""
    hooks = node.hooks
    assert hooks is not None
    values = list(grads)
    for number, table in hooks.outputs.items():
        for hook in list(table.values()):
            value = values[number] if values else None
            if value is not None:
                replaced = hook(value)
                values[number] = value if replaced is None else replaced
    for hook in list(hooks.before.values()):
        values = list(hook(tuple(values)) or values)
    for number, reference in hooks.retains.items():
        tensor = reference()
        if tensor is not None and values and values[number] is not None:

            accumulate(tensor, values[number])  # type: ignore[arg-type]
    return values


def _run_after(node: Node, found: Gradients, grads: Gradients) -> Gradients:
    assert node.hooks is not None
    for hook in list(node.hooks.after.values()):
        found = hook(tuple(found), tuple(grads)) or found
    return found
