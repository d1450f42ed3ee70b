"""What the dispatcher says: type errors of arguments, missing kernels, and the dumps of an operator."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from torchgen_lite.runtime.arguments import EMPTY, HOLE, find_keyset
from torchgen_lite.runtime.errors import AmbiguousKernelError, MissingKernelError
from torchgen_lite.runtime.keys import RUNTIME_KEYS, DispatchKey, is_alias_dispatch_key
from torchgen_lite.runtime.keyset import DispatchKeySet, table_index

if TYPE_CHECKING:
    from torchgen_lite.runtime.operator import OperatorHandle

_EXPECTED = {
    "T": "a tensor",
    "O": "a tensor or None",
    "L": "a sequence of tensors",
    "P": "a sequence of tensors or None",
}


def keyset_of_kind(value: Any, kind: str) -> DispatchKeySet | None:
    """The keyset that an argument of a kind brings; None where the memo's key is None.

    Raises TypeError if the value is not of the kind.
    """
    if kind in "TOG":
        if value is None and kind != "T":
            return None
        keyset = find_keyset(value)
        if keyset is None and kind == "G":
            return EMPTY
        if keyset is not None:
            return keyset
    elif isinstance(value, Sequence) and not isinstance(value, str):
        union = EMPTY
        for element in value:
            keyset = HOLE if element is None and kind == "P" else find_keyset(element)
            if keyset is None:
                break
            union = union | keyset
        else:
            return union
    raise TypeError(f"expected {_EXPECTED[kind]}")


def keysets_of(
    operator: OperatorHandle, positions: Iterable[int], values: Iterable[Any]
) -> tuple[DispatchKeySet | None, ...]:
    """The memo path of the arguments at some positions. Raises a TypeError that names the wrong one."""
    signature = operator.signature
    path: list[DispatchKeySet | None] = []
    for position, value in zip(positions, values):
        try:
            path.append(keyset_of_kind(value, signature.kinds[position]))
        except TypeError as error:
            raise TypeError(
                f"{operator.full_name}(): argument '{signature.arguments[position]}' "
                f"(position {position + 1}): {error}, not {_describe(value)}"
            ) from None
    return tuple(path)


def _describe(value: Any) -> str:
    if isinstance(value, (list, tuple)):
        return f"{type(value).__name__} of ({', '.join(type(e).__name__ for e in value)})"
    return type(value).__name__


def missing_kernel(operator: OperatorHandle, keyset: DispatchKeySet) -> Exception:
    """The exception for a keyset whose slot has no kernel: c10 `OperatorEntry::reportError`, with sites."""
    slot = table_index(keyset.raw_repr())
    key = RUNTIME_KEYS[slot]
    name = operator.full_name
    sites = _sites(operator)
    if operator.plan.choices[slot].origin == "ambiguous autogradother":
        return AmbiguousKernelError(
            f"{name} has kernels for CompositeImplicitAutograd and for a backend whose autograd is "
            f"AutogradOther, so it is ambiguous which one autograd is to use. Register a kernel for "
            f"AutogradOther, or CompositeExplicitAutograd instead of CompositeImplicitAutograd.{sites}"
        )
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
    return MissingKernelError(
        f"Could not run '{name}' with arguments from the '{key}' backend: it has no kernel for this key, "
        f"and no fallback serves it. The call's keys are {keyset}.{sites}"
    )


def _sites(operator: OperatorHandle) -> str:
    """Where the operator does have kernels, newest first, one key a line."""
    lines = [
        f"  {key}: {kernel.debug}"
        for key in sorted(operator.kernels)
        for kernel in [operator.kernels[key]]
    ]
    if not lines:
        return f"\n'{operator.full_name}' has no kernels at all; it is {operator.definition_debug or 'undefined'}."
    return f"\n'{operator.full_name}' has kernels for:\n" + "\n".join(lines)


def dump(operator: OperatorHandle) -> str:
    """c10 `OperatorEntry::dumpState`: registrations by key, shadowed ones marked inactive."""
    lines = [f"name: {operator.full_name}"]
    if operator.has_schema:
        lines += [
            f"schema: {operator.schema}",
            f"debug: {operator.definition_debug}",
            "alias analysis kind: FROM_SCHEMA",
        ]
    else:
        lines.append("schema: (none)")
    for key in sorted(operator.kernels):
        alias = "[alias]" if is_alias_dispatch_key(key) else ""
        for age, kernel in enumerate(operator.kernels_at(key)):
            inactive = " (inactive)" if age else ""
            kind = "fallthrough boxed" if kernel.is_fallthrough else "boxed"
            lines.append(f"{key}{alias}{inactive}: {kernel.debug} :: (none) [ {kind} ]")
    return "\n".join(lines) + "\n"
