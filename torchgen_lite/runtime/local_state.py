"""Thread-local include and exclude sets, and the guards that change them (c10/core/impl/LocalDispatchKeySet.h).

Note [Dispatch state is a context variable]
c10 keeps these sets in thread-local storage. Here they are one `ContextVar`, which is as local to a
thread and also to an asyncio task. Its value is an interned `LocalState`, so the memo of an operator
can be keyed by it, and reading it is one builtin call. A context variable that is set inside a generator is also
visible to the code that iterates it; `isolated_generator` gives a generator its own context.

Guards save the whole state on entry and restore it on exit, as c10's guards of 2.13 do: changes inside are undone even
if they were made by other means. The saved state is in the context as well, so that threads and tasks can share a
guard.
"""

from __future__ import annotations

import contextvars
import functools
from collections.abc import Callable, Generator
from types import TracebackType
from typing import Any, TypeVar, Union

from . import named_sets
from .keys import DispatchKey
from .keyset import DispatchKeySet

F = TypeVar("F", bound=Callable[..., Generator[Any, Any, Any]])


class LocalState:
    """An interned pair of keysets. `included` is added to the keyset of every call, `excluded` is removed from it.

    `inference`: whether this is a state of inference mode, which each new tensor has to know.
    """

    __slots__ = ("excluded", "included", "inference")
    included: DispatchKeySet
    excluded: DispatchKeySet
    inference: bool

    def __repr__(self) -> str:
        return f"LocalState(included={self.included}, excluded={self.excluded})"

    def __reduce__(self) -> tuple[object, ...]:
        # Copies and pickles are the same object.
        return (_state_of, (self.included, self.excluded))


# There are few states: programs have a handful of guards. They are kept forever, so that memos stay valid.
_states: dict[tuple[DispatchKeySet, DispatchKeySet], LocalState] = {}


class InferenceUse:
    """`seen`: whether this process has ever been in inference mode. Until then, the mode need not be checked."""

    __slots__ = ("seen",)
    seen: bool


inference_use = InferenceUse()
inference_use.seen = False


def _state_of(included: DispatchKeySet, excluded: DispatchKeySet) -> LocalState:
    key = (included, excluded)
    found = _states.get(key)
    if found is None:
        inference = not included.has(DispatchKey.ADInplaceOrView)
        if inference:
            inference_use.seen = True
        made = LocalState()
        made.included = included
        made.excluded = excluded
        made.inference = inference
        found = _states.setdefault(key, made)  # One step of C: see Note [Interned keysets].
    return found


DEFAULT_STATE = _state_of(named_sets.DEFAULT_INCLUDED, named_sets.DEFAULT_EXCLUDED)

_variable: contextvars.ContextVar[LocalState] = contextvars.ContextVar(
    "torchgen_lite.local_state", default=DEFAULT_STATE
)

local_state: Callable[[], LocalState] = _variable.get
"""The state of the running thread or task."""

set_local_state: Callable[[LocalState], object] = _variable.set
"""Replace the state. The caller restores the old one."""


class StateBelow(dict[LocalState, LocalState]):
    """`below[state]` is the state with some keys excluded, memoized. There are few states, see above."""

    __slots__ = ("_mask",)

    def __init__(self, mask: DispatchKeySet) -> None:
        super().__init__()
        self._mask = mask

    def __missing__(self, now: LocalState) -> LocalState:
        found = self[now] = _state_of(now.included, now.excluded | self._mask)
        return found


below_autograd = StateBelow(named_sets.AUTOGRAD)
below_adinplaceorview = StateBelow(named_sets.AUTOGRAD_WITH_ADINPLACEORVIEW)
"""The states inside `AutoDispatchBelow...` guards. Generated kernels look them up directly, at a third of the cost."""


# The guards that this context is in, innermost first: the guard, the state before it, the rest.
_Entered = Union[tuple[()], tuple["_Guard", LocalState, Any]]
_entered: contextvars.ContextVar[_Entered] = contextvars.ContextVar(
    "torchgen_lite.guards", default=()
)


class _Guard:
    """A context manager that replaces the state.

    It may be entered again, nested, and by several threads and tasks at once: each exit restores the state before the
    matching entry. Raises RuntimeError if it is exited in a context that did not enter it.
    """

    __slots__ = ()

    def _state(self, now: LocalState) -> LocalState:
        raise NotImplementedError

    def __enter__(self) -> None:
        now = local_state()
        inside = self._state(now)
        _entered.set((self, now, _entered.get()))
        _variable.set(inside)

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        entered = _entered.get()
        if entered and entered[0] is self:
            _, saved, rest = entered
        else:
            saved, rest = guards_without(self, entered)
        _entered.set(rest)
        _variable.set(saved)


def guards_without(guard: object, entered: Any) -> tuple[Any, Any]:
    """The state before a guard that need not be the innermost, and the guards without it.

    `entered` is the innermost guard, the state before it and the rest, or empty. Raises RuntimeError for a guard
    that is not among them.
    """
    if not entered:
        raise RuntimeError(f"{guard!r} is exited in a thread or task that did not enter it")
    innermost, saved, rest = entered
    if innermost is guard:
        return saved, rest
    found, others = guards_without(guard, rest)
    return found, (innermost, saved, others)


