"""Composed programs, and a network trained step by step, against PyTorch."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

pytest.importorskip("torch")

import torch

import torchgen_lite_reference as tl
from autograd.programs import run

pytestmark = pytest.mark.torch


@pytest.mark.parametrize("seed", range(60))
def test_gradients_of_random_programs_are_torchs(seed: int) -> None:
    mine, leaves = run(tl, tl.from_numpy, seed, 20)
    its, their_leaves = run(torch, torch.from_numpy, seed, 20)
    np.testing.assert_allclose(mine.item(), its.item(), rtol=1e-9)
    if not its.requires_grad:
        assert not mine.requires_grad
        return
    found = tl.autograd.grad(mine, leaves, create_graph=True, allow_unused=True)
    wanted = torch.autograd.grad(its, their_leaves, create_graph=True, allow_unused=True)
    assert_same(found, wanted)
    twice, their_twice = total(found), total(wanted)
    if their_twice is not None and their_twice.requires_grad:
        again = tl.autograd.grad(twice, leaves, allow_unused=True)
        assert_same(again, torch.autograd.grad(their_twice, their_leaves, allow_unused=True))


def total(gradients: Any) -> Any:
    """A scalar of several gradients."""
    parts = [(g * g).sum() for g in gradients if g is not None]
    return sum(parts[1:], parts[0]) if parts else None


def assert_same(found: Any, wanted: Any) -> None:
    for one, other in zip(found, wanted):
        if one is None or other is None:
            whole = one if other is None else other
            assert whole is None or float(abs(whole.detach()).max()) == 0
            continue
        np.testing.assert_allclose(
            one.detach().numpy(), other.detach().clone().numpy(), rtol=1e-7, atol=1e-9
        )


def test_a_network_learns_step_by_step_as_in_torch() -> None:
    """The network of examples/train_digits.py, from the same weights, on made-up pictures."""
    stream = np.random.default_rng(0)
    sizes = (64, 32, 10)
    weights = [
        stream.normal(size=shape).astype(np.float32) * 0.1
        for inputs, outputs in zip(sizes, sizes[1:])  # noqa: RUF007
        for shape in ((outputs, inputs), (outputs,))
    ]
    x = stream.uniform(size=(32, 64)).astype(np.float32)
    y = stream.integers(0, 10, 32)
    sides = []
    for library, make, loss_of in (
        (tl, tl.tensor, tl.cross_entropy_loss),
        (torch, torch.tensor, torch.nn.functional.cross_entropy),
    ):
        parameters: Any = [make(w).requires_grad_() for w in weights]
        losses = []
        for _ in range(10):
            hidden = library.relu(make(x) @ parameters[0].t() + parameters[1])
            loss = loss_of(hidden @ parameters[2].t() + parameters[3], make(y))
            loss.backward()
            with library.no_grad():
                for parameter in parameters:
                    parameter.sub_(parameter.grad, alpha=0.5)
                    parameter.grad = None
            losses.append(float(loss.detach()))
        sides.append(losses)
    np.testing.assert_allclose(sides[0], sides[1], rtol=1e-4)
    assert sides[0][-1] < sides[0][0]
