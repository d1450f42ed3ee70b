"""Forward and backward of a network of tiny tensors: what a call costs, not what arithmetic costs.

    python bench/autograd.py

Three layers, a batch of 4, the same weights: the reference operators, PyTorch (if it is installed), and the same
written directly in NumPy. Prints the median of each and the ratios.
"""

from __future__ import annotations

import itertools
import statistics
import time
from collections.abc import Callable
from typing import Any

import numpy as np

import torchgen_lite_reference as tl

SIZES = (8, 8, 8, 4)
BATCH = 4
ROUNDS, CALLS = 15, 200


def arrays() -> tuple[list[Any], Any, Any]:
    stream = np.random.default_rng(0)
    parameters: list[Any] = []
    for inputs, outputs in itertools.pairwise(SIZES):
        parameters.append(stream.normal(size=(inputs, outputs)).astype(np.float32))
        parameters.append(stream.normal(size=(outputs,)).astype(np.float32))
    x = stream.normal(size=(BATCH, SIZES[0])).astype(np.float32)
    return parameters, x, stream.normal(size=(BATCH, SIZES[-1])).astype(np.float32)


def framework(library: Any, make: Callable[[Any], Any]) -> Callable[[], list[Any]]:
    """The network with a library's operators and its autograd."""
    values, x_array, y_array = arrays()
    parameters = [make(value).requires_grad_() for value in values]
    x, y = make(x_array), make(y_array)

    def step() -> list[Any]:
        hidden = x
        for index in range(0, len(parameters), 2):
            hidden = hidden @ parameters[index] + parameters[index + 1]
            if index + 2 < len(parameters):
                hidden = library.tanh(hidden)
        difference = hidden - y
        loss = (difference * difference).mean()
        return list(library.autograd.grad(loss, parameters))

    return step


def by_hand() -> Callable[[], list[Any]]:
    """The same in NumPy, forward and backward written out."""
    parameters, x, y = arrays()

    def step() -> list[Any]:
        inputs = [x]
        for index in range(0, len(parameters), 2):
            hidden = inputs[-1] @ parameters[index] + parameters[index + 1]
            inputs.append(np.tanh(hidden) if index + 2 < len(parameters) else hidden)
        grad = 2 * (inputs[-1] - y) / y.size
        found: list[Any] = []
        for layer in reversed(range(len(parameters) // 2)):
            if layer + 2 < len(inputs):
                grad = grad * (1 - inputs[layer + 1] ** 2)
            found = [inputs[layer].T @ grad, grad.sum(0), *found]
            grad = grad @ parameters[2 * layer].T
        return found

    return step


def measure(steps: dict[str, Callable[[], list[Any]]]) -> dict[str, float]:
    """Microseconds of one step each, the sides taking turns."""
    times: dict[str, list[float]] = {name: [] for name in steps}
    for _ in range(ROUNDS):
        for name, step in steps.items():
            start = time.perf_counter()
            for _ in range(CALLS):
                step()
            times[name].append((time.perf_counter() - start) / CALLS * 1e6)
    return {name: statistics.median(found) for name, found in times.items()}


def main() -> None:
    steps = {"torchgen_lite": framework(tl, tl.tensor), "numpy by hand": by_hand()}
    try:
        import torch
    except ImportError:
        pass
    else:
        torch.set_num_threads(1)
        steps["torch"] = framework(torch, torch.tensor)
    wanted = steps["numpy by hand"]()
    for step in steps.values():
        for one, other in zip(step(), wanted):
            np.testing.assert_allclose(np.asarray(one), other, rtol=1e-4, atol=1e-5)
    found = measure(steps)
    for name, value in found.items():
        ratio = found["torchgen_lite"] / value
        print(f"{name:14} {value:8.1f} us a step   torchgen_lite takes {ratio:5.2f} of it")


if __name__ == "__main__":
    main()
