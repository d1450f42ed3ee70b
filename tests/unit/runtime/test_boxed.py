"""Calls whose arguments are on a stack, and kernels that take one."""

from __future__ import annotations

from typing import Any

import pytest

from tests.unit.runtime.helpers import T, keyset, operator_with, says
from torchgen_lite.runtime import BoxedKernel, Dispatcher, DispatchKeySet, Library, OperatorHandle

CPU = T("CPU")


def test_boxed_kernels() -> None:
    dispatcher = Dispatcher()
    library = Library("ns", "DEF", dispatcher=dispatcher)
    operator = library.define("op(Tensor x, int n=2, *, str s='a') -> (Tensor, Tensor)")

    def boxed(operator: OperatorHandle, keys: DispatchKeySet, stack: list[Any]) -> None:
        x, n, s = stack
        stack[:] = [(str(operator), str(keys)), n * s]

    library.impl("op", BoxedKernel(boxed), "CPU")
    answer = (("ns::op", "DispatchKeySet(CPU)"), "bb")
    assert operator.call(CPU, s="b") == answer
    stack: list[Any] = ["below", CPU, 2, "b"]
    operator.call_boxed(stack)
    assert stack == ["below", *answer]
    stack = [CPU, 2, "b"]
    operator.redispatch_boxed(keyset("CPU"), stack)
    assert stack == list(answer)
    with pytest.raises(TypeError, match="^ns::op takes 3 arguments, but the stack has 1$"):
        operator.call_boxed([CPU])


def test_a_boxed_kernel_leaves_as_many_values_as_the_schema_returns() -> None:
    operator, _, keep = operator_with(schema="op(Tensor x) -> ()")
    keep[0].impl("op", BoxedKernel(lambda op, keys, stack: None), "CPU")
    with pytest.raises(
        TypeError, match="^a boxed kernel of ns::op left 1 values on the stack, not 0$"
    ):
        operator.call(CPU)


def test_unboxed_kernels_in_boxed_calls() -> None:
    for returns, value, left in (
        ("()", None, []),
        ("Tensor", 1, [1]),
        ("(Tensor, Tensor)", (1, 2), [1, 2]),
    ):
        operator, _, keep = operator_with(schema=f"op(Tensor x) -> {returns}")
        keep[0].impl("op", says(value), "CPU")
        stack: list[Any] = [CPU]
        operator.call_boxed(stack)
        assert stack == left
