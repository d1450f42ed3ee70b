"""Kernels whose modules are imported when one of them is first needed.

Note [Kernels load when they are called]
A package has more kernels than most programs call, and loading their code is most of the cost of importing it. So a
registration gives their names and a function that imports their module. The import runs in a separate context: the
module's code sees neither the guards nor the modes of the call that happens to need it. A call imports before it takes
the dispatcher's lock, because an import may wait for one in another thread.

Handwritten kernels are deferred for another reason as well. They import the tensor class, which derives from the
package's `TensorMethods`: importing the package must not import them.
"""

from __future__ import annotations

from collections.abc import Callable
from contextvars import Context
from types import ModuleType
from typing import Any

from .errors import fallthrough_kernel
from .kernel import Kernel, packed
from .sites import Place

LoadModule = Callable[[], ModuleType]


class DeferredKernel(Kernel):
    """A generated function of a module. Its site is where it is defined, not where it is registered."""

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
        if attribute == "function":
            self.function = getattr(Context().run(self._load), self._name)
        elif attribute == "_where":
            function: Any = self.function
            self._where = function.__code__
        else:
            raise AttributeError(f"'{type(self).__name__}' object has no attribute '{attribute}'")
        return getattr(self, attribute)


class WrittenKernel(DeferredKernel):
    """A handwritten function: it is checked against the schema once it is imported, and may be a fallthrough."""

    __slots__ = ("is_checked",)

    def __init__(self, load: LoadModule, name: str, where: Place, offset: int) -> None:
        super().__init__(load, name, packed(0, offset))
        self._where = where
        self.is_checked = False

    @property
    def is_fallthrough(self) -> bool:
        return self.is_checked and self.function is fallthrough_kernel
