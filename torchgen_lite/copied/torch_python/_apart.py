"""References as kernels."""

from __future__ import annotations

from typing import Any

import torch
from torch.utils import _pytree as pytree

from ._library import Function, tensors_of

# Parts of torch have no annotations.
_C: Any = torch._C


def apart(function: Function) -> Function:
    """A function whose results share no memory with its arguments, nor with each other: those of an operator do not."""

    def call(*args: Any, **kwargs: Any) -> Any:
        result = function(*args, **kwargs)
        known = tensors_of((args, kwargs))

        def cloned_if_shared(value: torch.Tensor) -> torch.Tensor:
            if any(_C._is_alias_of(value, other) for other in known):
                value = value.clone()
            known.append(value)
            return value

        return pytree.tree_map_only(torch.Tensor, cloned_if_shared, result)

    return call
