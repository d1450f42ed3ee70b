"""`torch.autocast`: floating-point tensors are cast, and the operator runs without autocast."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
from torch.utils import _pytree as pytree

from ._library import Function, Registering

# Parts of torch have no annotations.
_C: Any = torch._C

_DEVICES = {"CPU": "cpu", "CUDA": "cuda", "XPU": "xpu", "MPS": "mps"}


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


def register(registering: Registering) -> None:
    """A kernel for the autocast key of every device that has none yet."""
    if not registering.has("autocast"):
        return
    which = registering.name, "autocast"

    def current_rule() -> Function:
        return registering.table[which]

    of_backend = {"PrivateUse1": _C._get_privateuse1_backend_name()}
    for backend, device in (_DEVICES | of_backend).items():
        key = f"Autocast{backend}"
        is_known = hasattr(_C.DispatchKey, key)
        if is_known and not registering.has_kernel(key):
            kernel = _casting(registering.op, key, device, current_rule)
            registering.impl(key, kernel)


def _casting(op: Any, key: str, device: str, current_rule: Callable[[], Function]) -> Function:
    """The kernel for an autocast key, which takes the rule that is current."""
    keyset = _C.DispatchKeySet(getattr(_C.DispatchKey, key))

    def is_cast(value: torch.Tensor) -> bool:
        is_here = value.device.type == device
        is_double = value.dtype is torch.float64
        return is_here and not is_double and value.is_floating_point()

    def kernel(*args: Any, **kwargs: Any) -> Any:
        rule = current_rule()
        casts = rule if isinstance(rule, Casts) else Casts(rule)
        dtype = casts.dtype_for(device)
        given: dict[Any, Any] = {**dict(enumerate(args)), **kwargs}
        with _C._ExcludeDispatchKeyGuard(keyset):
            for place in casts.only or list(given):
                if place in given:
                    given[place] = _cast(given[place], dtype, is_cast)
            positional = [given.pop(index) for index in range(len(args))]
            result = op(*positional, **given)
        if casts.back is None:
            return result
        before = kwargs[casts.back] if isinstance(casts.back, str) else args[casts.back]
        if not is_cast(before):
            return result
        return _cast(result, before.dtype, torch.is_floating_point)

    return kernel


def _cast(values: Any, dtype: torch.dtype, is_cast: Callable[[torch.Tensor], bool]) -> Any:
    """The values, in which the tensors that are cast have another dtype."""

    def cast_tensor(value: torch.Tensor) -> torch.Tensor:
        return value.to(dtype) if is_cast(value) else value

    return pytree.tree_map_only(torch.Tensor, cast_tensor, values)
