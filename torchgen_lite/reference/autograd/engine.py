"""Backward: gradients through the graph, one node after the other, without recursion.

    backward(tensors, gradients, retain_graph=None, create_graph=False, inputs=None)
    grad(outputs, inputs, grad_outputs, retain_graph=None, create_graph=False, allow_unused=False)

A node runs when every gradient for its outputs has arrived. Of those that are ready the one that was
recorded last runs first, so the order depends on the program and on nothing else.
"""

from __future__ import annotations

import heapq
from collections.abc import Sequence
from typing import TYPE_CHECKING

from torchgen_lite.reference.autograd.mode import set_grad_enabled
from torchgen_lite.reference.autograd.node import Edge, Gradients, Node, gradient_edge
from torchgen_lite.reference.autograd.support import add, fit, implicit_gradient

if TYPE_CHECKING:
    from torchgen_lite.reference.tensor import Tensor

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
    from torchgen_lite.reference.autograd.support import accumulate

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
        from torchgen_lite_ops import operators

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
    """Run the graph from the roots. With captures, return what arrives there, and touch no leaf."""
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
            _deliver(buffers, edge, seed)
        waiting = _count_dependencies(edges)
        needed = None if captures is None else _reaching(edges, captures)
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
    for place, edge in enumerate(captures or ()):
        places.setdefault(edge.node, []).append(place)
    ready = [(-node.sequence, id(node), node) for node in buffers if not waiting.get(node)]
    heapq.heapify(ready)
    while ready:
        node = heapq.heappop(ready)[2]
        grads: Gradients = buffers.pop(node, ())
        if node.hooks is not None:
            grads = _run_before(node, grads)
        for place in places.get(node, ()):
            assert captures is not None
            result[place] = grads[captures[place].output] if grads else None
        if needed is not None and node not in needed:
            grads = ()
        found: Gradients = ()
        if any(grad is not None for grad in grads):
            found = node.apply(grads)
            if node.hooks is not None and node.hooks.after:
                found = _run_after(node, found, grads)
            if not keep:
                node.release()
        for position, edge_ in enumerate(node.edges):
            if edge_ is None:
                continue
            if position < len(found) and found[position] is not None:
                _deliver(buffers, edge_, found[position], node)
            target = edge_.node
            waiting[target] -= 1
            if not waiting[target]:
                heapq.heappush(ready, (-target.sequence, id(target), target))
    return result


def _deliver(
    buffers: Buffers, edge: Edge, gradient: Tensor | None, maker: Node | None = None
) -> None:
    """Add a gradient to what has arrived at an edge, brought to the output's shape and type."""
    assert gradient is not None
    node, number = edge
    gradient = fit(gradient, node.outputs[number], maker)
    arrived = buffers.get(node)
    if arrived is None:
        arrived = buffers[node] = [None] * len(node.outputs)
    present = arrived[number]
    arrived[number] = gradient if present is None else add(present, gradient)


def _count_dependencies(starts: Sequence[Edge]) -> dict[Node, int]:
    """For each node below the roots the number of edges that lead to it."""
    count: dict[Node, int] = {edge.node: 0 for edge in starts}
    stack = list(count)
    while stack:
        for edge in stack.pop().edges:
            if edge is None:
                continue
            node = edge.node
            seen = count.get(node)
            if seen is None:
                count[node] = 1
                stack.append(node)
            else:
                count[node] = seen + 1
    return count


def _reaching(starts: Sequence[Edge], captures: Sequence[Edge]) -> set[Node]:
    """The nodes from which a captured edge can be reached: the others need not run."""
    above: dict[Node, list[Node]] = {}
    stack = [edge.node for edge in starts]
    seen = set(stack)
    while stack:
        node = stack.pop()
        for edge in node.edges:
            if edge is not None:
                above.setdefault(edge.node, []).append(node)
                if edge.node not in seen:
                    seen.add(edge.node)
                    stack.append(edge.node)
    reached: set[Node] = set()
    pending = [edge.node for edge in captures]
    visited = set(pending)
    while pending:
        for node in above.get(pending.pop(), ()):
            reached.add(node)
            if node not in visited:
                visited.add(node)
                pending.append(node)
    return reached


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
            from torchgen_lite.reference.autograd.support import accumulate

            accumulate(tensor, values[number])  # type: ignore[arg-type]
    return values


def _run_after(node: Node, found: Gradients, grads: Gradients) -> Gradients:
    assert node.hooks is not None
    for hook in list(node.hooks.after.values()):
        found = hook(tuple(found), tuple(grads)) or found
    return found
