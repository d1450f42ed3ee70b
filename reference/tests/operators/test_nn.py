"""Activations, normalization and losses, without PyTorch."""

from __future__ import annotations

import math

import pytest

import torchgen_lite_reference as tl


def close(tensor: tl.Tensor, expected: object) -> bool:
    return tl.allclose(tensor, tl.tensor(expected, dtype=tensor.dtype), 1e-4, 1e-5)


def test_activations() -> None:
    x = tl.tensor([-1.0, 0.0, 2.0])
    assert close(tl.gelu(x), [-0.158655, 0.0, 1.954500])
    assert close(tl.gelu(x, approximate="tanh"), [-0.158808, 0.0, 1.954598])
    assert close(tl.silu(x), [-0.268941, 0.0, 1.761594])
    assert close(tl.elu(x, 2.0), [-1.264241, 0.0, 2.0])
    assert close(tl.leaky_relu(x, 0.1), [-0.1, 0.0, 2.0])
    assert close(tl.hardtanh(x), [-1.0, 0.0, 1.0])
    assert close(tl.threshold(x, 0.5, 7.0), [7.0, 7.0, 2.0])
    assert close(tl.log_sigmoid(x), [-1.313262, -0.693147, -0.126928])
    with pytest.raises(RuntimeError, match="either none or tanh"):
        tl.gelu(x, approximate="fast")


def test_in_place_activation_writes_its_argument() -> None:
    x = tl.tensor([-1.0, 2.0])
    assert tl.elu_(x) is x
    assert close(x, [-0.632121, 2.0])


def test_softmax_does_not_overflow() -> None:
    x = tl.tensor([[1000.0, 1000.0], [0.0, math.log(3.0)]])
    assert close(tl.softmax(x, 1), [[0.5, 0.5], [0.25, 0.75]])
    assert close(tl.log_softmax(x, 1).exp(), [[0.5, 0.5], [0.25, 0.75]])
    with pytest.raises(RuntimeError, match="not implemented for 'Long'"):
        tl.softmax(tl.arange(3), 0)
    assert tl.softmax(tl.arange(3), 0, tl.float64).dtype is tl.float64


def test_layer_norm() -> None:
    x = tl.tensor([[1.0, 3.0], [0.0, 4.0]])
    assert close(tl.layer_norm(x, [2]), [[-1.0, 1.0], [-1.0, 1.0]])
    scaled = tl.layer_norm(x, [2], tl.tensor([2.0, 3.0]), tl.tensor([0.0, 1.0]))
    assert close(scaled, [[-2.0, 4.0], [-2.0, 4.0]])
    with pytest.raises(RuntimeError, match="weight to be of same shape"):
        tl.layer_norm(x, [2], tl.ones([3]))
    with pytest.raises(RuntimeError, match="expected input with shape"):
        tl.layer_norm(x, [3])


def test_losses() -> None:
    x, y = tl.tensor([1.0, 4.0]), tl.tensor([0.0, 1.0])
    assert tl.mse_loss(x, y).item() == 5.0
    assert tl.mse_loss(x, y, 2).item() == 10.0
    assert tl.l1_loss(x, y, 0).tolist() == [1.0, 3.0]
    assert tl.smooth_l1_loss(x, y, 0).tolist() == [0.5, 2.5]
    assert tl.huber_loss(x, y, 0, 2.0).tolist() == [0.5, 4.0]


def test_classification() -> None:
    scores = tl.tensor([[0.0, math.log(3.0)], [0.0, 0.0]])
    target = tl.tensor([1, 0])
    expected = (math.log(4 / 3) + math.log(2)) / 2
    assert tl.cross_entropy_loss(scores, target).item() == pytest.approx(expected)
    assert tl.nll_loss(scores, target, None, 1, 0).item() == pytest.approx(-math.log(3.0))
    with pytest.raises(IndexError, match="Target 2 is out of bounds"):
        tl.nll_loss(scores, tl.tensor([1, 2]))


def test_one_hot() -> None:
    assert tl.one_hot(tl.tensor([2, 0])).tolist() == [[0, 0, 1], [1, 0, 0]]
    with pytest.raises(RuntimeError, match="smaller than num_classes"):
        tl.one_hot(tl.tensor([2]), 2)


def test_dropout() -> None:
    x = tl.ones([1000])
    assert tl.dropout(x, 0.5, False) is x
    tl.manual_seed(0)
    assert set(tl.dropout(x, 0.5, True).tolist()) == {0.0, 2.0}


def test_a_small_network_on_meta() -> None:
    meta = tl.device("meta")
    x = tl.empty([8, 4], device=meta)
    weight, bias = tl.empty([3, 4], device=meta), tl.empty([3], device=meta)
    scores = tl.log_softmax(tl.relu(tl.linear(x, weight, bias)), 1)
    loss = tl.nll_loss(scores, tl.empty([8], dtype=tl.int64, device=meta))
    assert (scores.shape, loss.shape, loss.device.type) == ((8, 3), (), "meta")
