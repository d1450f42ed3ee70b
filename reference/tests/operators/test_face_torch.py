"""What stands around operators, beside PyTorch: tensors as numbers, empty matrices of bool, classes of errors, `grad`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import torchgen_lite_reference as tl
from operators.oracle import attempt, torch

pytestmark = pytest.mark.torch


def told(result: Any) -> Any:
    """What can be compared: lists, dtypes, shapes; of an error its class."""
    if isinstance(result, Exception):
        return type(result).__name__
    if isinstance(result, (list, tuple)):
        return [told(item) for item in result]
    if hasattr(result, "tolist"):
        return str(result.dtype).rpartition(".")[2], tuple(result.shape), result.tolist()
    return result


def same(call: Callable[[Any], Any]) -> Any:
    """What both libraries answer."""
    mine, its = told(attempt(call, tl)), told(attempt(call, torch))
    assert mine == its
    return mine


AS_NUMBERS: list[Callable[[Any, Any], Any]] = [
    lambda lib, two: lib.ones(4).reshape(two, two),
    lambda lib, two: lib.reshape(lib.ones(4), [two, 2]),
    lambda lib, two: lib.ones(4).view(two, -1),
    lambda lib, two: lib.ones(1).expand(two),
    lambda lib, two: lib.ones(1).repeat(two, 3),
    lambda lib, two: lib.zeros(two),
    lambda lib, two: lib.zeros(two, 3),
    lambda lib, two: lib.zeros([two, 3]),
    lambda lib, two: lib.full((2,), two),
    lambda lib, two: lib.eye(two),
    lambda lib, two: lib.arange(two),
    lambda lib, two: lib.arange(1, two, step=two),
    lambda lib, two: lib.linspace(0, 1, two),
    lambda lib, two: lib.sum(lib.ones(2, 3, 4), two),
    lambda lib, two: lib.sum(lib.ones(2, 3, 4), dim=two),
    lambda lib, two: lib.softmax(lib.ones(1, 1, 2), two),
    lambda lib, two: lib.cat([lib.ones(1, 1, 2), lib.ones(1, 1, 2)], two),
    lambda lib, two: lib.topk(lib.arange(4), two)[0],
    lambda lib, two: lib.split(lib.ones(4), two),
    lambda lib, two: lib.chunk(lib.ones(4), two),
    lambda lib, two: lib.narrow(lib.ones(4), 0, 1, two),
    lambda lib, two: lib.transpose(lib.ones(2, 3, 4), two, 0),
    lambda lib, two: lib.add(lib.ones(2), lib.ones(2), alpha=two),
    lambda lib, two: lib.addcmul(lib.ones(2), lib.ones(2), lib.ones(2), value=two),
    lambda lib, two: lib.threshold(lib.ones(2), two, two),
    lambda lib, two: lib.var(lib.arange(4.0), correction=two),
    lambda lib, two: lib.norm(lib.ones(4), two),
    lambda lib, two: lib.ones(4)[two:],
]


@pytest.mark.parametrize("call", AS_NUMBERS)
def test_tensors_without_dimensions_are_numbers(call: Callable[[Any, Any], Any]) -> None:
    assert not isinstance(same(lambda lib: call(lib, lib.tensor(2))), str)


@pytest.mark.parametrize(
    "two", [lambda lib: lib.tensor([2.0, 2.0]), lambda lib: lib.tensor(2.0, requires_grad=True)]
)
def test_others_are_none(two: Callable[[Any], Any]) -> None:
    assert same(lambda lib: lib.add(lib.ones(2), lib.ones(2), alpha=two(lib))) == "TypeError"
    assert same(lambda lib: lib.zeros(two(lib))) == "TypeError"


def test_matrices_of_bool_are_multiplied_if_they_are_empty() -> None:
    def of_bool(lib: Any, *shape: int) -> Any:
        return lib.zeros(*shape, dtype=lib.bool)

    for name, shapes in (
        ("mm", [(0, 3), (3, 2)]),
        ("mm", [(2, 0), (0, 2)]),
        ("matmul", [(2, 3), (3, 0)]),
        ("bmm", [(2, 2, 0), (2, 0, 2)]),
        ("bmm", [(0, 2, 3), (0, 3, 2)]),
        ("mv", [(2, 0), (0,)]),
        ("addmm", [(0, 2), (0, 3), (3, 2)]),
        ("addmv", [(0,), (0, 3), (3,)]),
        ("baddbmm", [(2, 0, 2), (2, 0, 3), (2, 3, 2)]),
    ):
        found = same(
            lambda lib: getattr(lib, name)(*[of_bool(lib, *s) for s in shapes])  # noqa: B023
        )
        assert found[0] == "bool"
    refused = same(lambda lib: lib.mm(of_bool(lib, 2, 2), of_bool(lib, 2, 2)))
    # torch raises RuntimeError, the base class of ours.
    assert refused in ("RuntimeError", "NotImplementedError")


INDEX: list[Callable[[Any, str], Any]] = [
    lambda lib, name: getattr(lib.ones(3, 2), name)(0, lib.tensor([5]), lib.ones(1, 2)),
    lambda lib, name: getattr(lib.ones(3, 2), name)(0, lib.tensor([-1]), lib.ones(1, 2)),
    lambda lib, name: getattr(lib.ones(3), name)(0, lib.tensor([5]), lib.ones(1)),
    lambda lib, name: getattr(lib.ones(3, 2), name)(0, lib.tensor([[1]]), lib.ones(1, 2)),
    lambda lib, name: getattr(lib.ones(3, 2), name)(0, lib.tensor([1.0]), lib.ones(1, 2)),
    lambda lib, name: getattr(lib.ones(3, 2), name)(0, lib.tensor([1, 2]), lib.ones(1, 2)),
    lambda lib, name: getattr(lib.ones(3, 2), name)(0, lib.tensor([1]), lib.ones(1, 3)),
    lambda lib, name: getattr(lib.ones(3, 2), name)(0, lib.tensor([1]), lib.ones(1)),
    lambda lib, name: getattr(lib.ones(3, 2), name)(2, lib.tensor([1]), lib.ones(1, 2)),
    lambda lib, name: getattr(lib.ones(3, 2), name)(0, lib.tensor(1), lib.ones(2)),
    lambda lib, name: getattr(lib.ones(()), name)(0, lib.tensor([1]), lib.ones(())),
    lambda lib, name: getattr(lib.ones(()), name)(0, lib.tensor([0]), lib.ones(())),
]


@pytest.mark.parametrize("name", ["index_add_", "index_copy_"])
@pytest.mark.parametrize("call", INDEX)
def test_errors_of_indices(call: Callable[[Any, str], Any], name: str) -> None:
    same(lambda lib: call(lib, name))


def test_index_fill_takes_one_value() -> None:
    def fill(lib: Any, value: Any) -> Any:
        return lib.index_fill(lib.ones(3), 0, lib.tensor([1]), lib.tensor(value))

    assert same(lambda lib: fill(lib, 7.0)) == ("float32", (3,), [1.0, 7.0, 1.0])
    assert same(lambda lib: fill(lib, [7.0])) == "RuntimeError"


def test_what_may_be_a_gradient() -> None:
    def assign(lib: Any, make: Callable[[Any, Any], Any]) -> Any:
        x = lib.ones(3, requires_grad=True)
        x.grad = make(lib, x)
        return x.grad

    assert same(lambda lib: assign(lib, lambda lib, x: x)) == "RuntimeError"
    assert same(lambda lib: assign(lib, lambda lib, x: 3)) == "TypeError"
    assert same(lambda lib: assign(lib, lambda lib, x: lib.ones(2))) == "RuntimeError"
    assert same(lambda lib: assign(lib, lambda lib, x: lib.ones(3))) == ("float32", (3,), [1.0] * 3)


def test_copy_takes_numbers() -> None:
    assert same(lambda lib: lib.ones(2).copy_(3)) == ("float32", (2,), [3.0, 3.0])
