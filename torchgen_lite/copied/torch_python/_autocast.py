"""`torch.autocast`: floating-point tensors are cast, and the operator runs without autocast."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Any

import torch
from torch.utils import _pytree as pytree

from ._writes import Function, tensors_of, values_at

# Parts of torch have no annotations.
_C: Any = torch._C
_torch: Any = torch

DEVICES = {"CPU": "cpu", "CUDA": "cuda", "XPU": "xpu", "MPS": "mps"}


def float32(device: str) -> torch.dtype:
    return torch.float32


def lower_precision(device: str) -> torch.dtype:
    """The dtype of the autocast context."""
    return torch.get_autocast_dtype(device)


@dataclass(frozen=True)
class Casts:
    """A rule for some arguments, which are positions or names: those that are cast, if not all of them,
    and the one to whose dtype results are cast back."""

    dtype_for: Function
    only: tuple[int | str, ...] = ()
    back: int | str | None = None

    def __call__(self, device: str) -> Any:
        return self.dtype_for(device)


def casting(op: Any, key: str, device: str, current: Callable[[], Function]) -> Function:
    """The kernel for an autocast key, which takes the rule that is current."""
    keyset = _C.DispatchKeySet(getattr(_C.DispatchKey, key))

    def is_cast(value: torch.Tensor) -> bool:
        is_eligible = value.device.type == device and value.dtype is not torch.float64
        return is_eligible and value.is_floating_point()

    def cast(argument: Any, dtype: torch.dtype) -> Any:
        return pytree.tree_map_only(
            torch.Tensor, lambda value: value.to(dtype) if is_cast(value) else value, argument
        )

    def kernel(*args: Any, **kwargs: Any) -> Any:
        rule = current()
        dtype = rule(device)
        with _C._ExcludeDispatchKeyGuard(keyset):
            only = rule.only if isinstance(rule, Casts) else ()
            given = [cast(v, dtype) if not only or i in only else v for i, v in enumerate(args)]
            named = {n: cast(v, dtype) if not only or n in only else v for n, v in kwargs.items()}
            result = op(*given, **named)
        if not isinstance(rule, Casts) or rule.back is None:
            return result
        (before,) = values_at([rule.back], args, kwargs)
        if not is_cast(before):
            return result
        return pytree.tree_map_only(torch.Tensor, cast_back(before.dtype), result)

    def cast_back(dtype: torch.dtype) -> Function:
        return lambda value: value.to(dtype) if value.is_floating_point() else value

    return kernel


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
