"""What is registered for one operator: kernels that come and go, and dumps."""

from __future__ import annotations

import itertools

import pytest

from tests.unit.runtime.helpers import operator_with, says
from torchgen_lite.runtime import Dispatcher, Library, fallthrough_kernel


def test_dump_table() -> None:
    operator, _, _keep = operator_with("FuncTorchBatched", "CPU", fallbacks=("Python",))
    assert operator.dump_table() == (
        "CPU: CPU [kernel]\nPython: fallback [backend fallback]\nFuncTorchBatched: FuncTorchBatched [kernel]\n"
    )


def test_dump() -> None:
    dispatcher = Dispatcher()
    library = Library("ns", "DEF", dispatcher=dispatcher)
    operator = library.define("op(Tensor x) -> Tensor", debug="defined here")
    library.impl("op", says(0), "Autograd", debug="autograd")
    library.impl("op", says(1), "Meta", debug="first")
    library.impl("op", says(2), "Meta", debug="second")
    assert operator.dump() == (
        "name: ns::op\n"
        "schema: ns::op(Tensor x) -> Tensor\n"
        "debug: defined here\n"
        "alias analysis kind: FROM_SCHEMA\n"
        "Meta: second :: (none) [ boxed ]\n"
        "Meta (inactive): first :: (none) [ boxed ]\n"
        "Autograd[alias]: autograd :: (none) [ boxed ]\n"
    )


def test_fallthrough_is_told() -> None:
    dispatcher = Dispatcher()
    library = Library("ns", "DEF", dispatcher=dispatcher)
    operator = library.define("op(Tensor x) -> Tensor")
    library.impl("op", fallthrough_kernel, "CPU", debug="F")
    cell = operator.computed_table()["CPU"]
    assert (str(cell), cell.fallthrough, cell.origin) == ("fallthrough F [kernel]", True, "kernel")


@pytest.mark.parametrize("order", list(itertools.permutations(range(3))), ids=str)
def test_kernels_of_one_key_are_undone_in_any_order(order: tuple[int, ...]) -> None:
    dispatcher = Dispatcher()
    library = Library("ns", "DEF", dispatcher=dispatcher)
    operator = library.define("op(Tensor x) -> Tensor")
    blocks = []
    for index in range(3):
        blocks.append(Library("ns", "IMPL", "Meta", dispatcher=dispatcher))
        blocks[-1].impl("op", says(index), debug=str(index))
    left = [0, 1, 2]
    for index in order:
        assert operator.computed_table()["Meta"].debug == str(left[-1])
        blocks[index].close()
        left.remove(index)
        dispatcher.check_invariants()
    assert operator.computed_table() == {}
