"""The gradients of operators with `derivatives: auto`: those of their reference, computed again."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from typing import Any, cast

import torch
from torch.utils import _pytree as pytree

from ._library import Function, tensors_of
from ._refusals import is_real
from ._transposed import Kept, Pair, chosen, has_history, replaced

# Parts of torch have no annotations.
_C: Any = torch._C
_torch: Any = torch


def gradients(
    ctx: Any, needs: Sequence[Any], grads: Any, reference: Function, /, *args: Any, **kwargs: Any
) -> tuple[Any, ...]:
    """The gradients that `needs` asks for: those of what a reference computes from the arguments again."""
    is_compiling = torch.compiler.is_dynamo_compiling()
    is_transformed = _C._are_functorch_transforms_active()
    if not is_compiling:
        call = (args, kwargs)
        args, kwargs = pytree.tree_map_only(torch.Tensor, _living, call)
    are_wanted, shape = pytree.tree_flatten([*needs])
    differentiated = args[: len(needs)]
    others = args[len(needs) :]
    values = shape.flatten_up_to([*differentiated])
    wanted = chosen(values, are_wanted)

    def results_of(*tensors: torch.Tensor) -> list[Pair]:
        """What the reference computes where these tensors take the place of those that are wanted."""
        values_again = replaced(values, are_wanted, tensors)
        arguments = pytree.tree_unflatten(values_again, shape)
        results = reference(*arguments, *others, **kwargs)
        pairs = _with_gradients(pytree.tree_leaves(results), pytree.tree_leaves(grads))
        return list(pairs)

    if (is_transformed or is_compiling) and not isinstance(ctx, Kept):
        of_wanted = _transformed(results_of, wanted)
    else:
        creates_graph = has_history(args, kwargs, grads)
        of_wanted = _eager(results_of, wanted, creates_graph)
    leaves = replaced([None] * len(values), are_wanted, of_wanted)
    of_arguments = pytree.tree_unflatten(leaves, shape)
    return tuple(of_arguments)


def _with_gradients(results: Any, grads: Any) -> Iterator[Pair]:
    """The results that have a gradient, each with it."""
    for result, gradient in zip(results, grads, strict=True):
        if gradient is None or not is_real(result):
            continue
        if result.shape != gradient.shape:
            shapes = f"{result.shape}, and the operator {gradient.shape}"
            raise RuntimeError(f"the reference gives {shapes}")
        yield result, gradient.to(result.dtype)


def _transformed(results_of: Function, wanted: Sequence[torch.Tensor]) -> Sequence[Any]:
    """Where values are wrapped, or traced, `torch.func` makes the graph; what is unused gets zeros, not None."""

    def apart(*tensors: torch.Tensor) -> Any:
        results = []
        weights = []
        for result, gradient in results_of(*tensors):
            results.append(result)
            weights.append(gradient)
        return results, weights

    _, pull, weights = _torch.func.vjp(apart, *wanted, has_aux=True)
    return cast("Sequence[Any]", pull(weights))


def _eager(
    results_of: Function, wanted: Sequence[torch.Tensor], creates_graph: bool
) -> Sequence[Any]:
    """Autograd makes the graph, of inputs as if they came from nowhere: one may be computed from another."""
    with torch.enable_grad():
        inputs = [_recorded(value) for value in wanted]
        recorded = []
        for result, gradient in results_of(*inputs):
            if result.requires_grad:
                recorded.append((result, gradient))
    if not recorded:
        return [None] * len(wanted)
    results, weights = zip(*recorded)
    how: Any = {"create_graph": creates_graph, "allow_unused": True}
    return torch.autograd.grad(results, inputs, weights, **how)


def _recorded(value: torch.Tensor) -> torch.Tensor:
    """The same value, which requires a gradient."""
    view = value.view_as(value)
    if view.requires_grad:
        return view
    zeros = torch.zeros_like(view, requires_grad=True)
    return view - zeros


def _living(value: torch.Tensor) -> torch.Tensor:
    """A value without the transforms that have ended since it was kept: `torch.func.vjp` ends before what it returns is
    called, perhaps in another transform."""
    inner: torch.Tensor = _C._functorch.unwrap_if_dead(value)
    if inner is value:
        return value
    return _living(inner)


# The autocast of a call, for what computes it again.


def autocasts(inputs: Any, *more: str) -> dict[str, Any]:
    """What autocast does on the devices of a call, and on more: the dtype, and whether it is enabled."""
    of_inputs = [tensor.device.type for tensor in tensors_of(inputs)]
    states: dict[str, Any] = {}
    for device in (*more, *of_inputs):
        if _torch.amp.is_autocast_available(device):
            dtype = torch.get_autocast_dtype(device)
            states[device] = dtype, _torch.is_autocast_enabled(device)
    return states


def under(kept: dict[str, Any], reference: Function) -> Function:
    """A reference under the autocast of a call. What is cast there is not for other calls."""

    def again(*args: Any, **kwargs: Any) -> Any:
        with ExitStack() as states:
            for device, state in kept.items():
                if {device: state} == autocasts((), device):
                    continue
                dtype, is_enabled = state
                autocast = _torch.autocast(device, dtype, is_enabled, cache_enabled=False)
                states.enter_context(autocast)
            return reference(*args, **kwargs)

    return again
