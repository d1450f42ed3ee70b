"""Kernels of modules that are imported when the first of them is needed.

Note [Generated kernels load when they are called]
A package has more generated kernels (of autograd, of views, of structured operators) than most programs call, and
reading their code is most of what importing it costs. So a registration gives their names and a function that
imports their module, which runs in a context of its own: the module's code sees neither the guards nor the modes of
the call that happens to need it. A call imports before it takes the dispatcher's lock, because an import may wait for
another thread's.
"""

from __future__ import annotations

from collections.abc import Callable
from contextvars import Context
from types import ModuleType
from typing import Any

from .kernel import Kernel

LoadModule = Callable[[], ModuleType]


class DeferredKernel(Kernel):
    """A function of a module. Its site is where it stands, not where it is registered."""

    __slots__ = ("_load", "_name")

    def __init__(self, load: LoadModule, name: str, kind: int) -> None:
        self._load = load
        self._name = name
        self._offset_and_kind = kind
        self.older = None

    @property
    def is_fallthrough(self) -> bool:
        return False

    def __getattr__(self, attribute: str) -> Any:
        # Only these two can be unset.
        if attribute not in ("function", "_where"):
            raise AttributeError(f"'DeferredKernel' object has no attribute '{attribute}'")
        function = getattr(Context().run(self._load), self._name)
        self.function, self._where = function, function.__code__
        return getattr(self, attribute)
