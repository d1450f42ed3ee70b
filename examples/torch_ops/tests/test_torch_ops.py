"""Every operator: its values, opcheck, gradients, torch.compile. Beside them stand the tests that are generated.

pip install --no-build-isolation . && pytest tests generated/torch-python/tests
TORCH_OPS_LIBRARY=build/libtorch_ops.so pytest tests
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import torch

LIBRARY = os.environ.get("TORCH_OPS_LIBRARY")
if LIBRARY:
    torch.ops.load_library(LIBRARY)
    sys.path.insert(0, str(Path(__file__).parents[1] / "generated" / "torch-python"))
    import torch_ops_python  # noqa: F401
else:
    import torch_ops  # noqa: F401

ops = torch.ops.torch_ops


def tensor(*size: int) -> torch.Tensor:
    generator = torch.Generator().manual_seed(sum(size))
    return torch.randn(*size, generator=generator)


class Case(NamedTuple):
    """A call, and what it has to give."""

    op: Any
    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    expected: Any


X, Y, W = tensor(3, 4), tensor(4, 3).t(), tensor(2)
CASES = {
    "muladd": Case(ops.muladd.default, (X, Y, 0.5), {}, X * Y + 0.5),
    "scale": Case(ops.scale.default, (X, 3.0), {}, X * 3),
    "scale, not contiguous": Case(ops.scale.default, (Y, 3.0), {}, Y * 3),
    "scale_": Case(ops.scale_.default, (X.clone(), 3.0), {}, X * 3),
    "scale.out": Case(ops.scale.out, (X, 3.0), {"out": torch.zeros(3, 4)}, X * 3),
    "minmax": Case(ops.minmax.default, (Y,), {}, (Y.min(), Y.max())),
    "minmax, int": Case(
        ops.minmax.default, (torch.tensor([3, 1, 2]),), {}, (torch.tensor(1), torch.tensor(3))
    ),
    "weighted_sum": Case(ops.weighted_sum.default, ([X, Y],), {}, X + Y),
    "weighted_sum, weight": Case(
        ops.weighted_sum.default, ([X, Y], W), {"scale": 2.0}, 2 * (W[0] * X + W[1] * Y)
    ),
    "squares": Case(ops.squares.default, (4,), {}, torch.tensor([0, 1, 4, 9])),
    "squares, dtype": Case(
        ops.squares.default, (3,), {"dtype": torch.float64}, torch.tensor([0.0, 1.0, 4.0]).double()
    ),
    "rms_norm": Case(
        ops.rms_norm.default,
        (X, tensor(4)),
        {},
        torch.nn.functional.rms_norm(X, (4,), tensor(4), 1e-6),
    ),
    "smooth_relu": Case(ops.smooth_relu.default, (X,), {}, (X + (X * X + 1).sqrt()) / 2),
    "diagonal_view": Case(ops.diagonal_view.default, (X,), {}, X.diagonal()),
    "hinge": Case(ops.hinge.default, (X, Y), {}, ((1 - X * Y).clamp_min(0), X * Y < 1)),
    "drift": Case(ops.drift.default, (X, Y), {"_kernel": 2.0}, ((X - Y) / 2) ** 2),
    "column_sums": Case(ops.column_sums.default, (Y,), {}, Y.sum(0)),
}


def copied(value: Any) -> Any:
    return value.clone() if isinstance(value, torch.Tensor) else value


def call(case: Case, op: Any = None) -> Any:
    args = tuple(map(copied, case.args))
    kwargs = {name: copied(value) for name, value in case.kwargs.items()}
    return (op or case.op)(*args, **kwargs)


def test_every_operator_has_a_case() -> None:
    names = {
        str(schema.name) + (f".{schema.overload_name}" if schema.overload_name else "")
        for schema in torch._C._jit_get_all_schemas()
        if schema.name.startswith("torch_ops::")
    }
    assert len(names) == 13
    tested = {case.op.name() for case in CASES.values()}
    assert names == tested


@pytest.mark.parametrize("name", CASES)
def test_values(name: str) -> None:
    torch.testing.assert_close(call(CASES[name]), CASES[name].expected)


def test_what_is_written_is_what_is_returned() -> None:
    x, out = X.clone(), torch.zeros(3, 4)
    assert ops.scale_(x, 2.0).data_ptr() == x.data_ptr()
    torch.testing.assert_close(x, X * 2)
    assert ops.scale(X, 2.0, out=out).data_ptr() == out.data_ptr()
    torch.testing.assert_close(out, X * 2)


def test_the_view_shares_its_memory() -> None:
    x = X.clone()
    ops.diagonal_view(x).zero_()
    assert x.diagonal().abs().sum() == 0


@pytest.mark.parametrize("name", CASES)
def test_opcheck(name: str) -> None:
    case = CASES[name]
    found = torch.library.opcheck(case.op, case.args, case.kwargs)
    assert set(found.values()) == {"SUCCESS"}


@pytest.mark.parametrize("name", CASES)
def test_compile(name: str) -> None:
    case = CASES[name]
    torch._dynamo.reset()
    compiled = torch.compile(case.op, fullgraph=True, backend="aot_eager")
    torch.testing.assert_close(call(case, compiled), case.expected)


DIFFERENTIABLE: dict[str, Callable[..., torch.Tensor]] = {
    "rms_norm": lambda x: ops.rms_norm(x, torch.ones(4, dtype=x.dtype)),
    "diagonal_view": ops.diagonal_view,
    # Formulas of ops.yaml: in C++, and for the stable ABI, which has no autograd, in Python.
    "muladd": lambda x: ops.muladd(x, x.sin(), 2.0),
    "scale": lambda x: ops.scale(x, 3.0),
    "scale_": lambda x: ops.scale_(x.clone(), 3.0),
    "smooth_relu": ops.smooth_relu,
    "hinge": lambda x: ops.hinge(x, x.cos())[0],
    "drift": lambda x: ops.drift(x, x.sin(), 0.5),
    "column_sums": ops.column_sums,
}


@pytest.mark.parametrize("name", DIFFERENTIABLE)
def test_gradients(name: str) -> None:
    x = X.double().requires_grad_()
    assert torch.autograd.gradcheck(DIFFERENTIABLE[name], (x,))
    assert torch.autograd.gradgradcheck(DIFFERENTIABLE[name], (x,))


@pytest.mark.parametrize("name", DIFFERENTIABLE)
def test_gradients_are_traced(name: str) -> None:
    """Forward and backward under torch.compile give what eager mode gives."""
    function = DIFFERENTIABLE[name]
    torch._dynamo.reset()
    compiled = torch.compile(function, fullgraph=True, backend="aot_eager")
    gradients = []
    for run in (function, compiled):
        x = X.double().requires_grad_()
        run(x).square().sum().backward()
        gradients.append(x.grad)
    torch.testing.assert_close(gradients[0], gradients[1])


def test_opcheck_of_formulas_with_gradients() -> None:
    x, y = X.clone().requires_grad_(), Y.clone().requires_grad_()
    for op, args in ((ops.muladd, (x, y, 2.0)), (ops.scale, (x, 2.0)), (ops.smooth_relu, (x,))):
        found = torch.library.opcheck(op.default, args)
        assert set(found.values()) == {"SUCCESS"}


def test_what_has_no_gradient_says_so() -> None:
    x = X.clone().requires_grad_()
    loss, is_inside = ops.hinge(x, Y)
    assert loss.requires_grad and not is_inside.requires_grad


def test_autocast_casts_and_casts_back() -> None:
    x, y = X.bfloat16(), Y.bfloat16()
    with pytest.raises(RuntimeError, match="hinge|not implemented for 'BFloat16'"):
        ops.hinge(x, y)
    with torch.autocast("cpu", torch.bfloat16):
        loss, is_inside = ops.hinge(x, y)
    wanted, inside = ops.hinge(x.float(), y.float())
    assert loss.dtype == torch.bfloat16 and torch.equal(loss, wanted.bfloat16())
    assert torch.equal(is_inside, inside)


def test_fakes_check_their_arguments() -> None:
    meta = torch.empty(2, 3, device="meta")
    assert ops.column_sums(meta).shape == (3,)
    with pytest.raises(RuntimeError, match="hinge needs a target for each element"):
        ops.hinge(meta, meta[:1])
    with pytest.raises(RuntimeError, match="column_sums takes a matrix"):
        ops.column_sums(meta[0])


@pytest.mark.parametrize(
    "wrong",
    [
        lambda: ops.muladd(X, X[:2], 1.0),
        lambda: ops.weighted_sum([]),
        lambda: ops.weighted_sum([X, X[0]]),
        lambda: ops.weighted_sum([X], torch.ones(2)),
        lambda: ops.minmax(torch.empty(0)),
        lambda: ops.hinge(X, X[:2]),
        lambda: ops.column_sums(X[0]),
    ],
)
def test_wrong_arguments_are_refused(wrong: Callable[[], object]) -> None:
    with pytest.raises(RuntimeError, match="muladd|weighted_sum|minmax|hinge|column_sums"):
        wrong()