class IncludeDispatchKeyGuard(_Guard):
    """Adds keys to the included set."""

    __slots__ = ("_keys",)

    def __init__(self, keys: DispatchKeySet | DispatchKey) -> None:
        self._keys = DispatchKeySet(keys)

    def _state(self, now: LocalState) -> LocalState:
        return _state_of(now.included | self._keys, now.excluded)


class ExcludeDispatchKeyGuard(_Guard):
    """Adds keys to the excluded set."""

    __slots__ = ("_keys",)

    def __init__(self, keys: DispatchKeySet | DispatchKey) -> None:
        self._keys = DispatchKeySet(keys)

    def _state(self, now: LocalState) -> LocalState:
        return _state_of(now.included, now.excluded | self._keys)


class ForceDispatchKeyGuard(_Guard):
    """Replaces both sets; without arguments it only restores them at the end."""

    __slots__ = ("_pair",)

    def __init__(
        self, included: DispatchKeySet | None = None, excluded: DispatchKeySet | None = None
    ) -> None:
        if (included is None) != (excluded is None):
            raise TypeError("ForceDispatchKeyGuard takes both sets or none")
        self._pair = None if included is None or excluded is None else (included, excluded)

    def _state(self, now: LocalState) -> LocalState:
        return now if self._pair is None else _state_of(*self._pair)


class _Below(_Guard):
    """Excludes a fixed set of keys."""

    __slots__ = ()
    _below: StateBelow

    def _state(self, now: LocalState) -> LocalState:
        return self._below[now]


class AutoDispatchBelowAutograd(_Below):
    """Excludes the autograd keys: calls inside run below autograd."""

    __slots__ = ()
    _below = below_autograd


class AutoDispatchBelowADInplaceOrView(_Below):
    """Excludes the autograd keys and ADInplaceOrView: what a generated autograd kernel runs under."""

    __slots__ = ()
    _below = below_adinplaceorview


class AutoDispatchSkipFunctionalize(ExcludeDispatchKeyGuard):
    """Excludes Functionalize."""

    __slots__ = ()

    def __init__(self) -> None:
        super().__init__(DispatchKeySet(DispatchKey.Functionalize))


class InferenceMode(_Guard):
    """Includes only BackendSelect and excludes autograd, as `c10::InferenceMode` does.

    `InferenceMode(False)` goes back to the normal state inside an inference region.
    """

    __slots__ = ("_enabled",)

    def __init__(self, enabled: bool = True) -> None:
        self._enabled = enabled

    def _state(self, now: LocalState) -> LocalState:
        if self._enabled:
            included = now.included.remove(DispatchKey.ADInplaceOrView)
            return _state_of(included, now.excluded | named_sets.AUTOGRAD)
        return _state_of(
            now.included.add(DispatchKey.ADInplaceOrView), now.excluded - named_sets.AUTOGRAD
        )


def is_inference_mode_enabled() -> bool:
    return local_state().inference


def tls_local_dispatch_key_set() -> LocalState:
    """c10's name for `local_state`."""
    return local_state()


def tls_is_dispatch_key_included(key: DispatchKey) -> bool:
    return local_state().included.has(key)


def tls_is_dispatch_key_excluded(key: DispatchKey) -> bool:
    return local_state().excluded.has(key)


def tls_set_dispatch_key_included(key: DispatchKey, desired: bool) -> None:
    """Change the included set until it is changed again: for modes that do not last for a block of code."""
    now = local_state()
    changed = now.included.add(key) if desired else now.included.remove(key)
    _variable.set(_state_of(changed, now.excluded))


def tls_set_dispatch_key_excluded(key: DispatchKey, desired: bool) -> None:
    """Like `tls_set_dispatch_key_included`, for the excluded set."""
    now = local_state()
    changed = now.excluded.add(key) if desired else now.excluded.remove(key)
    _variable.set(_state_of(now.included, changed))


def isolated_generator(function: F) -> F:
    """Let a generator function hold guards across its `yield`s without affecting its consumer.

    Each step runs in a context that only the generator uses, copied when it is called.
    """

    @functools.wraps(function)
    def wrapper(*args: Any, **kwargs: Any) -> Generator[Any, Any, Any]:
        context = contextvars.copy_context()
        return _steps(context, context.run(function, *args, **kwargs))

    return wrapper  # type: ignore[return-value]


def _steps(
    context: contextvars.Context, generator: Generator[Any, Any, Any]
) -> Generator[Any, Any, Any]:
    step: Callable[..., Any] = generator.__next__
    arguments: tuple[Any, ...] = ()
    try:
        while True:
            try:
                value = context.run(step, *arguments)
            except StopIteration as stop:
                return stop.value
            try:
                sent = yield value
            except GeneratorExit:
                raise
            except BaseException as error:
                step, arguments = generator.throw, (error,)
            else:
                step, arguments = generator.send, (sent,)
    finally:
        context.run(generator.close)
