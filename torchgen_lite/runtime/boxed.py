"""Calls whose arguments and results are on a stack (c10 `callBoxed`)."""

from __future__ import annotations

from typing import Any

from .kernel import KernelCallable
from .signature import Signature
from .sized import as_tuple


def arguments_on(stack: list[Any], signature: Signature) -> list[Any]:
    """The arguments at the end of a stack, which stay there, as a kernel gets them. Raises TypeError for too few."""
    count = len(signature.arguments)
    if len(stack) < count:
        raise TypeError(
            f"{signature.full_name} takes {count} arguments, but the stack has {len(stack)}"
        )
    arguments = stack[len(stack) - count :]
    for position in signature.sized:
        arguments[position] = as_tuple(signature, position, arguments[position])
    return arguments


def run_on(
    stack: list[Any], signature: Signature, arguments: list[Any], bound: KernelCallable
) -> None:
    """Replace the arguments at the end of a stack by the results of a kernel."""
    positional = signature.positional
    keywords = dict(zip(signature.keywords, arguments[positional:]))
    del stack[len(stack) - len(arguments) :]
    result = bound(*arguments[:positional], **keywords)
    if signature.returns == 1:
        stack.append(result)
    elif signature.returns:
        stack.extend(result)
