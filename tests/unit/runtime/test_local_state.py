"""The local state and its guards, in threads, tasks and generators."""

from __future__ import annotations

import asyncio
import contextvars
import copy
import pickle
import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from tests.unit.runtime.helpers import keyset
from torchgen_lite.runtime import (
    AutoDispatchBelowADInplaceOrView,
    AutoDispatchBelowAutograd,
    AutoDispatchSkipFunctionalize,
    DispatchKey,
    ExcludeDispatchKeyGuard,
    ForceDispatchKeyGuard,
    IncludeDispatchKeyGuard,
    InferenceMode,
    is_inference_mode_enabled,
    isolated_generator,
    local_state,
    named_sets,
    tls_is_dispatch_key_excluded,
    tls_is_dispatch_key_included,
    tls_local_dispatch_key_set,
    tls_set_dispatch_key_excluded,
    tls_set_dispatch_key_included,
)

K = DispatchKey


def test_defaults() -> None:
    state = local_state()
    assert state.included is keyset("BackendSelect", "ADInplaceOrView")
    assert state.excluded is named_sets.AUTOCAST
    assert tls_local_dispatch_key_set() is state


@pytest.mark.parametrize(
    ("guard", "included", "excluded"),
    [
        (lambda: IncludeDispatchKeyGuard(K.Tracer), ["Tracer"], []),
        (lambda: IncludeDispatchKeyGuard(keyset("Tracer", "Python")), ["Tracer", "Python"], []),
        (lambda: ExcludeDispatchKeyGuard(K.BackendSelect), [], ["BackendSelect"]),
        (
            AutoDispatchBelowAutograd,
            [],
            ["AutogradFunctionality", "AutogradOther", "AutogradNestedTensor"],
        ),
        (
            AutoDispatchBelowADInplaceOrView,
            [],
            ["AutogradFunctionality", "AutogradOther", "AutogradNestedTensor", "ADInplaceOrView"],
        ),
        (AutoDispatchSkipFunctionalize, [], ["Functionalize"]),
    ],
)
def test_guards_add_keys(
    guard: Callable[[], Any], included: list[str], excluded: list[str]
) -> None:
    before = local_state()
    with guard():
        assert local_state().included is before.included | keyset(*included)
        assert local_state().excluded is before.excluded | keyset(*excluded)
    assert local_state() is before


def test_force_guard() -> None:
    before = local_state()
    with ForceDispatchKeyGuard(keyset("Tracer"), keyset("CPU")):
        assert (local_state().included, local_state().excluded) == (keyset("Tracer"), keyset("CPU"))
    with ForceDispatchKeyGuard():
        tls_set_dispatch_key_included(K.Tracer, True)
    assert local_state() is before
    with pytest.raises(TypeError, match="takes both sets or none"):
        ForceDispatchKeyGuard(keyset("CPU"))


def test_guards_restore_all_of_the_state() -> None:
    """As with the guards of torch 2.13, changes by setters inside the block are undone as well."""
    before = local_state()
    with IncludeDispatchKeyGuard(K.Tracer):
        tls_set_dispatch_key_excluded(K.Python, True)
        assert tls_is_dispatch_key_excluded(K.Python) and tls_is_dispatch_key_included(K.Tracer)
        tls_set_dispatch_key_excluded(K.Python, False)
        tls_set_dispatch_key_excluded(K.PreDispatch, True)
    assert local_state() is before


def test_a_guard_nests_in_itself_and_ends_with_an_exception() -> None:
    before = local_state()
    guard = ExcludeDispatchKeyGuard(K.Tracer)
    with pytest.raises(ZeroDivisionError), guard, guard:
        raise ZeroDivisionError
    assert local_state() is before


