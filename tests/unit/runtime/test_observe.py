"""Observers and the tracer."""

from __future__ import annotations

import io
from typing import Any

import pytest

from tests.unit.runtime.helpers import T, keyset, operator_with, says
from torchgen_lite.runtime import DispatchKey, DispatchKeySet, Record, observe, trace

K = DispatchKey


def two_steps() -> tuple[Any, Any, list[Any]]:
    operator, dispatcher, keep = operator_with("CPU", schema="op(Tensor x, *, int k=1) -> Tensor")

    def autograd(keys: DispatchKeySet, x: Any, *, k: int) -> Any:
        return operator.redispatch(keys & DispatchKeySet.full_after(K.AutogradOther), x, k=k)

    keep[0].impl("op", autograd, "AutogradCPU", with_keyset=True)
    return operator, dispatcher, keep


def test_the_tree_of_a_call() -> None:
    operator, dispatcher, keep = two_steps()
    keep[1].fallback(lambda op, x, *, k: op.call(T("CPU"), k=k), "Python")
    out = io.StringIO()
    with trace(out, dispatcher):
        operator.call(T("CPU", "AutogradCPU"))
        operator.call(T("CPU", "Python"))
        operator.call_boxed([T("CPU"), 1])
    operator.call(T("CPU"))
    assert out.getvalue() == (
        "[call] op=[ns::op], key=[AutogradCPU]\n"
        " [redispatch] op=[ns::op], key=[CPU]\n"
        "[call] op=[ns::op], key=[Python], fallback\n"
        " [call] op=[ns::op], key=[CPU]\n"
        "[callBoxed] op=[ns::op], key=[CPU]\n"
    )


def test_an_observer_sees_the_call_and_its_end() -> None:
    operator, dispatcher, keep = two_steps()
    operator.call(T("CPU"))  # An earlier entry in the memo must not hide later calls.
    seen: list[Any] = []

    def observer(record: Record) -> Any:
        seen.append((record.how, str(record.keyset), record.key.name, record.keywords))
        return lambda: seen.append(f"end {record.key}")

    x = T("CPU", "AutogradCPU")
    with observe(observer, dispatcher):
        operator.call(x, k=3)
    assert seen == [
        ("call", "DispatchKeySet(CPU, AutogradCPU)", "AutogradCPU", {"k": 3}),
        ("redispatch", "DispatchKeySet(CPU)", "CPU", {"k": 3}),
        "end CPU",
        "end AutogradCPU",
    ]
    operator.call(x)
    assert len(seen) == 4


def test_the_end_is_called_when_the_kernel_raises() -> None:
    operator, dispatcher, keep = operator_with()
    keep[0].impl("op", lambda x: 1 / 0, "CPU")
    ends: list[str] = []
    with observe(lambda record: lambda: ends.append("end"), dispatcher):
        with pytest.raises(ZeroDivisionError):
            operator.call(T("CPU"))
    assert ends == ["end"]


def test_observers_nest_and_end_in_any_order() -> None:
    operator, dispatcher, _keep = operator_with("CPU")
    log: list[str] = []
    first, second = (observe(lambda record, n=name: log.append(n), dispatcher) for name in "ab")
    first.__enter__()
    second.__enter__()
    operator.call(T("CPU"))
    first.__exit__(None, None, None)
    operator.call(T("CPU"))
    second.__exit__(None, None, None)
    operator.call(T("CPU"))
    assert log == ["a", "b", "b"]
    assert dispatcher.observers == ()


def test_nothing_is_left_of_an_observer() -> None:
    """Once the observers are gone, calls resolve to the bare kernel."""
    operator, dispatcher, keep = operator_with()
    kernel = says(1)
    keep[0].impl("op", kernel, "CPU")
    with observe(lambda record: None, dispatcher):
        operator.call(T("CPU"))
    assert operator.resolve(T("CPU")) is kernel
    assert operator.resolve_redispatch(keyset("CPU")) is kernel
