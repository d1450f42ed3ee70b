"""Every operator on both devices, and every module as the first that is imported."""

from __future__ import annotations

import doctest
import math
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tinyarr
from tinyarr import Array, array, autograd

VALUES = [[1.0, 2.0], [3.0, 4.0]]
RESULTS: list[tuple[Callable[[Array], Array], Any]] = [
    (lambda x: x + x, [[2.0, 4.0], [6.0, 8.0]]),
    (lambda x: x.add(x, alpha=-0.5), [[0.5, 1.0], [1.5, 2.0]]),
    (lambda x: x * x, [[1.0, 4.0], [9.0, 16.0]]),
    (lambda x: -x, [[-1.0, -2.0], [-3.0, -4.0]]),
    (lambda x: x.exp(), [[math.exp(1), math.exp(2)], [math.exp(3), math.exp(4)]]),
    (lambda x: x.sum(), 10.0),
    (lambda x: x.mean(), 2.5),
    (lambda x: tinyarr.full((2,), 7, device=x.device), [7.0, 7.0]),
]


@pytest.mark.parametrize("device", ["cpu", "sim"])
@pytest.mark.parametrize(("function", "expected"), RESULTS)
def test_operators(device: str, function: Callable[[Array], Array], expected: Any) -> None:
    result = function(array(VALUES, device))
    assert result.device == device
    np.testing.assert_allclose(result.numpy(), expected)


@pytest.mark.parametrize("device", ["cpu", "sim"])
def test_gradients(device: str) -> None:
    x, y = (autograd.wanted(array(values, device)) for values in ([1.0, 2.0], [3.0, 5.0]))
    autograd.backward((x * x * y).mean())  # x^2 y / 2
    assert x.grad is not None and x.grad.device == device
    assert x.grad.numpy().tolist() == [3.0, 10.0]
    assert y.grad is not None and y.grad.numpy().tolist() == [0.5, 2.0]
    autograd.backward((x * y).sum())
    assert x.grad.numpy().tolist() == [6.0, 15.0]
    with pytest.raises(NotImplementedError, match="tinyarr::exp has no gradient"):
        x.exp()
    with autograd.no_grad():
        assert x.exp().device == device


def test_examples_in_docstrings() -> None:
    assert doctest.testmod(tinyarr).failed == doctest.testmod(autograd).failed == 0


def test_arrays_of_two_devices_are_refused() -> None:
    with pytest.raises(ValueError, match="arrays have one device, not cpu and sim"):
        array(VALUES).add(array(VALUES, "sim"))
    with pytest.raises(ValueError, match="no device 'gpu'; there are cpu, sim"):
        array(VALUES).to("gpu")
    with pytest.raises(ValueError, match="no device 'gpu'"):
        tinyarr.full((), 1, device="gpu")


@pytest.mark.parametrize(
    "module",
    ["_array", "_ops", "_ops.methods", "autograd", "framework", "kernels.composite", "kernels.sim"],
)
def test_any_module_may_be_imported_first(module: str) -> None:
    command = [sys.executable, "-c", f"import tinyarr.{module}"]
    subprocess.run(command, check=True, env={"PYTHONPATH": ":".join(sys.path)})
