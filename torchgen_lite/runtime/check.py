"""The check of a Python kernel against its schema (c10 checks the C++ signature it can infer)."""

from __future__ import annotations

from types import FunctionType
from typing import TYPE_CHECKING

from torchgen_lite.runtime.errors import fallthrough_kernel

if TYPE_CHECKING:
    from torchgen_lite.runtime.kernel import Kernel
    from torchgen_lite.runtime.signature import Signature

_VARARGS = 0x04
_VARKEYWORDS = 0x08


def check_kernel(signature: Signature, kernel: Kernel) -> None:
    """Raise TypeError unless a plain Python kernel can be called with the schema's arguments.

    Calls pass every argument: positional ones by position, keyword-only ones by name. Builtins, bound
    methods and objects with `__call__` are not looked into.
    """
    function = kernel.function
    if type(function) is not FunctionType or function is fallthrough_kernel:
        return
    code = function.__code__
    first = 1 if kernel.with_keyset else 0
    given = signature.positional + first
    fault = ""
    if code.co_argcount < given and not code.co_flags & _VARARGS:
        fault = f"it takes {code.co_argcount} positional arguments, a call passes {given}"
    elif code.co_argcount - len(function.__defaults__ or ()) > given + _by_keyword(
        signature, kernel
    ):
        fault = f"it needs more than the {given} positional arguments that a call passes"
    elif not code.co_flags & _VARKEYWORDS:
        names = code.co_varnames[given : code.co_argcount + code.co_kwonlyargcount]
        missing = [n for n in signature.arguments[signature.positional :] if n not in names]
        if missing:
            fault = f"it does not take the keyword-only argument '{missing[0]}'"
    if not fault:
        required = code.co_varnames[code.co_argcount : code.co_argcount + code.co_kwonlyargcount]
        defaults = function.__kwdefaults__ or {}
        for name in required:
            if name not in defaults and name not in signature.arguments[signature.positional :]:
                fault = f"its keyword-only argument '{name}' is not in the schema"
    if fault:
        raise TypeError(_message(signature, kernel, function, fault))


def _by_keyword(signature: Signature, kernel: Kernel) -> int:
    """How many keyword-only arguments of the schema the kernel takes as ordinary parameters."""
    function = kernel.function
    assert isinstance(function, FunctionType)
    code = function.__code__
    start = signature.positional + (1 if kernel.with_keyset else 0)
    ordinary = code.co_varnames[start : code.co_argcount]
    return sum(1 for name in signature.arguments[signature.positional :] if name in ordinary)


def _message(signature: Signature, kernel: Kernel, function: FunctionType, fault: str) -> str:
    import inspect

    keyset = "the keyset and then " if kernel.with_keyset else ""
    return (
        f"the kernel of {signature.full_name} does not fit its schema: {fault}\n"
        f"  schema: {signature.schema}\n"
        f"  kernel: {function.__qualname__}{inspect.signature(function)}, called with {keyset}"
        f"the schema's arguments\n"
        f"  {kernel.debug}"
    )
