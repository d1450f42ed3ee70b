"""`torch.func` and forward mode: what PyTorch's own functions give, or a refusal that names the operator."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from tests.torch_python.generated import run_program
from tests.torch_python.test_project import project as project

pytestmark = pytest.mark.torch

# Each function beside what it computes, and how functions are transformed.
SETUP = """
import warnings
import torch
import tl_ops_ops as ops
from torch.autograd import forward_ad
from torch.func import grad, hessian, jacfwd, jacrev, jvp, vjp, vmap
from torch.utils._pytree import tree_leaves

# PyTorch's own: it compiles decompositions for forward mode, and loops over batches.
warnings.filterwarnings("ignore", "`torch.jit")
warnings.filterwarnings("ignore", "There is a performance drop", UserWarning)

x, v = torch.tensor([1.0, 2.0, 3.0]), torch.tensor([1.0, -1.0, 0.5])
batch = torch.stack([x, v])

def rstd(x, eps):
    return (x * x).mean(-1, True).add(eps).rsqrt()

def in_place(x, f=ops.twice_):
    y = x * 1.0
    f(y, x)
    return y

PAIRS = {
    "muladd": (lambda x: ops.muladd(x, x, 1.0), lambda x: x * x + 1.0),
    "broadcast": (lambda x: ops.muladd(x, x[:1], 1.0), lambda x: x * x[:1] + 1.0),
    "minmax": (lambda x: x * ops.minmax(x)[1] + ops.minmax(x * x)[0], lambda x: x * x.amax() + (x * x).amin()),
    "list": (lambda x: ops.weighted_sum([x, x * x, v], scale=3.0), lambda x: 3 * (x + x * x + v)),
    "in_place": (in_place, lambda x: 2 * x * x),
    "left_out": (lambda x: ops.squared_(x * 1.0), lambda x: x * x),
    "weight": (lambda x: ops.squared_(v * 1.0, x), lambda x: v * v * x),
    "written": (lambda x: ops.twice(x, x, s=3.0), lambda x: 3 * x * x),
    "helper": (ops.silu, torch.nn.functional.silu),
    "auto": (lambda x: ops.spread(x, (x * x)[:1]), lambda x: x * (x * x)[:1].exp()),
    "auto, results": (lambda x: ops.normed(x)[0] * ops.normed(x, x * v, eps=0.25)[1], lambda x: x * rstd(x, 0.5) * rstd(x, 0.25)),
    "auto, one result": (lambda x: x + ops.normed(x, v)[1], lambda x: x + rstd(x, 0.5)),
    "auto, list": (lambda x: sum(ops.cubes([x, x * x], torch.arange(3), x)), lambda x: x.pow(3) + x.pow(6)),
    "view": (lambda x: ops.diagonal_view(x.outer(x)), lambda x: x * x),
}
# Their formulas have no gradients, so that tangents are not derived from them.
WORDS = {
    "auto_linear": (lambda x: x * ops.halved(x, 2), lambda x: x * x / 2),
    "auto_element_wise": (ops.waves, torch.sin),
}

def dual(f):
    with forward_ad.dual_level():
        return list(forward_ad.unpack_dual(f(forward_ad.make_dual(x, v))))

def dual_over_gradient(f):
    with forward_ad.dual_level():
        both = forward_ad.make_dual(x.clone().requires_grad_(), v)
        (found,) = torch.autograd.grad((f(both) * both).sum(), both, create_graph=True)
        return list(forward_ad.unpack_dual(found))

def total(f):
    return lambda x: (f(x) * x).sum()

def same(f, g):
    return all(torch.allclose(a, b) for a, b in zip(tree_leaves(f), tree_leaves(g), strict=True))
"""

TRANSFORMS = """
TRANSFORMS = {
    "grad": lambda f: grad(total(f))(x),
    "grad of grad": lambda f: grad(lambda x: grad(total(f))(x).pow(2).sum())(x),
    "vjp": lambda f: vjp(f, x)[1](v),
    "jacrev": lambda f: jacrev(f)(x),
    "jvp": lambda f: jvp(f, (x,), (v,)),
    "jacfwd": lambda f: jacfwd(f)(x),
    "hessian": lambda f: hessian(total(f))(x),
    "forward over forward": lambda f: jvp(lambda x: jvp(f, (x,), (v,))[1], (x,), (v,)),
    "backward over forward": lambda f: jacrev(lambda x: jvp(f, (x,), (v,))[1])(x),
    "forward over backward": lambda f: jvp(grad(total(f)), (x,), (v,)),
    "dual numbers": dual,
    "dual numbers over gradients": dual_over_gradient,
}
wrong = []
FORWARD = {"jvp", "jacfwd", "dual numbers"}
for of, (f, g) in (PAIRS | WORDS).items():
    for name, transform in TRANSFORMS.items():
        if of in WORDS and name not in FORWARD:
            continue
        try:
            if not same(transform(f), transform(g)):
                wrong.append((of, name))
        except RuntimeError as error:
            wrong.append((of, name, str(error)))
