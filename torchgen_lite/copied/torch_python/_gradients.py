"""The gradients of operators with `derivatives: auto`: those of their reference, computed again."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from typing import Any, cast

import torch
from torch.utils import _pytree as pytree

from ._library import Function, tensors_of
from ._refusals import is_real
from ._transposed import Kept, Pair

# Parts of torch have no annotations.
_C: Any = torch._C
_torch: Any = torch


def gradients(
    ctx: Any, needs: Sequence[Any], grads: Any, reference: Function, /, *args: Any, **kwargs: Any
) -> tuple[Any, ...]:
    """The gradients that `needs` asks for: those of what a reference computes from the arguments again."""
    is_compiling = torch.compiler.is_dynamo_compiling()
    is_transformed = _C._are_functorch_transforms_active()
    if is_transformed and not is_compiling:
        args, kwargs = pytree.tree_map_only(torch.Tensor, _living, (args, kwargs))
    flags, shape = pytree.tree_flatten([*needs])
    values = shape.flatten_up_to([*args[: len(needs)]])
    wanted = [value for value, flag in zip(values, flags) if flag]

    def results_of(*tensors: torch.Tensor) -> list[Any]:
        """What the reference computes where these tensors take the place of those that are wanted."""
        given = iter(tensors)
        own = [next(given) if flag else value for value, flag in zip(values, flags)]
        arguments = pytree.tree_unflatten(own, shape)
        found = reference(*arguments, *args[len(needs) :], **kwargs)
        return list(_with_gradients(pytree.tree_leaves(found), pytree.tree_leaves(grads)))

    if (is_transformed or is_compiling) and not isinstance(ctx, Kept):
        found = _transformed(results_of, wanted)
    else:
        found = _eager(results_of, wanted)
    each = iter(found)
    return tuple(pytree.tree_unflatten([next(each) if flag else None for flag in flags], shape))


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
        pairs = results_of(*tensors)
        return [result for result, _ in pairs], [gradient for _, gradient in pairs]

    _, pull, weights = _torch.func.vjp(apart, *wanted, has_aux=True)
    return cast("Sequence[Any]", pull(weights))


def _eager(results_of: Function, wanted: Sequence[torch.Tensor]) -> Sequence[Any]:
    """Autograd makes the graph, of inputs as if they came from nowhere: one may be computed from another."""
    with torch.enable_grad():
        inputs = [_recorded(value) for value in wanted]
        pairs = [pair for pair in results_of(*inputs) if pair[0].requires_grad]
    if not pairs:
        return [None for _ in wanted]
    results, weights = zip(*pairs)
    how: Any = {"create_graph": torch.is_grad_enabled(), "allow_unused": True}
    return torch.autograd.grad(results, inputs, weights, **how)


def _recorded(value: torch.Tensor) -> torch.Tensor:
    """The same value, which requires a gradient."""
    view = value.view_as(value)
    return view if view.requires_grad else view - torch.zeros_like(view, requires_grad=True)


def _living(value: torch.Tensor) -> torch.Tensor:
    """A value without the transforms that have ended since it was kept: `torch.func.vjp` ends before what it returns is
    called, perhaps in another transform."""
    inner: torch.Tensor = _C._functorch.unwrap_if_dead(value)
    return value if inner is value else _living(inner)


# The autocast of a call, for what computes it again.


def autocasts(inputs: Any, *more: str) -> dict[str, Any]:
    """What autocast does on the devices of a call, and on more: the dtype, and whether it is enabled."""
    devices = [*more, *(tensor.device.type for tensor in tensors_of(inputs))]
    known = filter(_torch.amp.is_autocast_available, devices)
    return {d: (torch.get_autocast_dtype(d), _torch.is_autocast_enabled(d)) for d in known}


def under(kept: dict[str, Any], reference: Function) -> Function:
    """A reference under the autocast of a call. What is cast there is not for other calls."""

    def again(*args: Any, **kwargs: Any) -> Any:
        with ExitStack() as states:
            for device, state in kept.items():
                if {device: state} != autocasts((), device):
                    states.enter_context(_torch.autocast(device, *state, cache_enabled=False))
            return reference(*args, **kwargs)

    return again
