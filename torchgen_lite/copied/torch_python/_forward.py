"""How a call is differentiated in forward mode, and by the transforms of `torch.func` that ask for it.

Note [Forward mode is transposed]
A formula gives the gradient of an argument, and is linear in the gradients of the results. So PyTorch's own autograd
can differentiate it, at any point: its derivative, applied to the tangent of the argument, is the tangent of the
results.

Note [Formulas are tried]
What an operator of the author's or a helper does with a gradient is not known. If a formula calls one, each call in
forward mode tries it: it gives zeros for zeros, it has the same derivative at another point, and it gives there what the
derivative says. If it does not, the call is refused; where values can't be read, since they are traced, the tangents are
nan.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, cast

import torch
from torch.autograd import forward_ad
from torch.utils import _pytree as pytree

from ._writes import Function

Table = dict[tuple[str, str], Function]
Pair = tuple[torch.Tensor, torch.Tensor]

# Parts of torch have no annotations.
_C: Any = torch._C
_forward_ad: Any = forward_ad
_torch: Any = torch
_unpack_dual: Function = _torch._VF._unpack_dual
_is_enabled, _is_transformed = torch.is_grad_enabled, _C._are_functorch_transforms_active

WITHOUT_FORWARD = "has no formula for forward-mode"


def refused(operator: str, reason: str) -> Function:
    """What refuses a call whose tangents can't be computed."""

    def refuse() -> Any:
        raise RuntimeError(f"{operator} {WITHOUT_FORWARD}: {reason}")

    return refuse


def for_inputs(ctx: Any, gradients: Sequence[Any]) -> tuple[Any, ...]:
    """A gradient for each input, and for each item of a list. PyTorch leaves out arguments that equal their default."""
    return tuple(
        [None] * len(need) if gradient is None and isinstance(need, list) else gradient
        for need, gradient in zip(ctx.needs_input_grad, gradients)
    )


# Compiled code enters a level without telling `forward_ad`; it has been traced before.
_traced: list[bool] = []


def may_have_tangents() -> bool:
    """Whether any tensor may have a tangent; to ask each of them takes longer than a call."""
    return _forward_ad._current_level >= 0 or _is_transformed() or bool(_traced)


def is_dual(value: Any) -> bool:
    if not isinstance(value, torch.Tensor) or _unpack_dual(value, level=0).tangent is None:
        return False
    if not _traced and _torch._guards.TracingContext.try_get() is not None:
        _traced.append(True)
    return True


def wants_gradient(value: Any) -> bool:
    return isinstance(value, torch.Tensor) and value.requires_grad


def is_real(value: torch.Tensor) -> bool:
    """Whether it can have a derivative."""
    return value.is_floating_point() or value.is_complex()


class Kept:
    """What `setup_context` keeps for formulas, for the inputs that have `tangents`."""

    def __init__(self, tangents: Sequence[Any]) -> None:
        self.needs_input_grad = pytree.tree_map(lambda t: t is not None, tangents)
        self.saved_tensors: tuple[Any, ...] = ()
        self.without: tuple[Any, ...] = ()

    def save_for_backward(self, *tensors: Any) -> None:
        self.saved_tensors = tensors

    def mark_non_differentiable(self, *tensors: Any) -> None:
        self.without = tensors

    def mark_dirty(self, *tensors: Any) -> None:
        """Nothing: the tensor that is written is in no graph here."""


def as_given(tangents: Sequence[Any], args: Sequence[Any]) -> list[Any]:
    """The tangents of arguments; `supports_tensorlist` passes those of a list one by one."""
    flat = iter(tangents)
    lists = (isinstance(a, list) and all(map(torch.is_tensor, a)) for a in args)
    return [[next(flat) for _ in a] if is_list else next(flat) for a, is_list in zip(args, lists)]


def tangents_of(operator: str, table: Table, call: Any, given: Any, written: Any) -> list[Any]:
    """The tangents of the results of a call; `given` are those of its arguments, and `written` is that of the argument
    that it writes to, if there is one."""
    args, more, result = pytree.tree_map_only(
        torch.Tensor, lambda t: _unpack_dual(t, level=0).primal, call
    )
    if written is not None:
        # Formulas may keep it.
        given = [written.clone(), *given[1:]]
    if (operator, "forward") in table:
        found = pytree.tree_leaves(table[operator, "forward"](args, *more, result, given))
    else:
        kept = Kept(given)
        table[operator, "setup_context"](kept, args, *more, result)
        found = _transposed(operator, table, kept, given, result)
    if written is not None:
        return [written.copy_(found[0])]
    # A formula may pass on the tangent of an argument, and what is then written to one is not for both.
    return [tangent if tangent is None else tangent.clone() for tangent in found]


