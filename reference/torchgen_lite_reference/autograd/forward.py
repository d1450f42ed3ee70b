"""Forward mode: from the tangents of arguments to those of results, as generated kernels call it.

Note [Forward mode is transposed]
A formula is linear in the gradients of the results. So it is differentiated by them, at any point, and its derivative
takes the tangent of an argument to the tangents of the results. An entry with a formula `result:` has a rule instead.
The tangent of a view is a view of its base's, so that they change together.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Sequence
from functools import partial
from itertools import count
from typing import TYPE_CHECKING, Any

import numpy as np

from torchgen_lite_ops import operators
from torchgen_lite_reference.autograd.edges import gradient_edge, rebase_history
from torchgen_lite_reference.autograd.engine import Buffers, deliver
from torchgen_lite_reference.autograd.history import set_histories
from torchgen_lite_reference.autograd.mode import enable_grad, grad_enabled, set_grad_enabled
from torchgen_lite_reference.autograd.node import (
    LEAVES,
    Gradients,
    Node,
    SavedTensor,
    attach,
    output_of,
    zeros,
)
from torchgen_lite_reference.autograd.support import cast, conj
from torchgen_lite_reference.autograd.tangents import (
    UNDERIVED,
    Tangents,
    base_of,
    flat,
    is_list,
    keep,
    suspended,
    tangent_of,
)
from torchgen_lite_reference.autograd.views import View
from torchgen_lite_reference.device import cpu
from torchgen_lite_reference.geometry import span

if TYPE_CHECKING:
    from torchgen_lite_reference.tensor import Tensor

Rule = Callable[..., "Sequence[Tensor | None]"]


def set_tangents(
    node: Node, results: Sequence[Tensor], tangents: Tangents, rule: Rule | None = None
) -> None:
    """Make results the outputs of a node if the call is recorded, and give them tangents: those of a `rule`, which
    takes the tangents of the arguments, or those of the node's formulas."""
    saved = [one for one in node.saved or () if type(one) is SavedTensor and one.output >= 0]
    if not tangents.is_recorded:
        node.outputs += map(output_of, results)
        for one in saved:
            # The node is in no graph.
            one.output = -1
    elif tangents.written is not None:
        rebase_history(node, tangents.written)
    else:
        set_histories(node, results)
    with suspended():
        if tangents.written is not None:
            # What is about to change may be kept by what is recorded.
            present = tangent_of(tangents.written)
            given = [_copied(one, present) for one in tangents.given]
            tangents = tangents._replace(given=given)
        found: Gradients = ()
        if not any(result._dtype.differentiable for result in results):
            pass
        elif rule is None:
            found = _transposed(node, results, tangents)
        else:
            found = rule(*map(_filled, tangents.tensors, tangents.given))
        for result, tangent in zip(results, found):
            if tangent is not None and result._dtype.differentiable:
                _set(result, tangent, tangents)
        for one in saved if tangents.is_recorded else ():
            tangent = tangent_of(results[one.output])
            if tangent is not None:
                keep(one.tensor, tangent)


def element_wise(node: Node) -> Rule:
    """The rule `auto_element_wise`: such a derivative is its own transpose, but for the conjugate."""

    def rule(tangent: Tensor) -> Sequence[Tensor | None]:
        (found,) = node.apply((conj(tangent),))
        return (None if found is None else conj(found),)

    return rule


def _copied(tangent: Any, present: Tensor | None) -> Any:
    """A tangent, apart from the memory of the one that is there."""
    if is_list(tangent):
        return [_copied(one, present) for one in tangent]
    is_shared = tangent is not None and present is not None and tangent._storage is present._storage
    return operators.clone(tangent) if is_shared else tangent


def _filled(tensor: Any, tangent: Any) -> Any:
    """A tangent for each tensor: zeros where there is none."""
    if is_list(tensor):
        return [*map(_filled, tensor, tangent)]
    if tensor is None:
        return None
    return operators.zeros_like(tensor) if tangent is None else tangent


def _set(result: Tensor, tangent: Tensor, tangents: Tangents) -> None:
    """Give a result its tangent. That of a tensor which the call has changed is changed, too."""
    view: View | None = result._meta.view if result._meta is not None else None
    if tangents.written is None:
        if view is None:
            tangent = own(result, tangent, tangents)
        if result._meta is None or result._meta.tangent is None:
            keep(result, tangent)
        return
    present = tangent_of(result)
    if present is None and view is not None and not result._meta.apart:  # type: ignore[union-attr]
        base, _ = base_of(view)
        keep(base, own(base, operators.zeros_like(base)))
        present = tangent_of(result)
    if present is None:
        keep(result, own(result, tangent, tangents))
    else:
        operators.copy_(present, tangent)


def own(tensor: Tensor, tangent: Tensor, tangents: Tangents | None = None) -> Tensor:
    """A tangent in the memory order of its tensor, and in no memory of the tangents of a call's arguments."""
    if tangents is not None:
        tangent = cast(tangent, tensor._dtype)
        if tangent._shape != tensor._shape:
            tangent = operators.expand(tangent, tensor._shape)
    shared = () if tangents is None else flat(tangents.given)
    is_shared = any(one is not None and one._storage is tangent._storage for one in shared)
    if tensor.is_sparse or tangent.is_sparse:
        return operators.clone(tangent) if is_shared else tangent
    shape, strides, offset = tensor._shape, tensor._strides, tensor._offset
    if strides == tangent._strides and offset == tangent._offset and not is_shared:
        return tangent
    # `as_strided` has to find the same elements in both.
    whole = operators.new_zeros(tangent, [offset + span(shape, strides)])
    return operators.copy_(operators.as_strided(whole, shape, strides, offset), tangent)


