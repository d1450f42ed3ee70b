"""A tensor that has only keys, kernels that return their names, and the registrations of an operator."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from torchgen_lite.analysis.computed_table import Registrations
from torchgen_lite.runtime import (
    Dispatcher,
    DispatchKey,
    DispatchKeySet,
    Library,
    OperatorHandle,
)


class T:
    """A tensor with the named keys."""

    def __init__(self, *names: str) -> None:
        self._dispatch_keyset = keyset(*names)


def keyset(*names: str) -> DispatchKeySet:
    return DispatchKeySet(DispatchKey[name] for name in names)


def says(answer: object) -> Callable[..., Any]:
    """A kernel of any schema that returns `answer`."""

    def kernel(*arguments: Any, **keywords: Any) -> Any:
        return answer

    return kernel


def operator_with(
    *keys: str, schema: str = "op(Tensor x) -> Tensor", fallbacks: tuple[str, ...] = ()
) -> tuple[Any, Dispatcher, list[Library]]:
    """An operator `ns::op` with a kernel at each key that returns the key's name.

    The libraries are returned too, since dropping them would undo their registrations.
    """
    dispatcher = Dispatcher()
    library = Library("ns", "DEF", dispatcher=dispatcher)
    operator = library.define(schema)
    for key in keys:
        library.impl(schema.partition("(")[0], says(key), key, debug=key)
    wildcard = Library("_", "IMPL", dispatcher=dispatcher)
    for key in fallbacks:
        wildcard.fallback(says(f"fallback {key}"), key, debug="fallback")
    return operator, dispatcher, [library, wildcard]


def origins(table: dict[str, Any]) -> dict[str, str]:
    return {key: cell.origin for key, cell in table.items()}


def registrations_of(operator: OperatorHandle) -> Registrations:
    """The registrations of a live operator; their labels are the places of registration."""

    def labels(kernels: Mapping[DispatchKey, object]) -> dict[str, str]:
        return {key.name: str(kernel) for key, kernel in kernels.items()}

    with operator.dispatcher.lock:
        return Registrations(
            operator.full_name, labels(operator.kernels), labels(operator.dispatcher.fallbacks)
        )
