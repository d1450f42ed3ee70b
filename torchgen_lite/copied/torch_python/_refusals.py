"""Which values have derivatives, and what refuses those that would be lost."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch

from ._forward import is_dual
from ._library import Function

WITHOUT_FORWARD = "has no formula for forward-mode"


def refused(operator: str, reason: str) -> Function:
    """What refuses a call whose tangents can't be computed."""

    def refuse() -> Any:
        raise RuntimeError(f"{operator} {WITHOUT_FORWARD}: {reason}")

    return refuse


def refusing(refuse: Callable[[tuple[bool, ...]], None], count: int) -> Callable[..., None]:
    """What refuses calls that need a derivative for which there is no formula, of operators with that many arguments."""

    def refuse_call(args: Sequence[Any], is_recorded: bool, has_tangents: bool) -> None:
        needs = []
        for value in args:
            tensors = value if isinstance(value, (list, tuple)) else [value]
            needs_gradient = is_recorded and any(map(wants_gradient, tensors))
            needs.append(needs_gradient or (has_tangents and any(map(is_dual, tensors))))
        # PyTorch leaves out arguments that equal their default, which need none.
        needs += [False] * (count - len(needs))
        refuse(tuple(needs))

    return refuse_call


def wants_gradient(value: Any) -> bool:
    return isinstance(value, torch.Tensor) and value.requires_grad


def is_real(value: torch.Tensor) -> bool:
    """Whether it can have a derivative."""
    return value.is_floating_point() or value.is_complex()
