"""A library with formulas of each kind that are differentiated again, and a program that checks them, for each target."""

from __future__ import annotations

ENTRIES = """\
- func: seconds::two(Tensor x, Tensor y) -> (Tensor a, Tensor b)
  dispatch: {CPU: two}
  fake: {a: {like: x}, b: {like: x}}
  derivatives:
    x: grad_a * a / x + grad_b * 2 * x * y
    y: grad_a * 2 * x * y + grad_b * b / y
- func: seconds::first(Tensor x) -> (Tensor a, Tensor b)
  dispatch: {CPU: first}
  fake: {a: {like: x}, b: {like: x}}
  derivatives:
    let: {again: x.exp()}
    x: grad_a * (x * again + again)
    output_differentiability: [True, False]
- func: seconds::asked(Tensor x, Tensor y) -> (Tensor a, Tensor b)
  dispatch: {CPU: two}
  fake: {a: {like: x}, b: {like: x}}
  derivatives:
    x: "grad_a.defined() ? (grad_b.defined() ? grad_a * y * y + grad_b * 2 * x * y : grad_a * y * y) : grad_b * 2 * x * y"
    y: "grad_a.defined() ? (grad_b.defined() ? grad_a * 2 * x * y + grad_b * x * x : grad_a * 2 * x * y) : grad_b * x * x"
- func: seconds::grown(Tensor self) -> Tensor
  dispatch: {CPU: grown}
  fake: {like: self}
  derivatives: {self: grad * result.conj()}
- func: seconds::grown_(Tensor(a!) self) -> Tensor(a!)
  dispatch: {CPU: grown_}
  vmap: loop
- func: seconds::squared_(Tensor(a!) self, Tensor by) -> Tensor(a!)
  dispatch: {CPU: squared_}
  vmap: loop
  derivatives:
    self: grad * 2 * self * by
    by: grad * self * self
- func: seconds::chosen(Tensor x, Tensor? w, int n) -> Tensor
  dispatch: {CPU: chosen}
  fake: {like: x}
  derivatives:
    x: "n > 1 ? (w.defined() ? grad * 2 * x * w : grad * 2 * x) : grad * x.cos()"
    w: "n > 1 ? grad * x * x : grad * 0"
- func: seconds::noted(Tensor x, Tensor(a!) seen, Tensor(b!)? more) -> (Tensor a, Tensor b)
  dispatch: {CPU: noted}
  fake: {a: {like: x}, b: {like: x}}
  derivatives:
    x: grad_a * a + grad_b * 2 * x
- func: seconds::total(Tensor[] xs, Tensor y) -> Tensor
  dispatch: {CPU: total}
  fake: {like: y}
  derivatives:
    xs: seconds::total_backward(grad * y, xs)
    y: grad * result / y
- func: seconds::total_backward(Tensor grad, Tensor[] xs) -> Tensor[]
  dispatch: {CompositeImplicitAutograd: total_backward}
- func: seconds::parts(Tensor x, Tensor y) -> Tensor[]
  dispatch: {CPU: parts}
  fake: {like: x, count: 2}
  derivatives:
    x: grads[0] * 2 * x * y + grads[1] * result[1] / x
    y: grads[0] * x * x + grads[1] * 2 * x * y
- func: seconds::row(Tensor(a) x, int i) -> Tensor(a)
  dispatch: {CPU: row}
  fake: {view: x, shape: [x.size(1)], stride: [x.stride(1)], offset: x.storage_offset() + i * x.stride(0)}
  derivatives: {x: "grad.unsqueeze(0) * (arange(x.size(0)) == i).unsqueeze(1)"}
- func: seconds::once(Tensor x) -> Tensor
  dispatch: {CPU: once}
  fake: {like: x}
  derivatives: {x: 'seconds::once_backward(grad, x)'}
- func: seconds::once_backward(Tensor g, Tensor x) -> Tensor
  dispatch: {CPU: once_backward}
  fake: {like: x}
- func: seconds::cubed(Tensor x) -> Tensor
  dispatch: {CPU: cubed}
  fake: {like: x}
  derivatives: auto
  samples:
    calls: [(randn(3))]
    reference: x * x * x
"""
PROGRAM = """
import warnings
import pytest
import torch
from torch.autograd import gradcheck, gradgradcheck
import {package}

warnings.filterwarnings("ignore")
ops = torch.ops.seconds


def new(*shape, dtype=torch.double):
    return torch.randn(*shape or (3,), dtype=dtype, requires_grad=True)


def checked(function, *inputs):
    for forward in (False, True):
        gradcheck(function, inputs, check_forward_ad=forward)
        gradgradcheck(function, inputs, check_fwd_over_rev=forward)


x, y, z, m = new(), new(), new(), new(2, 3)
w = new(dtype=torch.cdouble)
plain = torch.zeros(3, dtype=torch.double)
checked(ops.two, x, y)
for index in (0, 1):
    checked(lambda x, y: ops.two(x, y)[index], x, y)
    checked(lambda x, y: ops.asked(x, y)[index], x, y)
    checked(lambda x, y: ops.parts(x, y)[index], x, y)
    checked(lambda x: ops.noted(x, plain.clone(), None)[index], x)
checked(ops.asked, x, y)
checked(ops.parts, x, y)
checked(lambda x: ops.noted(x, plain.clone(), plain.clone()), x)
checked(lambda x: ops.first(x)[0], x)
checked(ops.grown, x)
checked(ops.grown, w)
checked(lambda x: ops.grown_(x * 1), x)
checked(lambda x: ops.squared_(x * 1, x), x)
checked(lambda x, y: ops.squared_(x * 1, y), x, y)


def written_view(m, y):
    whole = m * 1
    ops.squared_(whole[1], y)
    ops.grown_(whole[0])
    return whole


checked(written_view, m, y)
for n in (1, 2):
    checked(lambda x, y: ops.chosen(x, y, n), x, y)
    checked(lambda x: ops.chosen(x, None, n), x)
checked(lambda x, y, z: ops.total([x, y, x], z), x, y, z)
checked(lambda x, y: ops.total([x, plain + 2], y), x, y)
checked(lambda m: ops.row(m, 1) * m, m)
checked(ops.cubed, x)
checked(lambda m: torch.vmap(ops.grown_)(m * 1), m)
checked(lambda m, y: torch.vmap(ops.squared_, (0, None))(m * 1, y), m, y)
with pytest.raises(RuntimeError, match="once_backward"):
    gradgradcheck(ops.once, x)
gradcheck(ops.once, x)
"""
