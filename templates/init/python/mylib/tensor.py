"""The tensor, and the helpers that generated code imports: the `framework` of the configuration."""

from __future__ import annotations

from mylib._ops.runtime import DispatchKey, DispatchKeySet
from mylib._ops.runtime.framework import Number

__all__ = ["Number", "Tensor"]

_CPU = DispatchKeySet(DispatchKey.CPU)
_META = DispatchKeySet(DispatchKey.Meta)


class Tensor:
    """A one-dimensional tensor; on Meta it has only a size."""

    def __init__(self, data: list[float] | None, size: int | None = None) -> None:
        self.data = data or []
        self.size = len(self.data) if size is None else size
        # The dispatcher reads this in each call.
        self._dispatch_keyset = _META if data is None else _CPU
