"""How a call is differentiated in forward mode, and by the transforms of `torch.func` that ask for it."""

from __future__ import annotations

from typing import Any

import torch
from torch.utils import _pytree as pytree

from ._library import Function, Table

# Parts of torch have no annotations.
_torch: Any = torch
forward_ad: Any = _torch.autograd.forward_ad
_unpack_dual: Function = _torch._VF._unpack_dual
_is_transformed: Function = _torch._C._are_functorch_transforms_active

# Compiled code enters a level without telling `forward_ad`; it has been traced before.
_traced: list[bool] = []


def may_have_tangents() -> bool:
    """Whether any tensor may have a tangent; to ask each of them takes longer than a call."""
    return forward_ad._current_level >= 0 or _is_transformed() or bool(_traced)


def is_dual(value: Any) -> bool:
    if not isinstance(value, torch.Tensor) or _unpack_dual(value, level=0).tangent is None:
        return False
    if not _traced and _torch._guards.TracingContext.try_get() is not None:
        _traced.append(True)
    return True


def jvp_of(operator: str, table: Table, special: Any) -> Function:
    """The function of a node for forward mode."""

    def jvp(ctx: Any, *tangents: Any) -> Any:
        call, ctx._call = ctx._call, None
        args, *_, result = call
        given = [*tangents] if special is None else special.tangents_of(ctx, tangents, args)
        # Arguments that PyTorch has left out have none.
        given += [None] * (len(args) - len(given))
        # The transforms below this one differentiate this, too.
        with forward_ad._set_fwd_grad_enabled(True):
            of_results = _tangents_of(operator, table, call, given)
            if special is not None and special.is_inplace and tangents[0] is not None:
                return tangents[0].copy_(of_results[0])
        return of_results[0] if isinstance(result, torch.Tensor) else tuple(of_results)

    return jvp


def _tangents_of(operator: str, table: Table, call: Any, given: list[Any]) -> list[Any]:
    """The tangents of the results of a call; `given` are those of its arguments."""
    primals = pytree.tree_map_only(torch.Tensor, lambda t: _unpack_dual(t, level=0).primal, call)
    *inputs, result = primals
    if (operator, "forward") in table:
        tangents = pytree.tree_leaves(table[operator, "forward"](*inputs, result, given))
    else:
        tangents = table[operator, "transposed"](operator, table, inputs, result, given)
    # A formula may pass on the tangent of an argument, and what is then written to one is not for both.
    return [tangent if tangent is None else tangent.clone() for tangent in tangents]