print(wrong)
"""


def test_transforms_give_what_those_of_pytorchs_functions_give(project: Path) -> None:
    assert ast.literal_eval(run_program(project, SETUP + TRANSFORMS)) == []


SHARED = """
def changed(x):
    y = ops.step(x)
    y.mul_(5.0)
    return x + y

ones = torch.ones(3)
print(jvp(changed, (x,), (ones,))[1].tolist(), ones.tolist())
with forward_ad.dual_level():
    print(forward_ad.unpack_dual(changed(forward_ad.make_dual(x, ones))).tangent.tolist(), ones.tolist())
"""


def test_a_tangent_is_not_shared(project: Path) -> None:
    """The formula passes on the gradient, so the tangent of the result is that of the argument."""
    assert run_program(project, SETUP + SHARED) == 2 * f"{3 * [6.0]} {3 * [1.0]}\n"


BATCHES = """
TRANSFORMS = {
    "gradients of samples": lambda f: vmap(grad(total(f)))(batch),
    "gradient of a batch": lambda f: grad(lambda x: vmap(f)(x).sum())(batch),
    "tangents of samples": lambda f: vmap(lambda x: jvp(f, (x,), (v,))[1])(batch),
}
TRANSFORMS["jacobians of samples"] = lambda f: vmap(jacrev(f))(batch)
for of in ("muladd", "auto", "auto, results"):
    f, g = PAIRS[of]
    print([name for name, transform in TRANSFORMS.items() if not same(transform(f), transform(g))])
"""


def test_batches_of_gradients(project: Path) -> None:
    assert run_program(project, SETUP + BATCHES) == 3 * "[]\n"


COMPILED = """
TRANSFORMS = {
    "grad": lambda f: grad(total(f))(x),
    "jvp": lambda f: jvp(f, (x,), (v,)),
    "hessian": lambda f: hessian(total(f))(x),
    "gradients of samples": lambda f: vmap(grad(total(f)))(batch),
    "dual numbers": dual,
}
wrong = []
for of, backend in (("muladd", "eager"), ("muladd", "aot_eager"), ("auto, results", "aot_eager")):
    f, g = PAIRS[of]
    for name, transform in TRANSFORMS.items():
        torch._dynamo.reset()
        found = torch.compile(lambda: transform(f), backend=backend, fullgraph=True)()
        if not same(found, transform(g)):
            wrong.append((of, backend, name))
print(wrong)
"""


def test_transforms_are_compiled(project: Path) -> None:
    assert run_program(project, SETUP + COMPILED) == "[]\n"


REFUSED = """
def attempt(call):
    try:
        print(call())
    except RuntimeError as error:
        print(error)

def forward(f):
    return lambda: dual(f)

for call in (
    forward(ops.shifted),
    forward(ops.opaque),
    forward(lambda x: ops.joined(v, [x])),
    forward(ops.twin),
    forward(lambda x: ops.chunks(x, 3)),
    forward(lambda x: ops.store(x, torch.zeros(3))),
    forward(lambda x: ops.scale_out(x, 2.0, out=torch.zeros(3))),
    forward(lambda x: in_place(x, ops.add_twice_)),
    lambda: jvp(ops.twin, (x,), (v,)),
    lambda: grad(lambda x: ops.twin(x).sum())(x),
    lambda: ops.twin(x.clone().requires_grad_()).sum().backward(),
    lambda: jvp(ops.fixed, (x,), (v,))[1].tolist(),
    lambda: grad(lambda x: in_place(x, ops.add_twice_).sum())(x),
):
    attempt(call)
"""


def test_what_has_no_derivative_is_refused_by_name(project: Path) -> None:
    without = "has no formula for forward-mode"
    lines = run_program(project, SETUP + REFUSED).splitlines()
    undeclared = [line for line in lines if " (ops.yaml:" in line]
    cure = "add `derivatives:`, or register the kernel as CompositeImplicitAutograd"
    assert len(undeclared) == 7 and all(line.endswith(cure) for line in undeclared)
    assert [line.partition(" (ops.yaml:")[0] for line in lines] == [
        f"tl_ops::shifted {without}: the formula of `x` is not linear in the gradient",
        f"tl_ops::opaque {without}: its formulas can't be differentiated",
        f"tl_ops::joined {without}: there is none for `ys`",
        f"tl_ops::twin {without}",
        f"tl_ops::chunks {without}",
        f"tl_ops::store {without}",
        f"tl_ops::scale.out {without}",
        "tl_ops::add_twice_ has no derivative with respect to other",
        f"tl_ops::twin {without}",
        "tl_ops::twin has no derivatives",
        "tl_ops::twin has no derivatives",
        "[0.0, 0.0, 0.0]",
        "tl_ops::add_twice_ has no derivative with respect to other",
    ]


def test_derivatives_may_be_registered_by_hand(project: Path) -> None:
    output = run_program(
        project,
        """
        import warnings
        import torch
        import tl_ops_ops as ops

        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            torch.library.register_autograd("tl_ops::twin", lambda ctx, grad: grad * 3)
        x = torch.ones(1, requires_grad=True)
        ops.twin(x).sum().backward()
        print(x.grad.tolist())
        """,
    )
    assert output == "[3.0]\n"