def test_a_guard_is_shared_by_threads() -> None:
    """On exit, each thread returns to its own state, whichever thread entered first."""
    guard = ExcludeDispatchKeyGuard(K.Tracer)
    turns = [threading.Barrier(2, timeout=10) for _ in range(2)]
    right: list[bool] = []

    def work(own: DispatchKey) -> None:
        with IncludeDispatchKeyGuard(own):
            state = local_state()
            turns[0].wait()
            with guard:
                turns[1].wait()
            right.append(local_state() is state)

    threads = [threading.Thread(target=work, args=(key,)) for key in (K.Python, K.PreDispatch)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(10)
    assert right == [True, True]


def test_a_guard_is_shared_by_tasks() -> None:
    guard = ExcludeDispatchKeyGuard(K.Tracer)

    async def work(own: DispatchKey, before: asyncio.Event, after: asyncio.Event) -> bool:
        with IncludeDispatchKeyGuard(own):
            state = local_state()
            with guard:
                after.set()
                await before.wait()
            return local_state() is state

    async def both() -> list[bool]:
        a, b = asyncio.Event(), asyncio.Event()
        return list(await asyncio.gather(work(K.Python, a, b), work(K.PreDispatch, b, a)))

    assert asyncio.run(both()) == [True, True]


def test_guards_left_in_another_order() -> None:
    before = local_state()
    outer, inner = ExcludeDispatchKeyGuard(K.Tracer), IncludeDispatchKeyGuard(K.Python)
    outer.__enter__()
    within = local_state()
    inner.__enter__()
    outer.__exit__(None, None, None)
    assert local_state() is before
    inner.__exit__(None, None, None)  # Back to the state on entry, as with all guards.
    assert local_state() is within
    tls_set_dispatch_key_excluded(K.Tracer, False)
    assert local_state() is before


def test_a_guard_is_left_where_it_was_entered() -> None:
    guard = ExcludeDispatchKeyGuard(K.Tracer)
    before = local_state()
    contextvars.copy_context().run(guard.__enter__)
    with pytest.raises(RuntimeError, match="is exited in a thread or task that did not enter it$"):
        guard.__exit__(None, None, None)
    assert local_state() is before


def test_copies_and_pickles_of_a_state_are_the_state() -> None:
    state = local_state()
    assert copy.copy(state) is copy.deepcopy(state) is pickle.loads(pickle.dumps(state)) is state


def test_inference_mode() -> None:
    assert not is_inference_mode_enabled()
    with InferenceMode():
        assert is_inference_mode_enabled()
        assert local_state().included is keyset("BackendSelect")
        assert tls_is_dispatch_key_excluded(K.AutogradOther)
        with InferenceMode(False):
            assert not is_inference_mode_enabled()
            assert local_state().included is keyset("BackendSelect", "ADInplaceOrView")
        assert is_inference_mode_enabled()
    assert not is_inference_mode_enabled()


def test_states_are_interned() -> None:
    with IncludeDispatchKeyGuard(K.Tracer):
        first = local_state()
    with IncludeDispatchKeyGuard(K.Tracer):
        assert local_state() is first
    assert repr(first).startswith(
        "LocalState(included=DispatchKeySet(BackendSelect, ADInplaceOrView, Tracer)"
    )


def test_a_new_thread_starts_from_the_defaults() -> None:
    before = local_state()
    seen = []
    with IncludeDispatchKeyGuard(K.Tracer):
        thread = threading.Thread(target=lambda: seen.append(local_state()))
        thread.start()
        thread.join()
    assert seen == [before]


def test_a_task_keeps_its_guard_to_itself() -> None:
    before = local_state()
    inside = asyncio.Event()
    go_on = asyncio.Event()

    async def guarded() -> bool:
        with IncludeDispatchKeyGuard(K.Tracer):
            inside.set()
            await go_on.wait()
            return tls_is_dispatch_key_included(K.Tracer)

    async def other() -> bool:
        await inside.wait()
        included = tls_is_dispatch_key_included(K.Tracer)
        go_on.set()
        return included

    async def both() -> list[bool]:
        return list(await asyncio.gather(guarded(), other()))

    assert asyncio.run(both()) == [True, False]
    assert local_state() is before


@isolated_generator
def guarded_steps(log: list[Any]) -> Iterator[bool]:
    try:
        with IncludeDispatchKeyGuard(K.Tracer):
            while True:
                try:
                    log.append((yield tls_is_dispatch_key_included(K.Tracer)))
                except LookupError as error:
                    log.append(str(error))
                if log[-1] == "end":
                    return "returned"  # type: ignore[return-value]
    finally:
        log.append(("finally", tls_is_dispatch_key_included(K.Tracer)))


def test_a_generator_keeps_its_guard_to_itself() -> None:
    log: list[Any] = []
    generator: Any = guarded_steps(log)
    before = local_state()
    assert next(generator) is True
    assert local_state() is before
    assert generator.send("one") is True
    assert generator.throw(LookupError("two")) is True
    assert local_state() is before
    with pytest.raises(StopIteration) as stop:
        generator.send("end")
    assert stop.value.value == "returned"
    assert log == ["one", "two", "end", ("finally", False)]


def test_an_isolated_generator_is_closed() -> None:
    log: list[Any] = []
    generator = guarded_steps(log)
    next(generator)
    generator.close()  # type: ignore[attr-defined]
    assert log == [("finally", False)]


def test_a_generator_sees_the_guards_around_its_creation() -> None:
    @isolated_generator
    def steps() -> Iterator[bool]:
        yield tls_is_dispatch_key_included(K.Tracer)

    with IncludeDispatchKeyGuard(K.Tracer):
        generator = steps()
    assert list(generator) == [True]


def test_a_wrong_call_of_an_isolated_generator_is_told_at_once() -> None:
    with pytest.raises(TypeError, match="missing 1 required positional argument"):
        guarded_steps()  # type: ignore[call-arg]
