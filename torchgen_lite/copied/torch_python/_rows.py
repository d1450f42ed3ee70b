"""Several kernels of one operator under one key, of which conditions choose.

Note [Conditions in traced programs]
Kernels of a backend run when a compiled program runs, with sizes that are numbers then, and so do the conditions between
them. Where compilers look into kernels (`triton:`, composed operators), conditions are tested while a program is traced:
a symbolic size gets a guard, with which the program holds for one side of a bound. What is unknown then, a size that
depends on data or the address of a tensor, decides nothing: the last kernel runs, which has no condition, and without
one such a call is refused.

`TORCHGEN_LITE_TRACE=kernels` says at exit how often each kernel ran. Without it nothing is counted.
"""

from __future__ import annotations

import atexit
import builtins as builtins  # Arguments may have the names of what conditions call.
import os
import sys
from collections import Counter
from functools import cache
from typing import Any

import torch
from torch._subclasses import FakeTensor

from ._library import Function, resolve

_IS_TRACED = "kernels" in os.environ.get("TORCHGEN_LITE_TRACE", "").split(",")


class _Unknown(Exception):
    """A condition asks for what a traced program does not know."""


# What conditions ask.


def is_aligned(value: torch.Tensor, by: int) -> bool:
    """Whether the address of the first element is divisible by a number; what is traced, or for Meta, has none."""
    if isinstance(value, FakeTensor) or value.is_meta:
        raise _Unknown("the address of a tensor")
    try:
        address = value.data_ptr()
    except RuntimeError as error:
        raise _Unknown("the address of a tensor") from error
    return address % by == 0


def capability(value: torch.Tensor) -> int:
    """What the device of a tensor is capable of, such as 90; 0 for a device that is not of CUDA."""
    return _capability_of(value.device) if value.is_cuda else 0


@cache
def _capability_of(device: torch.device) -> int:
    major, minor = torch.cuda.get_device_capability(device)
    return 10 * major + minor


def unknown() -> tuple[type[Exception], ...]:
    """What conditions raise while a program is traced, about what is known only when it runs."""
    from torch.fx.experimental.symbolic_shapes import GuardOnDataDependentSymNode

    return _Unknown, GuardOnDataDependentSymNode


# What is chosen.


def _counted(place: str, module: str, name: str) -> Function:
    _counts[place, name] += 1
    return resolve(place, module, name)


_counts: Counter[tuple[str, str]] = Counter()
kernel = _counted if _IS_TRACED else resolve
"""The function of a row; its module is imported now."""


def _say() -> None:
    for (place, name), count in _counts.items():
        times = "once" if count == 1 else f"{count} times"
        print(f"{place}: {name} ran {times}", file=sys.stderr)


if _IS_TRACED:
    atexit.register(_say)


def uncovered(place: str, /, **given: Any) -> NotImplementedError:
    """No condition holds for the arguments of a call, as far as is known."""
    shown = ", ".join([f"{name}={_said(value)}" for name, value in given.items()])
    return NotImplementedError(f"{place}: no kernel takes {shown}")


def _said(value: Any) -> str:
    """`float32[2, 3]` for a tensor."""
    if isinstance(value, torch.Tensor):
        return f"{str(value.dtype).removeprefix('torch.')}{list(value.shape)}"
    if isinstance(value, (list, tuple)):
        return f"[{', '.join(map(_said, value))}]"
    return repr(value)
