"""What derivatives call: zeros for gradients that do not come, and for tangents that there are not."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NoReturn

import torch
from torch import Tensor
from torch._subclasses.fake_tensor import FakeTensor
from torch._subclasses.functional_tensor import FunctionalTensor
from torch.utils import _pytree as pytree

# Parts of torch have no annotations.
_C: Any = torch._C

# What backward needs to know about a tensor to make zeros like it: of a plain one no memory.
Info = tuple[Any, torch.dtype, torch.device]
# Compilers trace with these in the place of plain tensors.
_PLAIN = {Tensor, torch.nn.Parameter, FakeTensor, FunctionalTensor}


def keep_results(ctx: Any, result: Any) -> None:
    """Let `filled` know what the gradients of these results are like."""
    ctx._results = [_made_like(value) for value in pytree.tree_leaves(result)]


def filled(ctx: Any, grads: Sequence[Any]) -> list[Any]:
    """The gradients of all results, zeros where none came."""
    given = next(grad for grad in grads if grad is not None)
    makers = ctx._results
    return [make(given) if grad is None else grad for grad, make in zip(grads, makers)]


def _made_like(value: Any) -> Callable[[Tensor], Any]:
    """What makes zeros like a result, without keeping it, of the class of another gradient: a DTensor, if it is one."""
    if not isinstance(value, Tensor):
        return lambda given: None
    if value.is_nested:
        # Others are not made from a shape.
        kept = value.detach()
        return lambda given: torch.zeros_like(kept)
    shape, dtype, device = value.shape, value.dtype, value.device
    return lambda given: given.new_zeros(shape, dtype=dtype, device=device)


def tangent(value: Any, given: Any) -> Any:
    """The tangent of an argument: zeros where there is none."""
    if isinstance(value, list):
        return [tangent(item, its_tangent) for item, its_tangent in zip(value, given)]
    # An optional tensor that is left out has no tangent, not even zeros.
    if given is None and value is not None:
        return torch.zeros_like(value)
    return given


def info_of(value: Tensor) -> Info | Tensor:
    """What makes zeros like a tensor. Those of another class or layout, and those in a batch of `torch.vmap`, have zeros of
    their own kind, which are not made from a shape."""
    is_plain = type(value) in _PLAIN and value.layout is torch.strided and not value.is_nested
    if is_plain and not _C._functorch.is_functorch_wrapped_tensor(value):
        return value.shape, value.dtype, value.device
    return value.detach()


def zeros(info: Info | Tensor) -> Tensor:
    if isinstance(info, Tensor):
        return torch.zeros_like(info)
    shape, dtype, device = info
    return torch.zeros(shape, dtype=dtype, device=device)


def not_implemented(name: str, reason: str = "") -> NoReturn:
    why = f": {reason}" if reason else ""
    raise NotImplementedError(f"the derivative of {name} is not implemented{why}")


def padded(needs: Sequence[Any], count: int) -> Sequence[Any]:
    """Which inputs need a gradient: those that were left out need none."""
    left_out = [False] * (count - len(needs))
    return [*needs, *left_out]
