"""Registering and calling, interrupted at each line by actions of a finalizer or a signal handler.

Such code runs in the thread that it interrupts, so no lock keeps it out. Here a trace function interrupts: at the
first line of the runtime that runs, in the next round at the second line, and so on.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import torchgen_lite.runtime
from tests.unit.runtime.helpers import T, keyset, operator_with, says
from torchgen_lite.runtime import (
    Dispatcher,
    DispatchKey,
    DispatchKeySet,
    ExcludeDispatchKeyGuard,
    Library,
    OperatorHandle,
    local_state,
)
from torchgen_lite.runtime import dispatcher as dispatcher_module

RUNTIME = str(Path(torchgen_lite.runtime.__file__).parent)
pytestmark = pytest.mark.filterwarnings("ignore:Warning only once")


def runs_into(number: int, interrupt: Callable[[], object], work: Callable[[], object]) -> bool:
    """Do `work`, and call `interrupt` at its line `number`; return whether it reached that line."""
    lines = 0

    def trace(frame: Any, event: str, _: object) -> Any:
        nonlocal lines
        if not frame.f_code.co_filename.startswith((RUNTIME, "<stub of")):
            return None
        if event == "line":
            lines += 1
            if lines == number:
                interrupt()
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        work()
    finally:
        sys.settrace(before)
    return lines >= number


def stops_at_a_call(
    number: int, interrupt: Callable[[], object], work: Callable[[], object]
) -> bool:
    """The same after return number `number` of a call in the runtime: Python checks for signals there."""
    calls = 0

    def profile(frame: Any, event: str, _: object) -> None:
        nonlocal calls
        if event.endswith("return") and frame.f_code.co_filename.startswith(RUNTIME):
            calls += 1
            if calls == number:
                interrupt()

    sys.setprofile(profile)
    try:
        work()
    finally:
        sys.setprofile(None)
    return calls >= number


@pytest.fixture(autouse=True)
def tables_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Compute tables without tracing: the rules run thousands of lines, and read nothing that can change."""
    compute_plan = dispatcher_module.compute_plan
    known: dict[Any, Any] = {}

    def at_once(*arguments: Any) -> Any:
        trace = sys.gettrace()
        sys.settrace(None)
        try:
            key = str(arguments)
            if key not in known:
                known[key] = compute_plan(*arguments)
            return known[key]
        finally:
            sys.settrace(trace)

    monkeypatch.setattr(dispatcher_module, "compute_plan", at_once)


class Scene:
    """An operator with a composite kernel, and a library with a kernel for CPU."""

    def __init__(self, cpu: bool = True) -> None:
        self.operator, self.dispatcher, self.keep = operator_with("CompositeExplicitAutograd")
        self.answers: list[str] = []
        self.plugin: list[Library] = []
        if cpu:
            self.register()

    def register(self) -> None:
        self.plugin.append(Library("ns", "IMPL", "CPU", dispatcher=self.dispatcher))
        self.plugin[-1].impl("op", says("plugin"))

    def drop(self) -> None:
        self.plugin.clear()

    def close(self) -> None:
        while self.plugin:
            self.plugin.pop().close()

    def call(self) -> None:
        self.answers.append(self.operator.call(T("CPU")))

    def redispatch(self) -> None:
        self.answers.append(self.operator.redispatch(keyset("CPU"), T("CPU")))

    def call_boxed(self) -> None:
        stack = [T("CPU")]
        self.operator.call_boxed(stack)
        self.answers += stack  # type: ignore[arg-type]

    def ask(self) -> None:
        assert self.operator.has_computed_kernel_for_dispatch_key(DispatchKey.CPU)

    def check(self, expected: str) -> None:
        """Later calls run the registered kernel; the interrupted call ran the old or the new one."""
        assert {*self.answers} <= {"CompositeExplicitAutograd", "plugin"}
        self.answers.clear()
        self.call()
        self.redispatch()
        assert self.answers == [expected, expected]


@pytest.mark.parametrize("work", ["call", "redispatch", "call_boxed", "ask"])
@pytest.mark.parametrize("interrupt", ["drop", "close"])
def test_a_library_that_goes_while_a_call_is_resolved(work: str, interrupt: str) -> None:
    number, reached = 1, True
    while reached:
        scene = Scene()
        reached = runs_into(number, getattr(scene, interrupt), getattr(scene, work))
        scene.drop()
        scene.check("CompositeExplicitAutograd")
        number += 1
    assert number > 20


def test_a_kernel_that_comes_while_another_is_undone() -> None:
    number, reached = 1, True
    while reached:
        scene = Scene()
        reached = stops_at_a_call(number, scene.register, scene.plugin.pop().close)
        if reached:
            scene.check("plugin")
        scene.close()
        scene.check("CompositeExplicitAutograd")
        number += 1
    assert number > 5


@pytest.mark.parametrize("work", ["call", "redispatch", "call_boxed", "ask"])
def test_a_kernel_that_comes_while_a_call_is_resolved(work: str) -> None:
    number, reached = 1, True
    while reached:
        scene = Scene(cpu=False)
        reached = runs_into(number, scene.register, getattr(scene, work))
        if reached:
            scene.check("plugin")
        scene.close()
        scene.check("CompositeExplicitAutograd")
        number += 1
    assert number > 20