def _transposed(operator: str, table: Table, kept: Kept, given: Any, output: Any) -> list[Any]:
    """The tangents of the results; see Note [Forward mode is transposed]."""
    results, shape = pytree.tree_flatten(output)

    def computed(points: Sequence[Any]) -> list[Pair]:
        """What the formulas give for these gradients, each with the tangent of its argument."""
        grads = pytree.tree_unflatten(points, shape)
        with torch.enable_grad():
            each = grads if isinstance(output, tuple) else [grads]
            found = for_inputs(kept, table[operator, "backward"](kept, *each))
        leaves = zip(pytree.tree_leaves(found), pytree.tree_leaves(given))
        return [(g, _fitted(t, g)) for g, t in leaves if g is not None and t is not None]

    inputs = [_cotangent(r, kept) for r in results]
    wanted = [i for i in inputs if wants_gradient(i)]
    pairs = computed(inputs)
    if not all(g.requires_grad for g, _ in pairs):
        refused(operator, "its formulas can't be differentiated")()
    if not pairs or not wanted:
        return [torch.zeros_like(i) if wants_gradient(i) else None for i in inputs]
    tangents = _pulled(pairs, wanted, _is_enabled())
    if (operator, "tried") in table:
        # The same zeros, moved to other points.
        points = [zeros + _elsewhere(t) for zeros, t in zip(wanted, tangents)]
        moved = iter(points)
        others = computed([next(moved) if wants_gradient(i) else i for i in inputs])
        doubts = [((g != 0) & (g == g)).any() for g, _ in pairs]
        if all(g.requires_grad for g, _ in others):
            again = _pulled(others, wanted, False)
            doubts += map(_differ, tangents, again)
            doubts.append(_is_other(others, [*zip(points, tangents)]))
        tangents = _if_linear(operator, torch.stack(doubts).any(), tangents)
    found = iter(tangents)
    return [next(found) if wants_gradient(i) else None for i in inputs]


def _pulled(pairs: Sequence[Pair], wanted: Any, create_graph: bool) -> Sequence[torch.Tensor]:
    """The derivative of gradients, applied to the tangents beside them."""
    gradients, weights = zip(*pairs)
    how: Any = {"create_graph": create_graph, "allow_unused": True, "materialize_grads": True}
    return cast("Sequence[torch.Tensor]", torch.autograd.grad(gradients, wanted, weights, **how))


# Whether a formula is linear: Note [Formulas are tried].


def _elsewhere(tangent: torch.Tensor) -> torch.Tensor:
    """A point that is neither zero nor the same everywhere."""
    steps = torch.arange(tangent.numel(), device=tangent.device).reshape(tangent.shape)
    return tangent.detach() + steps.cos().to(tangent.dtype)


def _exact(value: torch.Tensor) -> torch.Tensor:
    """The value in a dtype in which sums are not cut off."""
    return value.detach().to(torch.promote_types(value.dtype, torch.float32))


def _tolerance(value: torch.Tensor) -> float:
    eps: float = torch.finfo(value.dtype).eps
    return math.pow(eps, 0.4)


def _differ(value: torch.Tensor, other: torch.Tensor) -> torch.Tensor:
    """Whether two derivatives differ by more than rounding does; what is not a number does not count."""
    sizes = _exact(value).abs(), _exact(other).abs()
    scale = sizes[0] + sizes[1] + sizes[0].mean()
    difference = (_exact(value) - _exact(other)).abs()
    return (difference > _tolerance(value) * scale).any()


def _multiplied(pairs: Sequence[Pair]) -> tuple[Any, Any]:
    """The sum of products, and that of their sizes."""
    products = [_exact(value).conj() * _exact(other) for value, other in pairs]
    return sum(torch.real(p).sum() for p in products), sum(p.abs().sum() for p in products)


def _is_other(pairs: Sequence[Pair], expected: Sequence[Pair]) -> Any:
    """Whether gradients times tangents are not what is expected."""
    total, size = _multiplied(pairs)
    other, other_size = _multiplied(expected)
    rounding = max(_tolerance(gradient) for gradient, _ in pairs)
    return abs(total - other) > rounding * (size + other_size)


def _if_linear(operator: str, is_doubted: Any, tangents: Any) -> Sequence[torch.Tensor]:
    """The tangents, or a refusal if they are not right."""
    value = is_doubted
    while _C._functorch.is_functorch_wrapped_tensor(value):
        value = _C._functorch.get_unwrapped(value)
    if type(value) is not torch.Tensor or value.is_meta:
        return [tangent.masked_fill(is_doubted, torch.nan) for tangent in tangents]
    if value.any():
        refused(operator, "its formulas are not linear in the gradient")()
    return cast("Sequence[torch.Tensor]", tangents)


def _cotangent(result: Any, kept: Kept) -> Any:
    """A gradient of a result, which formulas are differentiated by; None where there is none."""
    if not isinstance(result, torch.Tensor):
        return None
    is_kept = not any(result is one for one in kept.without)
    return torch.zeros_like(result, requires_grad=is_kept and is_real(result))


def _fitted(tangent: torch.Tensor, gradient: torch.Tensor) -> torch.Tensor:
    """The tangent of an argument as the gradient of its gradient: the engine would cast and sum that to the argument."""
    if tangent.is_complex() and not gradient.is_complex():
        tangent = torch.real(tangent)
    return tangent.to(gradient.dtype).expand(gradient.shape)
