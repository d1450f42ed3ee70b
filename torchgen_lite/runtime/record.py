"""One run of a kernel, as observers see it (c10 RecordFunction's place)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from .kernel import Kernel, KernelCallable
from .keys import DispatchKey
from .keyset import DispatchKeySet
from .operator import OperatorHandle


class Record(NamedTuple):
    """One run of a kernel. `how` is call, redispatch, callBoxed or redispatchBoxed."""

    operator: OperatorHandle
    keyset: DispatchKeySet
    key: DispatchKey
    kernel: Kernel
    how: str
    arguments: tuple[Any, ...]
    keywords: dict[str, Any]


Observer = Callable[[Record], Callable[[], None] | None]
"""Called before a kernel runs; what it returns, if anything, is called afterwards, even if the kernel raises."""


def observed(
    observers: tuple[Observer, ...],
    operator: OperatorHandle,
    keyset: DispatchKeySet,
    kernel: Kernel,
    bound: KernelCallable,
    how: str,
) -> KernelCallable:
    """`bound`, with observers around it."""
    key = keyset.highest_priority_type_id()

    def watched(*arguments: Any, **keywords: Any) -> Any:
        record = Record(operator, keyset, key, kernel, how, arguments, keywords)
        ends: list[Callable[[], None]] = []
        try:
            for observer in observers:
                end = observer(record)
                if end is not None:
                    ends.append(end)
            return bound(*arguments, **keywords)
        finally:
            for end in reversed(ends):
                end()

    return watched
