"""A mode: while its key is included, every call of every operator passes through one kernel first."""

from __future__ import annotations

from typing import Any

from torchgen_lite_runtime import (
    DispatchKey,
    DispatchKeySet,
    IncludeDispatchKeyGuard,
    Library,
    OperatorHandle,
)

MODE = DispatchKey.TESTING_ONLY_GenericMode
BELOW = DispatchKeySet.full_after(MODE)

library = Library("_", "IMPL", MODE)
calls: list[str] = []


def log(keyset: DispatchKeySet, operator: OperatorHandle, /, *args: Any, **kwargs: Any) -> Any:
    calls.append(str(operator))
    return operator.redispatch(keyset & BELOW, *args, **kwargs)


library.fallback(log, with_keyset=True)


def logging() -> IncludeDispatchKeyGuard:
    """`with logging(): ...` notes every operator that is called inside, in `calls`."""
    return IncludeDispatchKeyGuard(MODE)