@pytest.mark.parametrize("interrupt", ["call", "drop", "ask"])
def test_registering_is_interrupted(interrupt: str) -> None:
    def work() -> None:
        scene.keep.append(Library("ns", "FRAGMENT", dispatcher=scene.dispatcher))
        scene.keep[-1].impl("op", says("plugin"), "CUDA")
        more.append(scene.keep[-1].define("more(Tensor x) -> Tensor"))
        scene.keep[-1].impl("more", says("more"), "CPU")
        scene.keep[1].fallback(says("fallback"), "Meta")

    number, reached = 1, True
    while reached:
        scene = Scene()
        more: list[OperatorHandle] = []
        reached = runs_into(number, getattr(scene, interrupt), work)
        scene.check("CompositeExplicitAutograd" if interrupt == "drop" and reached else "plugin")
        assert [scene.operator.call(T("CUDA")), more[0].call(T("CPU"))] == ["plugin", "more"]
        assert more[0].call(T("Meta")) == "fallback"
        number += 7  # Not every line, since there are many.
    assert number > 50


@pytest.mark.parametrize("interrupt", ["call", "drop", "ask"])
def test_undoing_is_interrupted(interrupt: str) -> None:
    number, reached = 1, True
    while reached:
        scene = Scene()
        other = Library("ns", "FRAGMENT", dispatcher=scene.dispatcher)
        other.impl("op", says("plugin"), "CPU")
        other.define("more(Tensor x) -> Tensor")
        reached = runs_into(number, getattr(scene, interrupt), other.close)
        scene.drop()
        scene.check("CompositeExplicitAutograd")
        assert [operator.full_name for operator in scene.dispatcher] == ["ns::op"]
        number += 1
    assert number > 20


def in_time(work: Callable[[], None]) -> None:
    """Do something that would hang forever if it waited for a lock that its own thread holds."""
    faults: list[BaseException] = []

    def run() -> None:
        try:
            work()
        except BaseException as error:
            faults.append(error)

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    thread.join(20)
    assert not thread.is_alive(), "it hangs"
    if faults:
        raise faults[0]


def test_making_a_keyset_is_interrupted_by_making_it() -> None:
    def sweep() -> None:
        number, reached, representation = 1, True, 1 << 62
        while reached:
            representation += 1
            made: list[DispatchKeySet] = []

            def make() -> None:
                made.append(DispatchKeySet.from_raw_repr(representation))  # noqa: B023

            reached = runs_into(number, make, make)
            assert all(one is made[0] for one in made) and len(made) == 1 + reached
            number += 1
        assert number > 8

    in_time(sweep)


def test_making_a_local_state_is_interrupted_by_making_it() -> None:
    def sweep() -> None:
        number, reached, bits = 1, True, 1 << 61
        while reached:
            bits += 1
            keys = DispatchKeySet.from_raw_repr(bits)
            seen = []

            def enter() -> None:
                with ExcludeDispatchKeyGuard(keys):  # noqa: B023
                    seen.append(local_state())  # noqa: B023

            before = local_state()
            reached = runs_into(number, enter, enter)
            assert local_state() is before
            # An interruption inside the guard runs under it already, which changes nothing.
            assert all(state is seen[0] for state in seen) and len(seen) == 1 + reached
            number += 1
        assert number > 8

    in_time(sweep)


def test_a_finalizer_does_not_wait_for_another_thread() -> None:
    scene = Scene()
    held, go_on = threading.Event(), threading.Event()

    def hold() -> None:
        with scene.dispatcher.lock:
            held.set()
            go_on.wait(20)

    thread = threading.Thread(target=hold)
    thread.start()
    assert held.wait(20)
    in_time(scene.drop)
    assert scene.operator.has_kernel_for_dispatch_key(DispatchKey.CPU)
    go_on.set()
    thread.join(20)
    scene.check("CompositeExplicitAutograd")


def test_what_a_finalizer_left_may_raise(monkeypatch: pytest.MonkeyPatch) -> None:
    """The error is reported like that of a finalizer; the thread that releases the lock does not get it."""

    class Listener:
        def on_operator_registered(self, operator: OperatorHandle) -> None: ...
        def on_operator_deregistered(self, operator: OperatorHandle) -> None:
            raise LookupError(operator.full_name)

    reported: list[Any] = []
    monkeypatch.setattr(sys, "unraisablehook", lambda fault: reported.append(fault.exc_value))
    dispatcher = Dispatcher()
    dispatcher.add_registration_listener(Listener())
    libraries = [Library("ns", "DEF", dispatcher=dispatcher)]
    libraries[0].define("op(Tensor x) -> Tensor")
    with dispatcher.lock:
        libraries.clear()
        assert reported == [] and dispatcher.operators() != ()
    assert [str(fault) for fault in reported] == ["ns::op"]
    assert dispatcher.operators() == () and dispatcher.libraries == {}
