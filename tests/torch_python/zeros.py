"""`zeros_like(x)` in a formula, of tensors that are not plain: the zeros are of the same kind."""

from __future__ import annotations

ENTRIES = """\
- func: zr::largest(Tensor x) -> (Tensor values, Tensor indices)
  dispatch: {CPU: largest}
  fake:
    values: {shape: 'reduced(x, -1, False)'}
    indices: {shape: 'reduced(x, -1, False)', dtype: int64}
  derivatives:
    x: zeros_like(x).scatter_(-1, indices.unsqueeze(-1), grad_values.unsqueeze(-1))
    output_differentiability: [True, False]
"""

KERNELS = """\
def largest(x):
    values, indices = x.max(-1)
    return values, indices
"""

IN_CPP = """\
#include <ATen/ATen.h>

namespace zr {

std::tuple<at::Tensor, at::Tensor> largest(const at::Tensor& x) {
  return x.max(-1);
}

} // namespace zr

#include <zr/verify_kernels.h>
"""

PROGRAM = """
import torch
import zr_ops
from torch.func import grad, vjp, vmap
from torch.testing._internal.two_tensor import TwoTensor

x = torch.randn(3, 2, 4, dtype=torch.double, generator=torch.Generator().manual_seed(0))
v = torch.ones(2, dtype=torch.double)

def by_op(x):
    return torch.ops.zr.largest(x)[0]

def by_torch(x):
    return x.max(-1)[0]

def of_two(f):
    both = TwoTensor(x.clone(), x.clone() * 2).requires_grad_()
    f(both).sin().sum().backward()
    assert type(both.grad) is TwoTensor
    return torch.stack([both.grad.a, both.grad.b])

TREATMENTS = {
    "gradients of samples": lambda f: vmap(grad(lambda x: f(x).sin().sum()))(x),
    "nested": lambda f: vmap(vmap(grad(lambda x: f(x).sin().sum())))(x),
    "a pull of what is not mapped over": lambda f: vmap(lambda x: vjp(f, x)[1](v)[0])(x),
    "a subclass": of_two,
    "a subclass, compiled": lambda f: of_two(torch.compile(f, backend="aot_eager", fullgraph=True)),
    "compiled": lambda f: torch.compile(grad(lambda x: f(x).sin().sum()), backend="aot_eager", fullgraph=True)(x),
}
for name, treatment in TREATMENTS.items():
    torch._dynamo.reset()
    try:
        found = treatment(by_op)
    except Exception as error:
        print(name, error)
        continue
    if not torch.equal(found, treatment(by_torch)):
        print(name)
"""
