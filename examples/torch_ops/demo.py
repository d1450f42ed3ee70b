"""Operators that are written in C++, called from Python: plainly, differentiated, and under torch.compile."""

import torch
import torch_ops

x = torch.tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=True)
weight = torch.ones(2)


def step(x: torch.Tensor) -> torch.Tensor:
    return torch_ops.smooth_relu(torch_ops.rms_norm(torch_ops.muladd(x, x, 0.5), weight))


print("minmax      ", *torch_ops.minmax(x))
print("squares     ", torch_ops.squares(5, dtype=torch.float32))
print("weighted_sum", torch_ops.weighted_sum([weight, weight], torch.tensor([0.5, 2.0])))
print("torch.ops   ", torch.ops.torch_ops.scale(weight, 3.0))

step(x).sum().backward()
print("gradient    ", x.grad)

compiled = torch.compile(step, fullgraph=True, backend="aot_eager")
print("compiled    ", torch.equal(compiled(x), step(x)))
