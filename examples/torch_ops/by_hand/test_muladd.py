"""Tests of `muladd` without torchgen-lite: what the `samples` of the entry in ops.yaml replace."""

import pytest
import torch
from muladd import muladd
from torch import Tensor

SAMPLES = [
    lambda: (torch.randn(3, 4), torch.randn(3, 4), 0.5),
    lambda: (torch.randn(3, 4), torch.randn(4, 3).t(), -2.0),
]


@pytest.fixture(params=SAMPLES)
def sample(request: pytest.FixtureRequest) -> tuple[Tensor, Tensor, float]:
    torch.manual_seed(0)
    return request.param()


def test_values(sample: tuple[Tensor, Tensor, float]) -> None:
    a, b, s = sample
    torch.testing.assert_close(muladd(a, b, s), a * b + s)


def test_opcheck(sample: tuple[Tensor, Tensor, float]) -> None:
    a, b, s = sample
    for needs in (False, True):
        inputs = (a.clone().requires_grad_(needs), b.clone().requires_grad_(needs), s)
        torch.library.opcheck(torch.ops.by_hand.muladd.default, inputs)


def test_gradients(sample: tuple[Tensor, Tensor, float]) -> None:
    a, b, s = sample
    inputs = (a.double().requires_grad_(), b.double().requires_grad_(), s)
    assert torch.autograd.gradcheck(muladd, inputs)
    assert torch.autograd.gradgradcheck(muladd, inputs)


def test_compile(sample: tuple[Tensor, Tensor, float]) -> None:
    compiled = torch.compile(muladd, fullgraph=True, backend="aot_eager")
    torch.testing.assert_close(compiled(*sample), muladd(*sample))
