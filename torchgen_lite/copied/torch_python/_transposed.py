"""Forward mode of operators whose entries have formulas for gradients alone.

Note [Forward mode is transposed]
A formula gives the gradient of an argument, and is linear in the gradients of the results. So PyTorch's own autograd
can differentiate it, at any point: its derivative, applied to the tangent of the argument, is the tangent of the
results.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

import torch
from torch.utils import _pytree as pytree

from ._autograd import any_tensor_requires_grad
from ._library import Table
from ._refusals import is_real, refused, wants_gradient

Pair = tuple[torch.Tensor, torch.Tensor]


class Kept:
    """What `setup_context` keeps for formulas, for the inputs that have `tangents`."""

    def __init__(self, tangents: Sequence[Any]) -> None:
        self.needs_input_grad = pytree.tree_map(_is_given, tangents)
        self.saved_tensors: tuple[Any, ...] = ()
        self.without: tuple[Any, ...] = ()

    def save_for_backward(self, *tensors: Any) -> None:
        self.saved_tensors = tensors

    def mark_non_differentiable(self, *tensors: Any) -> None:
        self.without = tensors

    def mark_dirty(self, *tensors: Any) -> None:
        """Nothing: the tensor that is written is in no graph here."""


def _is_given(tangent: Any) -> bool:
    return tangent is not None


def for_inputs(ctx: Any, gradients: Sequence[Any]) -> tuple[Any, ...]:
    """A gradient for each input, and for each item of a list. PyTorch leaves out arguments that equal their default."""
    of_inputs: list[Any] = []
    for need, gradient in zip(ctx.needs_input_grad, gradients):
        if gradient is None and isinstance(need, list):
            of_inputs.append([None] * len(need))
        else:
            of_inputs.append(gradient)
    return tuple(of_inputs)


def has_history(*values: Any) -> bool:
    """Whether what is computed from these values has a history. What a transform of `torch.func` around this one records
    can't be seen here."""
    is_transformed = torch._C._are_functorch_transforms_active()
    return torch.is_grad_enabled() and (is_transformed or any_tensor_requires_grad(*values))


def transposed(operator: str, table: Table, inputs: Any, output: Any, given: Any) -> list[Any]:
    """The tangents of the results; see Note [Forward mode is transposed]. `given` are those of the arguments."""
    kept = Kept(given)
    table[operator, "setup_context"](kept, *inputs, output)
    results, shape = pytree.tree_flatten(output)

    def gradients_at(points: Sequence[Any]) -> list[Pair]:
        """What the formulas give for these gradients, each with the tangent of its argument."""
        grads = pytree.tree_unflatten(points, shape)
        with torch.enable_grad():
            of_results = grads if isinstance(output, tuple) else [grads]
            gradients = table[operator, "backward"](kept, *of_results)
            of_inputs = for_inputs(kept, gradients)
        pairs: list[Pair] = []
        gradient_leaves = pytree.tree_leaves(of_inputs)
        tangent_leaves = pytree.tree_leaves(given)
        for gradient, tangent in zip(gradient_leaves, tangent_leaves):
            if gradient is not None and tangent is not None:
                pairs.append((gradient, _fitted(tangent, gradient)))
        return pairs

    zeros = [_cotangent(result, kept) for result in results]
    are_wanted = list(map(wants_gradient, zeros))
    wanted = chosen(zeros, are_wanted)
    pairs = gradients_at(zeros)
    if not all(gradient.requires_grad for gradient, _ in pairs):
        refused(operator, "its formulas can't be differentiated")()
    if pairs and wanted:
        # The zeros that the formulas are differentiated by are none of it.
        tangents = pulled(pairs, wanted, has_history(inputs, given))
        if (operator, "tried") in table:
            tried = table[operator, "tried"]
            tangents = tried(operator, gradients_at, zeros, pairs, tangents)
    else:
        tangents = [torch.zeros_like(value) for value in wanted]
    return replaced([None] * len(zeros), are_wanted, tangents)


def chosen(values: Sequence[Any], are_chosen: Sequence[Any]) -> list[Any]:
    return [value for value, is_chosen in zip(values, are_chosen) if is_chosen]


def replaced(
    values: Sequence[Any], are_replaced: Sequence[Any], replacements: Sequence[Any]
) -> list[Any]:
    """The values, where those that are replaced are the replacements, in their order."""
    left = iter(replacements)
    merged = []
    for value, is_replaced in zip(values, are_replaced):
        merged.append(next(left) if is_replaced else value)
    return merged


def pulled(pairs: Sequence[Pair], wanted: Any, create_graph: bool) -> Sequence[torch.Tensor]:
    """The derivative of gradients, applied to the tangents beside them."""
    gradients, weights = zip(*pairs)
    how: Any = {"create_graph": create_graph, "allow_unused": True, "materialize_grads": True}
    tangents = torch.autograd.grad(gradients, wanted, weights, **how)
    return cast("Sequence[torch.Tensor]", tangents)


def _cotangent(result: Any, kept: Kept) -> Any:
    """A gradient of a result, which formulas are differentiated by; None where there is none."""
    if not isinstance(result, torch.Tensor):
        return None
    is_without = any(result is tensor for tensor in kept.without)
    is_differentiable = not is_without and is_real(result)
    return torch.zeros_like(result, requires_grad=is_differentiable)


def _fitted(tangent: torch.Tensor, gradient: torch.Tensor) -> torch.Tensor:
    """The tangent of an argument as the gradient of its gradient: the engine would cast and sum that to the argument."""
    if tangent.is_complex() and not gradient.is_complex():
        tangent = torch.real(tangent)
    cast_tangent = tangent.to(gradient.dtype)
    return cast_tangent.expand(gradient.shape)
