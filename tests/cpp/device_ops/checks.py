"""A backend with two devices: which variants of operators it leaves to PyTorch, and where its kernels run."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor
from torch.testing import assert_close

from tests.cpp.plain_device import known

# Parts of PyTorch have no types.
loader: Any = torch.ops

known()
loader.load_library(str(Path(__file__).with_name("library.so")))
ops = loader.device_ops

X = torch.arange(6.0).reshape(2, 3)
D, E = X.to("plain:0"), X.to("plain:1")


def error(function: Callable[[], object]) -> str:
    with pytest.raises(RuntimeError) as caught:
        function()
    return str(caught.value).splitlines()[0]


def assert_same(result: Tensor, expected: Tensor, index: int = 0) -> None:
    assert result.device == torch.device("plain", index)
    assert_close(result.cpu(), expected)


def test_structured_kernels_of_pytorchs_operators() -> None:
    # The meta function is PyTorch's.
    assert_same(-D, -X)
    assert_same(D[:, 1:].neg(), -X[:, 1:])
    x = X.to("plain")
    assert x.neg_() is x
    assert_same(x, -X)
    out = torch.empty(0, device="plain")
    torch.neg(D, out=out)
    assert_same(out, -X)


def test_loops_that_kernels_of_pytorch_call() -> None:
    assert_same(D.exp(), X.exp())
    assert_same(E[:, 1:].exp(), X[:, 1:].exp(), 1)
    x = X.to("plain")
    assert_same(x.exp_(), X.exp())
    assert_same(torch.exp(D, out=torch.empty(0, device="plain")), X.exp())
    assert_same((-E).abs(), X, 1)
    assert_same(torch.abs(-D, out=torch.empty(2, 3, device="plain")), X)


def test_structured_kernels_of_an_own_operator() -> None:
    assert_same(ops.doubled(D), X * 2)
    assert_same(ops.doubled(E), X * 2, 1)
    x = X.to("plain:1")
    assert_same(ops.doubled_(x), X * 2, 1)
    out = torch.empty(0, device="plain:1")
    assert_same(ops.doubled.out(E, out=out), X * 2, 1)
    assert ops.doubled(X.to("meta")).shape == X.shape


def test_variants_that_follow_from_a_plain_out_kernel() -> None:
    assert_same(D + D, X + X)
    assert_same(E + E[0], X + X[0], 1)
    assert_same(torch.add(D, D, alpha=3), X + 3 * X)
    assert_same(D[:, 1:] + D[:, 1:], 2 * X[:, 1:])
    assert_same(torch.roll(D, 1, 1), torch.roll(X, 1, 1))
    assert_same(torch.roll(E, 1), torch.roll(X, 1), 1)
    for result, expected in zip(torch.frexp(D), torch.frexp(X), strict=True):
        assert_same(result, expected)
    x = X.to("plain")
    x += D
    assert_same(x, X + X)


def test_types_are_promoted_as_pytorch_does() -> None:
    whole = X.int().to("plain")
    assert_same(whole + D, X + X)
    # A number is of no device, and counts less than a tensor.
    assert_same(D + 2, X + 2)
    assert_same(whole + 2.5, X.int() + 2.5)
    assert_same(whole + 2, X.int() + 2)


def test_results_that_cannot_be() -> None:
    whole = X.int().to("plain")
    assert "in in-place ops are not possible" in error(lambda: whole.add_(D))
    assert "doesn't match the broadcast shape" in error(lambda: D[0].add_(D))
    assert "Attempting to broadcast a dimension of length 5" in error(
        lambda: D + torch.ones(5).to("plain")
    )


def test_tensors_on_several_devices_are_refused() -> None:
    message = "Expected all tensors to be on the same device, but got "
    elsewhere = torch.empty(2, 3, device="plain:1")
    calls: dict[str, Callable[[], object]] = {
        "wrapper_PrivateUse1_device_ops__current": lambda: ops.current(D, E),
        "structured_PrivateUse1_device_ops__doubled_out": lambda: ops.doubled.out(D, out=elsewhere),
        "wrapper_PrivateUse1_roll_out": lambda: loader.aten.roll.out(D, [1], out=elsewhere),
    }
    for name, call in calls.items():
        assert error(call).startswith(message)
        assert f"(when checking argument in method {name})" in error(call)
    assert ops.current.unchecked(D, E) == 0
    assert ops.current.unchecked(E, D) == 1


def test_the_device_of_the_tensors_is_the_current_one() -> None:
    assert [ops.current(D), ops.current(E), ops.current(E, E)] == [0, 1, 1]
    assert [ops.current.list([D]), ops.current.list([E, E])] == [0, 1]
    assert ops.current.unguarded(E) == 0
    # And only while the kernel runs.
    assert ops.current.unguarded(D) == 0


def test_the_device_chooses_the_backend() -> None:
    assert ops.made(2).tolist() == [1, 1]
    assert ops.made(2, dtype=torch.int).dtype == torch.int
    for index in range(2):
        assert_same(ops.made(2, device=f"plain:{index}"), torch.tensor([2.0, 2.0]), index)


def test_formulas_of_the_backend() -> None:
    x = D.detach().requires_grad_()
    (gradient,) = torch.autograd.grad(x + x, x, torch.ones(2, 3).to("plain"))
    assert_same(gradient, torch.full((2, 3), 2.0))
    result = torch.roll(x, [1], [1])
    assert result.grad_fn is not None and "AutogradPrivateUse1" in result.grad_fn.name()
    (gradient,) = torch.autograd.grad(result, x, D)
    assert_same(gradient, torch.roll(X, -1, 1) * 2)


def test_formulas_for_several_keys() -> None:
    for device, factor in (("cpu", 3.0), ("plain", 2.0)):
        x = X.to(device).detach().requires_grad_()
        (gradient,) = torch.autograd.grad(ops.thrice(x), x, torch.ones(2, 3).to(device))
        assert_close(gradient.cpu(), torch.full((2, 3), factor))
