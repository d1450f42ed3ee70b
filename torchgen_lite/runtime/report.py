"""The errors of calls that cannot run: wrong types of arguments, missing kernels."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Union

from .errors import AmbiguousKernelError, MissingKernelError
from .kernel import Kernel
from .keys import DispatchKey
from .keyset import DispatchKeySet
from .signature import Signature

Shown = Callable[[Union[DispatchKey, DispatchKeySet]], str]


def wrong_argument(signature: Signature, position: int, expected: str, value: Any) -> TypeError:
    """`expected` is what the argument at a position must be, in words."""
    return TypeError(
        f"{signature.full_name}(): argument '{signature.arguments[position]}' (position {position + 1}) "
        f"must be {expected}, not {_describe(value)}"
    )


def _describe(value: Any) -> str:
    if isinstance(value, (list, tuple)):
        return f"{type(value).__name__} of ({', '.join(map(_describe, value))})"
    name = type(value).__name__
    keyset = getattr(value, "_dispatch_keyset", None)
    if keyset is None or isinstance(keyset, DispatchKeySet):
        return name
    kind = type(keyset).__name__
    if kind == DispatchKeySet.__name__:  # A copy of the runtime has its own.
        kind = f"{type(keyset).__module__}.{kind}"
        return f"{name}, whose `_dispatch_keyset` must be a {DispatchKeySet.__module__}.DispatchKeySet, not a {kind}"
    return f"{name}, whose `_dispatch_keyset` must be a DispatchKeySet, not a {kind}"


def ambiguous_kernel(name: str, sites: str) -> AmbiguousKernelError:
    """The exception for a slot that a composite kernel and a backend's kernel could both fill."""
    return AmbiguousKernelError(
        f"{name} has kernels for CompositeImplicitAutograd and for a backend whose autograd is "
        f"AutogradOther, so it is ambiguous which of them autograd should use. Register a kernel for "
        f"AutogradOther, or CompositeExplicitAutograd instead of CompositeImplicitAutograd.{sites}"
    )


def missing_kernel(
    name: str, key: DispatchKey, keyset: DispatchKeySet, sites: str, shown: Shown
) -> MissingKernelError:
    """The exception for a key without a kernel: c10 `OperatorEntry::reportError`, with sites."""
    if key == DispatchKey.Undefined:
        return MissingKernelError(
            f"There were no tensor arguments to this function (e.g., you passed an empty list of "
            f"Tensors), but no fallback function is registered for schema {name}. An operator that can "
            f"be called without tensors needs a CompositeExplicitAutograd, CompositeImplicitAutograd or "
            f"BackendSelect kernel.{sites}"
        )
    if key == DispatchKey.Meta:
        return MissingKernelError(
            f"{name}: attempted to run this operator with Meta tensors, but there was no fake impl or "
            f"Meta kernel registered for it.{sites}"
        )
    hint = ""
    if key.name.startswith("Autograd"):
        hint = " If autograd has nothing to do here, register `fallthrough_kernel` as the fallback of this key."
    return MissingKernelError(
        f"Could not run '{name}' with arguments from the '{shown(key)}' backend: it has no kernel for this key, "
        f"and no fallback serves it.{hint} The call's keys are {shown(keyset)}.{sites}"
    )


def kernel_sites(
    name: str, kernels: Mapping[DispatchKey, Kernel], defined: str, shown: Shown
) -> str:
    """Where the operator does have kernels, one line for each key."""
    if not kernels:
        return f"\n'{name}' has no kernels at all; it is {defined or 'undefined'}."
    lines = [f"  {shown(key)}: {kernels[key].debug}" for key in sorted(kernels)]
    return f"\n'{name}' has kernels for:\n" + "\n".join(lines)
