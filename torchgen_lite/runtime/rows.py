"""Several kernels of one operator under one key, of which conditions choose.

`TORCHGEN_LITE_TRACE=kernels` says at exit how often each ran. Without it nothing is counted.
"""

from __future__ import annotations

import atexit
import os
import sys
from collections import Counter
from collections.abc import Callable
from functools import cache
from importlib import import_module
from typing import Any, cast

Function = Callable[..., Any]
_IS_TRACED = "kernels" in os.environ.get("TORCHGEN_LITE_TRACE", "").split(",")


@cache
def _function(of: str, module: str, name: str) -> Function:
    return cast("Function", getattr(import_module(module), name))


def _counted(of: str, module: str, name: str) -> Function:
    _counts[of, name] += 1
    return _function(of, module, name)


_counts: Counter[tuple[str, str]] = Counter()
row_kernel = _counted if _IS_TRACED else _function
"""The function of a row, a kernel `of` an operator for a key; its module is imported now."""


def _say() -> None:
    for (of, name), count in _counts.items():
        times = "once" if count == 1 else f"{count} times"
        print(f"{of}: {name} ran {times}", file=sys.stderr)


if _IS_TRACED:
    atexit.register(_say)


def uncovered(of: str, /, **given: Any) -> NotImplementedError:
    """No condition holds for the arguments of a call."""
    shown = ", ".join([f"{name}={_said(value)}" for name, value in given.items()])
    return NotImplementedError(f"{of}: no kernel takes {shown}")


def _said(value: Any) -> str:
    """The dtype and the shape of a tensor that has them."""
    if not hasattr(value, "_dispatch_keyset"):
        return repr(value)
    facts = [getattr(value, name, "") for name in ("_dtype", "_shape")]
    return " ".join([type(value).__name__, *[str(fact) for fact in facts if fact != ""]])
