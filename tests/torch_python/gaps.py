"""A library with gradients of `Tensor?[]`, and a program that checks them, for each target with PyTorch."""

from __future__ import annotations

ENTRIES = """\
- func: gaps::total(Tensor x, Tensor?[] ws, float s=0.5) -> Tensor
  dispatch: {CPU: total}
  fake: {like: x}
  derivatives:
    x: grad * gaps::weight(x, ws, s)
    ws: gaps::weights_grad(grad * x, ws, s)
- func: gaps::weight(Tensor x, Tensor?[] ws, float s) -> Tensor
  dispatch: {CompositeImplicitAutograd: weight}
- func: gaps::weights_grad(Tensor grad, Tensor?[] ws, float s) -> Tensor[]
  dispatch: {CompositeImplicitAutograd: weights_grad}
- func: gaps::scale_(Tensor(a!) self, Tensor?[] ws, Tensor[] more) -> Tensor(a!)
  dispatch: {CPU: scale_}
  derivatives:
    self: grad * gaps::weight(grad, ws, 1.0)
    ws: gaps::weights_grad(grad * self, ws, 1.0)
    more: gaps::copies(grad, more)
- func: gaps::copies(Tensor grad, Tensor[] more) -> Tensor[]
  dispatch: {CompositeImplicitAutograd: copies}
"""
# Each list is made of what is left out, what needs no gradient, and what does.
PROGRAM = """
import warnings
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
import {package}

total, scale_ = torch.ops.gaps.total, torch.ops.gaps.scale_


def new(kind):
    if kind == "absent":
        return None
    return torch.randn(3, dtype=torch.double, requires_grad=kind == "wanted")


def wanted_total(x, ws, s=0.5):
    return x * (1 + s * sum(w * w for w in ws if w is not None))


def wanted_scale_(y, ws, more):
    return wanted_total(y, ws, 1.0) + sum(more)


def gradients(function, *given):
    leaves = torch.utils._pytree.tree_leaves(given)
    needed = [one for one in leaves if one is not None and one.requires_grad]
    result = function(*given)
    assert result.requires_grad == bool(needed)
    return torch.autograd.grad(result.sin().sum(), needed) if needed else ()


KIND = st.sampled_from(["absent", "constant", "wanted"])
PRESENT = st.sampled_from(["constant", "wanted"])
CHECKED = settings(max_examples=20, deadline=None, database=None, derandomize=True)


@CHECKED
@given(PRESENT, st.lists(KIND, max_size=4))
def check_total(of_x, kinds):
    x, ws = new(of_x), [new(kind) for kind in kinds]
    torch.testing.assert_close(total(x, ws), wanted_total(x, ws))
    torch.testing.assert_close(gradients(total, x, ws), gradients(wanted_total, x, ws))

    def call(*given):
        left = iter(given[1:])
        return total(given[0], [None if w is None else next(left) for w in ws])

    inputs = (x, *[w for w in ws if w is not None])
    if any(one.requires_grad for one in inputs):
        torch.autograd.gradcheck(call, inputs, check_forward_ad=True)
        torch.autograd.gradgradcheck(call, inputs)


@CHECKED
@given(st.lists(KIND, max_size=3), st.lists(PRESENT, min_size=1, max_size=2))
def check_written(of_ws, of_more):
    ws, more = [new(kind) for kind in of_ws], [new(kind) for kind in of_more]
    y = new("wanted")
    found = gradients(lambda *given: scale_(given[0] * 1, *given[1:]), y, ws, more)
    torch.testing.assert_close(found, gradients(wanted_scale_, y, ws, more))


check_total()
check_written()
x, w = new("wanted"), new("wanted")
functions = [lambda w, call=call: call(x, [None, w, None]).sin().sum() for call in (total, wanted_total)]
torch.testing.assert_close(*[torch.func.grad(function)(w) for function in functions])
torch.testing.assert_close(*[torch.func.jvp(function, (w,), (x,)) for function in functions])
compiled = torch.compile(lambda x, w: total(x, [w, None, w]), backend="aot_eager", fullgraph=True)
torch.testing.assert_close(gradients(compiled, x, w), gradients(lambda x, w: wanted_total(x, [w, None, w]), x, w))
with warnings.catch_warnings():
    # From 2.15 on, it reads gradients that it does not keep.
    warnings.filterwarnings("ignore", "The .grad attribute of a Tensor that is not a leaf")
    torch.library.opcheck(total.default, (x, [None, w], 0.25))
"""
