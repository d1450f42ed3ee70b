"""Whether calls are recorded: `no_grad`, `enable_grad`, `set_grad_enabled`, `inference_mode`.

Each is a context manager and a decorator. The flag is a context variable, as the dispatch state is.
"""

from __future__ import annotations

import contextvars
import functools
from collections.abc import Callable
from types import TracebackType
from typing import Any, TypeVar

from torchgen_lite_runtime import InferenceMode, guards_without, is_inference_mode_enabled

__all__ = [
    "enable_grad",
    "grad_enabled",
    "inference_mode",
    "is_grad_enabled",
    "is_inference_mode_enabled",
    "no_grad",
    "set_grad_enabled",
]

F = TypeVar("F", bound=Callable[..., Any])

_enabled: contextvars.ContextVar[bool] = contextvars.ContextVar(
    "torchgen_lite.grad_enabled", default=True
)
grad_enabled: Callable[[], bool] = _enabled.get
"""Whether calls are recorded here and now."""

is_grad_enabled = grad_enabled


# The modes that this context is in, stored like the guards of the dispatch state.
_entered: contextvars.ContextVar[Any] = contextvars.ContextVar(
    "torchgen_lite.grad_modes", default=()
)


class _Mode:
    """Sets the flag inside a `with`, or during the calls of a decorated function.

    As a guard, it may be entered again, nested, and by several threads and tasks at once. Raises RuntimeError if it is
    exited in a context that did not enter it.
    """

    __slots__ = ("_value",)

    def __init__(self, value: bool) -> None:
        self._value = value

    def __enter__(self) -> None:
        _entered.set((self, grad_enabled(), _entered.get()))
        _enabled.set(self._value)

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        saved, rest = guards_without(self, _entered.get())
        _entered.set(rest)
        _enabled.set(saved)

    def __call__(self, function: F) -> F:
        value = self._value

        @functools.wraps(function)
        def wrapper(*args: Any, **kwargs: Any) -> Any:
            with _Mode(value):
                return function(*args, **kwargs)

        return wrapper  # type: ignore[return-value]


class no_grad(_Mode):
    """Nothing is recorded."""

    __slots__ = ()

    def __new__(cls, function: Any = None) -> Any:
        # `@no_grad` without brackets decorates too.
        return super().__new__(cls) if function is None else no_grad()(function)

    def __init__(self, function: Any = None) -> None:
        super().__init__(False)


class enable_grad(_Mode):
    """Calls are recorded again, inside a `no_grad`."""

    __slots__ = ()

    def __new__(cls, function: Any = None) -> Any:
        return super().__new__(cls) if function is None else enable_grad()(function)

    def __init__(self, function: Any = None) -> None:
        super().__init__(True)


class set_grad_enabled(_Mode):
    """Sets the flag at once, and puts the old one back at the end of a `with`."""

    __slots__ = ("_before",)

    def __init__(self, mode: bool) -> None:
        super().__init__(mode)
        self._before = grad_enabled()
        _enabled.set(mode)

    def __enter__(self) -> None:
        _entered.set((self, self._before, _entered.get()))
        _enabled.set(self._value)


class inference_mode:
    """Like `no_grad`, and tensors made inside have no version counters and no view tracking.

    `inference_mode(False)` goes back to the normal state inside an inference region.
    """

    __slots__ = ("_guards", "_mode")

    def __new__(cls, mode: Any = True) -> Any:
        return super().__new__(cls) if isinstance(mode, bool) else inference_mode()(mode)

    def __init__(self, mode: Any = True) -> None:
        self._mode = mode
        self._guards = (_Mode(not mode), InferenceMode(mode))

    def __enter__(self) -> None:
        for guard in self._guards:
            guard.__enter__()

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        for guard in reversed(self._guards):
            guard.__exit__(kind, error, traceback)

    def __call__(self, function: F) -> F:
        mode = self._mode

        @functools.wraps(function)
        def wrapper(*args: Any, **kwargs: Any) -> Any:
            with inference_mode(mode):
                return function(*args, **kwargs)

        return wrapper  # type: ignore[return-value]
