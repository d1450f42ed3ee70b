"""NumPy functions without NumPy's warnings, and conversions between its types.

    silently(function, *arrays)   call a NumPy function; it must not call operators
    quiet()                       the same for several lines, in a `with`
    converted(array, dtype)       the array in another type, as torch converts

Note [No NumPy warnings] torch gives inf and nan without a word where NumPy warns. They are never switched
off globally, for NumPy's state belongs to the user. NumPy 2 keeps that state in a context variable, so
`silently` calls the function in a context of ours where warnings are off: ten times cheaper than
`np.errstate`. In that context the dispatch state is the default one, therefore no operators in it. A
context can't be entered twice at once, so there are as many as calls have ever run at the same time.
`quiet` is for several lines.
"""

from __future__ import annotations

import contextvars
from collections.abc import Callable
from typing import Any

import numpy as np

from torchgen_lite_reference.storage import Array

Compute = Callable[..., Any]


def quiet() -> np.errstate:
    """Silence NumPy's floating-point warnings inside a `with`."""
    return np.errstate(all="ignore")


class _OlderNumPy:
    """Stands for a context under NumPy 1, whose state is the thread's."""

    def run(self, function: Compute, /, *arguments: Any, **keywords: Any) -> Any:
        with quiet():
            return function(*arguments, **keywords)


def quiet_context() -> contextvars.Context | _OlderNumPy:
    if np.__version__.startswith("1."):
        return _OlderNumPy()
    context = contextvars.Context()
    context.run(np.seterr, all="ignore")
    return context


idle: list[contextvars.Context | _OlderNumPy] = []


def silently(function: Compute, *arguments: Any, **keywords: Any) -> Any:
    """What a NumPy function returns, without its warnings. See Note [No NumPy warnings]."""
    try:
        context = idle.pop()
    except IndexError:
        context = quiet_context()
    try:
        return context.run(function, *arguments, **keywords)
    finally:
        idle.append(context)


def converted(array: Array, wanted: np.dtype[Any]) -> Array:
    """The array in another type: true for what is not zero, the real part where there is no other, fractions cut."""
    if wanted.kind == "b":
        return array != 0  # type: ignore[no-any-return]
    if array.dtype.kind == "c" and wanted.kind != "c":
        array = array.real
    if array.dtype.kind in "bi" and wanted.kind in "fc" and wanted.itemsize > 2:
        # No integer is too large for single precision.
        return array.astype(wanted)
    result: Array = silently(array.astype, wanted)
    return result
