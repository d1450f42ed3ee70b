"""Operators that are views, beside PyTorch's functions that give the same: for kernels in Python, and for those in C++.

An operator that takes symbolic numbers and one with several results are two that PyTorch's own kernels for views of
custom operators refuse.
"""

from __future__ import annotations

ENTRIES = """\
- func: vw::tail(Tensor(a) x, SymInt n) -> Tensor(a)
  dispatch: {CPU: tail}
  fake:
    view: x
    shape: with_size(x, 0, x.size(0) - n)
    stride: x.stride()
    offset: x.storage_offset() + n * x.stride(0)
- func: vw::shaped(Tensor(a) x, SymInt[] shape) -> Tensor(a)
  dispatch: {CPU: shaped}
  fake: {view: x, shape: shape}
- func: vw::corner(Tensor(a) x) -> Tensor(a)
  dispatch: {CPU: corner}
  fake: {view: x, shape: [2, 2], stride: x.stride()}
- func: vw::halves(Tensor(a) x) -> (Tensor(a) first, Tensor(a) second)
  dispatch: {CPU: halves}
  fake:
    first:
      view: x
      shape: with_size(x, 0, floor_div(x.size(0), 2))
      stride: x.stride()
    second:
      view: x
      shape: with_size(x, 0, floor_div(x.size(0), 2))
      stride: x.stride()
      offset: x.storage_offset() + floor_div(x.size(0), 2) * x.stride(0)
- func: vw::both(Tensor(a) x, Tensor(b) y) -> (Tensor(a), Tensor(b))
  dispatch: {CPU: both}
  fake:
    - {view: x, shape: [2, 2], stride: x.stride()}
    - {view: y, shape: [2, 2], stride: y.stride()}
"""

KERNELS = """\
def tail(x, n):
    return x[n:]


def shaped(x, shape):
    return x.view(shape)


def corner(x):
    return x[:2, :2]


def halves(x):
    return x[:2], x[2:4]


def both(x, y):
    return x[:2, :2], y[:2, :2]
"""

IN_CPP = """\
#include <ATen/ATen.h>

namespace vw {

at::Tensor tail(const at::Tensor& x, int64_t n) {
  return x.slice(0, n);
}

at::Tensor shaped(const at::Tensor& x, at::IntArrayRef shape) {
  return x.view(shape);
}

at::Tensor corner(const at::Tensor& x) {
  return x.slice(0, 0, 2).slice(1, 0, 2);
}

std::tuple<at::Tensor, at::Tensor> halves(const at::Tensor& x) {
  return {x.slice(0, 0, 2), x.slice(0, 2, 4)};
}

std::tuple<at::Tensor, at::Tensor> both(const at::Tensor& x, const at::Tensor& y) {
  return {corner(x), corner(y)};
}

at::Tensor squared(const at::Tensor& x) {
  return x * x;
}

} // namespace vw

#include <vw/verify_kernels.h>
"""

# The operators and PyTorch's functions, of a matrix of four rows and three columns.
PAIRS = """
import torch
from torch.func import functionalize, grad, hessian, jacfwd, jvp, vmap
from torch.utils._pytree import tree_leaves

ops = torch.ops.vw
PAIRS = {
    "tail": (lambda x: ops.tail(x, 1), lambda x: x[1:]),
    "shaped": (lambda x: ops.shaped(x, [2, 6]), lambda x: x.view(2, 6)),
    "corner": (ops.corner, lambda x: x[:2, :2]),
    "halves": (ops.halves, lambda x: (x[:2], x[2:4])),
    "both": (lambda x: ops.both(x, x * 2), lambda x: (x[:2, :2], (x * 2)[:2, :2])),
}

def total(f):
    return lambda x: sum((part * (i + 2)).sin().sum() for i, part in enumerate(tree_leaves(f(x))))

def backward(f, x):
    x = x.detach().requires_grad_()
    return torch.autograd.grad(total(f)(x), x)

def written(f):
    # What is written to a view is in its base, with its history.
    def base(x):
        y = x * 1
        first = tree_leaves(f(y))[0]
        version = y._version
        first.mul_(2)
        assert y._version == first._version == version + 1
        return y
    return base

def written_compiled(f, x):
    def base(x):
        y = x * 1
        tree_leaves(f(y))[0].mul_(2)
        return y
    return torch.compile(base, backend="aot_eager", fullgraph=True, dynamic=True)(x)
"""

TREATED = """
batch = torch.randn(5, 2, 12, dtype=torch.double, generator=torch.Generator().manual_seed(0))
# Views of views, with an offset; items of the batch lie in the middle.
many = batch[1:4, 1].unflatten(-1, (4, 3))
x = many[1]
TREATMENTS = {
    "call": lambda f: f(x),
    "no_grad": lambda f: torch.no_grad()(f)(x),
    "inference_mode": lambda f: [part.clone() for part in tree_leaves(torch.inference_mode()(f)(x))],
    "backward": lambda f: backward(f, x),
    "grad": lambda f: grad(total(f))(x),
    "hessian": lambda f: hessian(total(f))(x),
    "jvp": lambda f: jvp(f, (x,), (x.exp(),)),
    "jacfwd": lambda f: jacfwd(f)(x),
    "vmap": lambda f: vmap(f)(many.contiguous()),
    "vmap of parts": lambda f: vmap(f, in_dims=1, out_dims=1)(many.movedim(0, 1).contiguous()),
    "vmap nested": lambda f: vmap(vmap(f))(many.expand(2, 3, 4, 3).contiguous()),
    "vmap of grad": lambda f: vmap(grad(total(f)))(many.contiguous()),
    "grad of vmap": lambda f: grad(total(vmap(f)))(many.contiguous()),
    "vmap, written": lambda f: vmap(lambda x: (lambda y: (tree_leaves(f(y))[0].mul_(2), y))(x.clone()))(many),
    "written": lambda f: written(f)(x),
    "written under no_grad": lambda f: torch.no_grad()(written(f))(x),
    "written, backward": lambda f: backward(written(f), x),
    "functionalize": lambda f: functionalize(f)(x),
    "compiled": lambda f: torch.compile(f, backend="aot_eager", fullgraph=True)(x),
    "compiled, written": lambda f: written_compiled(f, x),
}
wrong = []
for name, (f, g) in PAIRS.items():
    for how, treatment in TREATMENTS.items():
        torch._dynamo.reset()
        try:
            wanted = tree_leaves(treatment(g))
        except RuntimeError:
            # A shape that has no view.
            assert (name, how) == ("shaped", "vmap of parts")
            continue
        try:
            found = tree_leaves(treatment(f))
        except Exception as error:
            wrong.append((name, how, str(error)[:200]))
            continue
        same = len(found) == len(wanted) and all(map(torch.equal, found, wanted))
        if not same:
            wrong.append((name, how))
print(wrong)
"""