def _transposed(node: Node, results: Sequence[Tensor], tangents: Tangents) -> Gradients:
    """The tangents of the results, by the node's formulas."""
    seed = Node(())
    seed.outputs = node.outputs
    with enable_grad():
        found = node.apply([*map(partial(_cotangent, seed), count(), results)])
    pairs = [
        (place, gradient, tangent)
        for place, (gradient, tangent) in enumerate(zip(found, flat(tangents.given)))
        if gradient is not None and tangent is not None
    ]
    # A formula that is zero has no derivative, and neither has one that calls what can't be differentiated.
    constant = [place for place, gradient, _ in pairs if not gradient._requires_grad]
    if constant and not _are_zero(node, constant):
        reason = "its formulas can't be differentiated"
        raise NotImplementedError(UNDERIVED.format(node.name(), reason))
    weights = [(place, g, _fitted(tangent, g)) for place, g, tangent in pairs]
    linear = [(g, tangent) for _, g, tangent in weights if g._requires_grad]
    is_recorded = tangents.is_recorded or any(t._requires_grad for _, t in linear)
    with set_grad_enabled(grad_enabled() and is_recorded):
        arrived = _pulled_back(linear, seed)
        carried = [zeros(o) if one is None else one for o, one in zip(seed.outputs, arrived)]
    if node.is_tried and not _is_linear(node, weights, carried):
        reason = "its formulas are not linear in the gradient"
        raise NotImplementedError(UNDERIVED.format(node.name(), reason))
    return carried


def _cotangent(seed: Node, number: int, result: Tensor) -> Tensor | None:
    """A gradient of a result, to differentiate formulas by; that of a sparse one has its elements."""
    if not result._dtype.differentiable:
        return None
    with set_grad_enabled(False):
        made = result * 0 if result.is_sparse else zeros(seed.outputs[number])
    return attach(made, seed, number)


def _somewhere(node: Node) -> list[Tensor]:
    """Gradients of the results that nothing but zero takes to zero."""
    stream, gradients = np.random.default_rng(0), []
    for output in node.outputs:
        gradient = zeros(output)
        if output.device is cpu:
            gradient._array[...] = stream.uniform(1, 2, output.shape)
        gradients.append(gradient)
    return gradients


def _array(tensor: Tensor) -> Any:
    """The elements in a dtype in which sums are not cut off; none of a tensor that has no memory."""
    dense = operators.to_dense(tensor) if tensor.is_sparse else tensor
    if dense._device is not cpu:
        return np.zeros(0)
    return np.asarray(dense._array).astype(np.result_type(dense._array, np.float32))


def _are_zero(node: Node, places: Sequence[int]) -> bool:
    """Whether these formulas give zeros for gradients that nothing but zero takes there."""
    with set_grad_enabled(False):
        found = node.apply(_somewhere(node))
        return not any(np.any(_array(found[place])) for place in places)  # type: ignore[arg-type]


def _is_linear(
    node: Node, weights: Sequence[tuple[int, Tensor, Tensor]], tangents: Sequence[Tensor]
) -> bool:
    """Whether formulas give zeros for zeros, and elsewhere what their derivative says: the products of gradients and
    tangents on both sides of the call are equal, up to rounding. What is not a number does not count.
    """
    points = _somewhere(node)
    with set_grad_enabled(False):
        found = node.apply(points)
        before = [(_array(found[place]), _array(t)) for place, _, t in weights]  # type: ignore[arg-type]
        after = [(_array(point), _array(tangent)) for point, tangent in zip(points, tangents)]
        at_zero = [_array(gradient) for _, gradient, _ in weights]
    total = _inner_product(before)
    expected = _inner_product(after)
    scale = sum(np.sum(np.abs(a * b)) for a, b in (*before, *after))
    eps = max((np.finfo(t._dtype.numpy).eps for _, _, t in weights), default=0.0)
    if any(np.any((values != 0) & (values == values)) for values in at_zero):
        return False
    return not bool(abs(total - expected) > eps**0.4 * scale)


def _inner_product(pairs: Sequence[tuple[Any, Any]]) -> Any:
    """The sum of the products of all pairs of arrays, of complex ones the real part."""
    return sum(np.sum(np.real(np.conj(a) * b)) for a, b in pairs)


def _fitted(tangent: Tensor, gradient: Tensor) -> Tensor:
    """The tangent of an argument in the shape and type of its gradient, which the engine would bring to the argument's."""
    tangent = cast(tangent, gradient._dtype)
    same = tangent._shape == gradient._shape
    return tangent if same else operators.expand(tangent, gradient._shape)


def _pulled_back(pairs: Sequence[tuple[Tensor, Tensor]], seed: Node) -> Gradients:
    """What arrives at the outputs of `seed`. Whatever was recorded before it is no part of this."""
    buffers: Buffers = {}
    for gradient, tangent in pairs:
        edge = gradient_edge(gradient)
        if edge is not None:
            deliver(buffers, edge, tangent)
    ready = [(-node.sequence, id(node), node) for node in buffers]
    heapq.heapify(ready)
    while ready:
        node = heapq.heappop(ready)[2]
        grads = buffers.pop(node)
        if node is seed:
            return grads
        edges = [
            edge if edge is not None and seed.sequence <= edge[0].sequence < LEAVES else None
            for edge in node.edges
        ]
        needs = node.needs
        if len(edges) == len(needs):
            node.needs = tuple([edge is not None for edge in edges])
        found, node.needs = node.apply(grads), needs
        for edge, gradient in zip(edges, found):  # type: ignore[assignment]
            if edge is not None and gradient is not None:
                if edge[0] not in buffers:
                    heapq.heappush(ready, (-edge[0].sequence, id(edge[0]), edge[0]))
                deliver(buffers, edge, gradient, node)
    return [None for _ in seed.outputs]
