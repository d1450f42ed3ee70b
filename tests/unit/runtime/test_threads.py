"""Registration and calls in many threads: a short run of tests/fuzz/stress.py, and races made on purpose."""

from __future__ import annotations

import os
import signal
import threading
import time
import warnings
from typing import Any

import pytest

from tests.fuzz.stress import Stress
from tests.unit.runtime.helpers import T, operator_with, says
from torchgen_lite.runtime import Library, extractor


def test_stress() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        stress = Stress(seconds=0.5, seed=1)
        stress.run()
    assert stress.faults == []


def test_what_was_resolved_before_a_registration_is_not_stored_after_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A thread misses the memo, and another thread registers a newer kernel before the first continues."""
    operator, dispatcher, _keep = operator_with("CPU")
    missed, registered = threading.Event(), threading.Event()
    keysets_of = extractor.keysets_of

    def slow(*arguments: Any) -> Any:
        missed.set()
        registered.wait(10)
        return keysets_of(*arguments)

    monkeypatch.setattr(extractor, "keysets_of", slow)
    answers: list[str] = []
    thread = threading.Thread(target=lambda: answers.append(operator.call(T("CPU"))))
    thread.start()
    assert missed.wait(10)
    monkeypatch.setattr(extractor, "keysets_of", keysets_of)
    block = Library("ns", "IMPL", "CompositeExplicitAutograd", dispatcher=dispatcher)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        block.impl("op", says("newer"), "CompositeExplicitAutograd")
        newest = Library("ns", "IMPL", "CPU", dispatcher=dispatcher)
        newest.impl("op", says("newest"))
    registered.set()
    thread.join(10)
    assert answers == ["newest"]
    assert operator.call(T("CPU")) == "newest"


def test_resolving_waits_for_a_registration_under_way() -> None:
    """The lock is held from the change of the kernels until the memo has been emptied."""
    operator, dispatcher, _keep = operator_with("CPU")
    answers: list[str] = []
    thread = threading.Thread(target=lambda: answers.append(operator.call(T("CPU"))))
    with dispatcher.lock:
        thread.start()
        thread.join(0.05)
        assert answers == []
    thread.join(10)
    assert answers == ["CPU"]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
def test_a_fork_waits_for_a_registration_under_way() -> None:
    """In the child, no registration is half done and no thread holds the lock, so its first call works."""
    operator, dispatcher, _keep = operator_with("CPU")
    held = threading.Event()

    def hold() -> None:
        with dispatcher.lock:
            held.set()
            time.sleep(0.2)

    thread = threading.Thread(target=hold)
    thread.start()
    assert held.wait(10)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # CPython 3.12 warns of forks in processes with threads.
        child = os.fork()
    if child == 0:
        signal.alarm(20)  # A child that hangs ends with a signal.
        os._exit(0 if operator.call(T("CPU")) == "CPU" else 1)
    assert os.waitpid(child, 0)[1] == 0
    thread.join(10)
    assert operator.call(T("CPU")) == "CPU"
