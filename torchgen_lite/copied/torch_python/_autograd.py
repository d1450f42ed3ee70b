"""How a call is recorded, for `backward()` and for the transforms of `torch.func`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, cast

import torch
from torch.utils._pytree import tree_leaves

from ._forward import forward_ad, is_dual, jvp_of, may_have_tangents
from ._library import _C, Function, Registering, Table, tensors_of

# It is in force from when it is made until it is deleted; `with` would call it twice more.
BelowAutograd: Any = _C._AutoDispatchBelowAutograd
_is_enabled = torch.is_grad_enabled
_is_transformed = _C._are_functorch_transforms_active


class Node(torch.autograd.function._SingleLevelFunction):
    """A node at one level: the `apply` of `Function` repeats checks and unwrapping that the dispatcher has done."""

    # Compiled autograd asks for it.
    _compiled_autograd_key = torch.autograd.Function._compiled_autograd_key


def any_tensor_requires_grad(*args: Any, **kwargs: Any) -> bool:
    """A function that `torch._C` has from 2.7 on."""
    return any(tensor.requires_grad for tensor in tensors_of((args, kwargs)))


any_requires_grad: Callable[..., bool] = getattr(_C, "_any_requires_grad", any_tensor_requires_grad)


def register(registering: Registering) -> None:
    """The kernel that records calls of an operator with formulas; a composed one has those of what it calls."""
    if registering.has("backward") and not registering.has_kernel("CompositeImplicitAutograd"):
        registering.impl("Autograd", _recording(registering), with_keyset=True)


def _recording(registering: Registering) -> Function:
    """Like the kernel of `torch.library.register_autograd`, with less overhead; a call that fails changes nothing."""
    name, table = registering.name, registering.table
    refuses, has_forward = registering.has("refuse"), not registering.has("no_forward")
    # What handles calls that write, or that have lists of tensors or keyword-only arguments.
    special = table[name, "special"](registering) if registering.has("special") else None
    is_plain = special is None and not refuses
    requires_grad = any_requires_grad if special is None else special.requires_grad
    calls_below, new_node = below_of(registering), _nodes_of(registering, special)
    # By the keys of a call: what runs it if it is not recorded, its node, and its node if it has tangents.
    paths: dict[int, tuple[Function, Function, Function]] = {}

    def new_path(keyset: Any) -> tuple[Function, Function, Function]:
        below = calls_below(keyset)
        unrecorded = below if special is None else special.unrecorded(below)
        return unrecorded, new_node(below, False), new_node(below, True)

    def kernel(keyset: Any, /, *args: Any, **kwargs: Any) -> Any:
        bits = keyset.raw_repr()
        if bits not in paths:
            paths[bits] = new_path(keyset)
        unrecorded, node, node_with_tangents = paths[bits]
        is_recorded = _is_enabled() and requires_grad(*args)
        if is_plain and is_recorded and not may_have_tangents():
            return node(*args)
        has_tangents = may_have_tangents() and any(map(is_dual, tensors_of(args)))
        if not (is_recorded or has_tangents):
            guard = BelowAutograd()
            try:
                return unrecorded(*args, **kwargs)
            finally:
                del guard
        if has_tangents:
            node = node_with_tangents
            if not has_forward:
                table[name, "no_forward"]()
        if special is not None:
            special.check(args)
        if refuses:
            table[name, "refuse"](args, is_recorded, has_tangents)
        if special is not None:
            args = special.inputs_of(args, kwargs)
        return applied(node, *args) if _is_transformed() else node(*args)

    return kernel


def below_of(registering: Registering) -> Callable[[Any], Function]:
    """What gives the call below autograd for the keys of a call. Where the package counts what is written itself, the
    kernel for ADInplaceOrView is passed over."""
    is_tracked = registering.name in registering.tracked
    after = _C._after_ADInplaceOrView_keyset if is_tracked else _C._after_autograd_keyset
    return lambda keyset: registering.below(registering, keyset & after)


def applied(node: Function, *given: Any) -> Any:
    """A call of a node at the innermost transform of `torch.func`."""
    from torch._functorch import autograd_function

    transforms: Any = autograd_function
    with transforms.enable_single_level_autograd_function():
        return node(*given)


def run_below(run: Function, args: Any, kwargs: Any) -> Any:
    """A call below autograd; the transforms below this one record it, too."""
    if _is_transformed():
        with torch.enable_grad(), forward_ad._set_fwd_grad_enabled(True), BelowAutograd():
            return run(*args, **kwargs)
    guard = BelowAutograd()
    try:
        return run(*args, **kwargs)
    finally:
        del guard


def _nodes_of(registering: Registering, special: Any) -> Callable[[Function, bool], Function]:
    """What makes the node for calls that go on with `below`; it keeps the call for tangents. What calls have in common is
    bound in it, since each input of a node costs time in both directions."""
    name, table, op = registering.name, registering.table, registering.op
    has_defaults, fills = registering.has("given"), registering.has("fill")
    backward, jvp = _backward_of(name, table), jvp_of(name, table, special)
    if special is not None:
        backward = special.backward_of(backward)
    title = f"GeneratedBackwardFor_{str(op).replace('.', '_')}"

    def new_node(below: Function, has_tangents: bool) -> Function:
        def forward(ctx: Any, *args: Any) -> Any:
            result = run_below(below, args, {})
            if type(result) is list:
                # A kernel that is called as it is may return a list of several results.
                result = tuple(result)
            ctx.materialize_grads = False
            if fills:
                table[name, "keep_results"](ctx, result)
            if has_defaults:
                # PyTorch leaves out arguments that equal their default.
                args, _ = table[name, "given"](*args)
            table[name, "setup_context"](ctx, args, result)
            if has_tangents:
                ctx._call = args, result
            return result

        if special is not None:
            forward = special.forward_of(below, has_tangents)
        functions = {"forward": forward, "backward": backward, "jvp": jvp}
        node: Any = type(title, (Node,), {n: staticmethod(f) for n, f in functions.items()})
        if special is None:
            # Backward passes call it; PyTorch's own first looks for other functions of the node.
            node._backward_cls.apply = backward
        return cast("Function", node.apply if special is None else special.applying(node))

    return new_node


def _backward_of(name: str, table: Table) -> Function:
    """The backward function of a node. As in C++, one to which no gradient comes passes none on; of several, those that do
    not come are zeros, unless formulas ask which of them did."""
    which, fill = (name, "backward"), (name, "fill")
    fills = fill in table

    def backward(ctx: Any, *grads: Any) -> Any:
        if grads[0] is None and all(grad is None for grad in grads):
            return tuple(None for _ in ctx.needs_input_grad)
        given = table[fill](ctx, grads) if fills else grads
        gradients = table[which](ctx, *given)
        for gradient in gradients:
            if isinstance(gradient, torch.Tensor) and gradient.is_complex():
                return as_real(ctx, gradients)
        return gradients

    return backward


def as_real(ctx: Any, gradients: Sequence[Any]) -> tuple[Any, ...]:
    """The gradients, one by one; the real part of one that goes to a real tensor."""
    # Every tensor has an edge, which leads nowhere if it needs no gradient.
    edges = iter([edge for edge in ctx.next_functions if edge[0] is not None])
    parts = [*gradients]
    for index, needed in enumerate(tree_leaves(ctx.needs_input_grad)[: len(parts)]):
        if needed:
            node, number = next(edges)
            if parts[index] is not None and not node._input_metadata[number].dtype.is_complex:
                parts[index] = torch.real(parts[index])
    return tuple(parts)
