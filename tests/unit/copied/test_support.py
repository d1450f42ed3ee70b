"""The functions that rules in the YAML call, with results for shapes and values."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

pytestmark = pytest.mark.torch

# Function, arguments, result. A tuple means a tensor of that shape.
CALLS: list[tuple[str, list[Any], Any]] = [
    ("default", [None, 3], 3),
    ("default", [0, 3], 0),
    ("floor_div", [7, 2], 3),
    ("ceil_div", [7, 2], 4),
    ("sym_max", [1, 3, 2], 3),
    ("sym_min", [2, 1, 3], 1),
    ("sizes", [(2, 3)], [2, 3]),
    ("broadcast", [(3, 1), [4], (1, 1, 1)], [1, 3, 4]),
    ("concat", [[2], [3, 4], []], [2, 3, 4]),
    ("with_size", [(2, 3), -1, 5], [2, 5]),
    ("reduced", [(2, 3, 4), 1], [2, 4]),
    ("reduced", [(2, 3, 4), [0, -1]], [3]),
    ("reduced", [(2, 3, 4), None, True], [1, 1, 1]),
    ("reduced", [(), None], []),
    ("sum_sizes", [[(2, 3), (4, 3)], 0], 6),
]


def tensors(value: Any) -> Any:
    import torch

    if isinstance(value, list):
        return [tensors(v) for v in value]
    return torch.empty(value) if isinstance(value, tuple) else value


@pytest.mark.parametrize(("name", "arguments", "result"), CALLS)
def test_calls(name: str, arguments: list[Any], result: Any) -> None:
    from torchgen_lite.copied.torch_python import _support

    assert getattr(_support, name)(*tensors(arguments)) == result


def test_sizes_that_are_symbols_stay_symbols() -> None:
    import torch
    from torch._subclasses import FakeTensorMode
    from torch.fx.experimental.symbolic_shapes import ShapeEnv

    from torchgen_lite.copied.torch_python import _support

    shapes = ShapeEnv()
    with FakeTensorMode(shape_env=shapes):
        size = shapes.create_unbacked_symint()
        x = torch.empty(size, 7)
        for found in (
            _support.ceil_div(size, 2),
            _support.sym_max(size, 7),
            _support.reduced(x, 1)[0],
            _support.with_size(x, 1, 2 * size)[1],
        ):
            assert isinstance(found, torch.SymInt)


def test_zeros_are_like_what_was_kept() -> None:
    import torch

    from torchgen_lite.copied.torch_python import _zeros

    kept = _zeros.info_of(torch.ones(2, 3, dtype=torch.float16))
    found = _zeros.zeros(kept)
    assert torch.equal(found, torch.zeros(2, 3, dtype=torch.float16))
    assert found.dtype is torch.float16


def test_the_real_part_has_a_dtype() -> None:
    import torch

    from torchgen_lite.copied.torch_python import _support

    assert _support.real(torch.complex64) is torch.float32
    assert _support.real(torch.ones(1, dtype=torch.float64)) is torch.float64


@pytest.mark.torch
@pytest.mark.parametrize("shape", [(), (2,), (2, 3), (2, 1, 3)])
@pytest.mark.parametrize("keepdim", [False, True])
def test_a_reduction_has_the_shape_that_torch_gives(shape: tuple[int, ...], keepdim: bool) -> None:
    torch = pytest.importorskip("torch")
    from torchgen_lite.copied.torch_python import _support

    def outcome(function: Callable[[], Any]) -> Any:
        try:
            return list(function())
        except (IndexError, RuntimeError) as error:
            return type(error), str(error).partition("\n")[0]

    single: list[Any] = [None, *range(-4, 5)]
    dims = [*single, [], [0], [-1], [0, 1], [1, 0], [0, 0], [0, -1], [2, -1], [5], [-3, 0]]
    for dim in dims:
        ours = outcome(lambda dim=dim: _support.reduced(shape, dim, keepdim))
        theirs = outcome(lambda dim=dim: torch.ones(shape).sum(dim, keepdim=keepdim).shape)
        assert ours == theirs, dim


@pytest.mark.torch
def test_divisions_are_those_of_the_words_and_of_cpp() -> None:
    pytest.importorskip("torch")
    from torchgen_lite.copied.torch_python import _support
    from torchgen_lite.runtime import quotient, real_number, remainder

    assert [_support.ceil_div(a, b) for a, b in ((7, 2), (7, -2), (-7, 2), (-7, -2))] == [
        4,
        -3,
        -3,
        4,
    ]
    assert [remainder(a, b) for a, b in ((7, 3), (-7, 3), (7, -3), (-7, -3))] == [1, -1, 1, -1]
    found = [repr(quotient(a, b)) for a, b in ((1, 4), (-1, 0), (1, -0.0), (0, 0))]
    assert found == ["0.25", "-inf", "-inf", "nan"]
    assert repr(real_number(3)) == "3.0"
    with pytest.raises(TypeError, match="complex"):
        real_number(1j)


def test_inputs_that_were_left_out_need_no_gradient() -> None:
    from torchgen_lite.copied.torch_python import _zeros

    assert _zeros.padded([True], 3) == [True, False, False]
