"""Train a small model on the device `toy`, and the same model on the CPU: the losses are the same."""

from __future__ import annotations

from typing import Any

import torch
import toy_ops
from torch import nn


class Model(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.first = nn.Linear(8, 16)
        self.second = nn.Linear(16, 16)
        self.third = nn.Linear(16, 4)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = torch.relu(self.first(x))
        x = toy_ops.squash(self.second(x), 2.0)
        result: torch.Tensor = self.third(x)
        return result


def train(device: str, steps: int = 20) -> list[float]:
    """The loss at each step."""
    torch.manual_seed(0)
    model, x = Model().to(device), torch.randn(32, 8).to(device)
    target = torch.randint(4, (32,)).to(device)
    losses = []
    for _ in range(steps):
        loss: Any = nn.functional.cross_entropy(model(x), target)
        model.zero_grad()
        loss.backward()
        with torch.no_grad():
            for parameter in model.parameters():
                assert parameter.grad is not None and parameter.grad.device.type == device
                parameter.sub_(0.5 * parameter.grad)
        losses.append(loss.item())
    return losses


if __name__ == "__main__":
    on_toy, on_cpu = train("toy"), train("cpu")
    print(f"loss on toy: {on_toy[0]:.6f} -> {on_toy[-1]:.6f}")
    print(f"loss on cpu: {on_cpu[0]:.6f} -> {on_cpu[-1]:.6f}")
    assert on_toy == on_cpu
