"""The library's own tests: of the one that is written by hand, and of the generated one."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch

loader: Any = torch.ops
loader.load_library(str(Path(__file__).with_name("library.so")))
ops = loader.adopt
x = torch.arange(4.0)


def test_arithmetic() -> None:
    assert ops.muladd(x, x).tolist() == [1.0, 2.0, 5.0, 10.0]
    assert ops.muladd(x.to("meta"), x.to("meta"), 2.0).shape == (4,)
    assert ops.scale.out(x, 2.0, out=torch.empty(4)).tolist() == [0.0, 2.0, 4.0, 6.0]
    assert ops.twice(x).tolist() == [0.0, 2.0, 4.0, 6.0]
    assert ops.thrice(x).tolist() == [0.0, 3.0, 6.0, 9.0]


def test_writing() -> None:
    y = torch.zeros(2)
    ops.fill(y, 3)
    assert y.tolist() == [3.0, 3.0]


def test_results() -> None:
    assert ops.count(x) == (torch.tensor(6.0), 4)
    assert ops.count(x.view(2, 2), 0)[0].tolist() == [2.0, 4.0]
    assert ops.norm(x).item() == 3.0
    assert ops.sum_all(x).item() == 6.0
    assert [half.tolist() for half in ops.halves(x)] == [[0.0, 1.0], [2.0, 3.0]]
    assert ops.is_even(4) and not ops.is_even(3)


def test_arguments() -> None:
    assert ops.total([x, x]).item() == 12.0
    assert ops.pick(x, [3, 0]).tolist() == [3.0, 0.0]
    assert ops.maybe_add(x).equal(x)
    assert ops.maybe_add(x, x).equal(x + x)
    assert ops.cast(x, torch.int32).dtype == torch.int32


def test_macros_and_inferred_schemas() -> None:
    assert ops.pack_2bit(x).tolist() == [2.0, 10.0, 18.0, 26.0]
    assert ops.pack_4bit(x, 1).tolist() == [4.0, 5.0, 6.0, 7.0]
    assert ops.inferred(x, 2, True, "").equal(x * 2)
    assert ops.inferred(x, 2, False, "abc").equal(x + 3)


def test_what_has_no_kernel() -> None:
    with pytest.raises(NotImplementedError):
        ops.declared(x)
    with pytest.raises(AttributeError):
        ops.under_condition(x)
    assert ops.without_more.default._schema.name == "adopt::without_more"


def test_gradients_go_through_what_is_composite() -> None:
    y = x.clone().requires_grad_()
    ops.sum_all(y).backward()
    assert y.grad is not None and y.grad.tolist() == [1.0] * 4
