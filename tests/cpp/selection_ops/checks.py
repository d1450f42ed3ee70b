"""Kernels that conditions choose, beneath everything that stands above a kernel."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch

# Parts of PyTorch have no types.
loader: Any = torch.ops
loader.load_library(str(Path(__file__).with_name("library.so")))
so = loader.so


def gradient(result: Any, of: torch.Tensor) -> torch.Tensor:
    result.sum().backward()
    assert of.grad is not None
    return of.grad


@pytest.mark.parametrize(
    ("x", "kernel"),
    [
        (torch.ones(3, 4), "small"),
        (torch.ones(3, 5), "any"),
        (torch.ones(3, 5, dtype=torch.float64), "double"),
        (torch.ones(5, 6, dtype=torch.float64).T, "any"),
        (torch.ones(5, 6, dtype=torch.float64).T[:, :4], "small"),
    ],
)
def test_gradients_are_recorded_above_a_selection(x: torch.Tensor, kernel: str) -> None:
    x.requires_grad_()
    assert torch.equal(gradient(so.scale(x, 3.0), x), torch.full_like(x, 3.0))
    assert so.ran() == kernel


@pytest.mark.parametrize("size", [4, 5])
def test_what_is_written_chooses_too(size: int) -> None:
    leaf = torch.ones(size, requires_grad=True)
    x = leaf * 1
    version = x._version
    so.scale_(x, 2.0)
    assert so.ran() == ("small_" if size == 4 else "any_")
    assert x._version == version + 1
    assert torch.equal(gradient(x, leaf), torch.full((size,), 2.0))


def test_tensors_are_cast_above_a_selection() -> None:
    x = torch.ones(3, 4, dtype=torch.bfloat16)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        assert so.scale(x, 2.0).dtype == torch.float32
    assert so.ran() == "small"
    assert so.scale(x, 2.0).dtype == torch.bfloat16


def test_compiled_programs_choose_when_they_run() -> None:
    compiled = torch.compile(
        lambda x: so.scale(x, 2.0), backend="aot_eager", dynamic=True, fullgraph=True
    )
    for size, kernel in ((4, "small"), (5, "any"), (4, "small")):
        x = torch.ones(3, size, requires_grad=True)
        assert torch.equal(gradient(compiled(x), x), torch.full((3, size), 2.0))
        assert so.ran() == kernel


@pytest.mark.parametrize("n", [0, 1, -1])
def test_a_composed_operator_is_traced_with_symbolic_sizes(n: int) -> None:
    compiled = torch.compile(
        lambda x: so.twice(x, n), backend="eager", dynamic=True, fullgraph=True
    )
    for rows in (9, 4, 6, 5):
        for columns in (2, 3):
            x = torch.ones(rows, columns)
            assert torch.equal(compiled(x), so.twice(x, n)), (rows, columns)


def test_a_call_that_no_row_takes_is_refused_by_name() -> None:
    x = torch.ones(2, 3, dtype=torch.half)
    assert so.partial(x, x, [x, x], []) == 2
    assert so.partial(x, None, [], [], mode="slow") == 1
    with pytest.raises(NotImplementedError) as raised:
        so.partial(x, None, [x], [1, 2], torch.bfloat16)
    said = "so::partial CPU: no kernel takes x=half[2, 3], w=None, xs=[half[2, 3]], s=[1, 2], dtype=bfloat16, mode='fast'"
    assert str(raised.value).splitlines()[0] == said


def test_an_index_that_is_not_there_is_an_error() -> None:
    with pytest.raises((IndexError, RuntimeError)):
        so.twice(torch.ones(2), 7)
