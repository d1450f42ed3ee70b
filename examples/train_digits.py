"""Train a small network on scikit-learn's handwritten digits, with gradients from the generated kernels.

    python examples/train_digits.py [--epochs 30] [--plot digits.png]

1,797 pictures of 8 x 8 pixels; a fifth is kept for testing. Two hidden layers, cross entropy, Adam.
"""

from __future__ import annotations

import argparse
import itertools
import math
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split
from tqdm import trange

import torchgen_lite_reference as tl

SIZES = (64, 64, 32, 10)
BATCH = 64


def make_parameters(seed: int) -> list[tl.Tensor]:
    """Weights and biases of each layer, spread as `torch.nn.Linear` spreads them."""
    stream = np.random.default_rng(seed)
    parameters = []
    for inputs, outputs in itertools.pairwise(SIZES):
        bound = 1 / math.sqrt(inputs)
        for shape in ((outputs, inputs), (outputs,)):
            values = stream.uniform(-bound, bound, shape).astype(np.float32)
            parameters.append(tl.tensor(values, requires_grad=True))
    return parameters


def network(x: tl.Tensor, parameters: Sequence[tl.Tensor]) -> tl.Tensor:
    """The scores of the ten digits."""
    layers = list(zip(parameters[::2], parameters[1::2]))
    for weight, bias in layers[:-1]:
        x = tl.relu(tl.linear(x, weight, bias))
    return tl.linear(x, *layers[-1])


class Adam:
    """Adam, on the tensors themselves."""

    def __init__(self, parameters: Sequence[tl.Tensor], rate: float) -> None:
        self.parameters = parameters
        self.rate = rate
        self.steps = 0
        self.moments = [(tl.zeros_like(p), tl.zeros_like(p)) for p in parameters]

    @tl.no_grad()
    def step(self) -> None:
        """Move every parameter against its gradient, and forget the gradient."""
        self.steps += 1
        for parameter, (first, second) in zip(self.parameters, self.moments):
            grad = parameter.grad
            assert grad is not None
            first.mul_(0.9).add_(grad, alpha=0.1)
            second.mul_(0.999).addcmul_(grad, grad, value=0.001)
            scale = math.sqrt(1 - 0.999**self.steps) / (1 - 0.9**self.steps)
            parameter.addcdiv_(first, second.sqrt().add_(1e-8), value=-self.rate * scale)
            parameter.grad = None


def batches(x: tl.Tensor, y: tl.Tensor, seed: int) -> Iterator[tuple[tl.Tensor, tl.Tensor]]:
    """The pictures in a new order, some at a time."""
    order = tl.from_numpy(np.random.default_rng(seed).permutation(len(x)))
    for start in range(0, len(x), BATCH):
        chosen = order[start : start + BATCH]
        yield x[chosen], y[chosen]


def accuracy(x: tl.Tensor, y: tl.Tensor, parameters: Sequence[tl.Tensor]) -> float:
    with tl.no_grad():
        found = network(x, parameters).argmax(1)
    return float((found == y).to(tl.float32).mean())


def train(epochs: int, seed: int = 0) -> tuple[list[float], list[float]]:
    """The mean loss and the test accuracy of each epoch."""
    pictures, digits = load_digits(return_X_y=True)
    split = train_test_split(pictures / 16, digits, test_size=0.2, random_state=seed)
    x, x_test = (tl.tensor(part.astype(np.float32)) for part in split[:2])
    y, y_test = (tl.tensor(part) for part in split[2:])
    parameters = make_parameters(seed)
    optimizer = Adam(parameters, rate=3e-3)
    losses, accuracies = [], []
    progress = trange(epochs, unit="epoch")
    for epoch in progress:
        total = 0.0
        for pictures_now, digits_now in batches(x, y, epoch):
            loss = tl.cross_entropy_loss(network(pictures_now, parameters), digits_now)
            loss.backward()
            optimizer.step()
            total += float(loss.detach()) * len(digits_now)
        losses.append(total / len(y))
        accuracies.append(accuracy(x_test, y_test, parameters))
        progress.set_postfix(loss=f"{losses[-1]:.4f}", accuracy=f"{accuracies[-1]:.1%}")
    return losses, accuracies


def save_plot(losses: Sequence[float], accuracies: Sequence[float], path: Path) -> None:
    """Loss and accuracy by epoch."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, left = pyplot.subplots(figsize=(6, 3.5), layout="constrained")
    epochs = range(1, len(losses) + 1)
    left.plot(epochs, losses, color="tab:blue")
    left.set(xlabel="epoch", ylabel="training loss")
    right = left.twinx()
    right.plot(epochs, accuracies, color="tab:orange")
    right.set(ylabel="test accuracy", ylim=(0, 1))
    figure.savefig(path)


def main() -> None:
    parser = argparse.ArgumentParser(description="Train a small network on handwritten digits.")
    parser.add_argument("--epochs", type=int, default=30)
    parser.add_argument("--plot", type=Path, default=Path("digits.png"))
    options = parser.parse_args()
    losses, accuracies = train(options.epochs)
    save_plot(losses, accuracies, options.plot)
    print(f"test accuracy {accuracies[-1]:.1%}, loss {losses[-1]:.4f}, plot in {options.plot.name}")
    if accuracies[-1] <= 0.95:
        raise SystemExit("the network has not learned: 95% was expected")


if __name__ == "__main__":
    main()
