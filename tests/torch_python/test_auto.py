"""`derivatives: auto`: gradients of references are those of formulas that are written by hand."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.torch_python.generated import run_program, write_package

pytestmark = pytest.mark.torch

CONFIG = """\
schema = ["ops.yaml"]
targets = ["torch-python"]
[target.torch-python]
kernels = ["kern"]
package = "my_ops"
"""
# Each operator twice, with the same kernel.
ENTRIES = """\
- func: my::normed{0}(Tensor x, Tensor? w=None, *, float eps=0.5) -> (Tensor out, Tensor rstd)
  dispatch: {{CPU: normed}}
  fake:
    out: {{like: x}}
    rstd: {{like: x, shape: "with_size(x, -1, 1)"}}
  derivatives: {1}
  samples:
    calls: [(randn(3))]
    reference: >-
      (x * ((x * x).mean(-1, True) + eps).rsqrt() * (1.0 if w is None else w),
      ((x * x).mean(-1, True) + eps).rsqrt())
- func: my::spread{0}(Tensor x, Tensor y, float s=1.0) -> Tensor
  dispatch: {{CPU: spread}}
  fake: {{shape: "broadcast(x, y)"}}
  derivatives: {2}
  samples:
    calls:
      - (randn(3), randn(3))
    reference: x * torch.exp(y) * s
"""
NORMED = """
    let: {scaled: "w.defined() ? grad_out * w : grad_out", inner: "(scaled * x).sum(-1, true) + grad_rstd"}
    x: scaled * rstd - x * inner * rstd.pow(3) / x.size(-1)
    w: grad_out * x * rstd"""
SPREAD = """
    x: grad * y.exp() * s
    y: grad * result"""
KERNELS = """\
def normed(x, w, *, eps):
    rstd = ((x * x).mean(-1, True) + eps).rsqrt()
    return x * rstd * (1.0 if w is None else w), rstd


def spread(x, y, s):
    return x * y.exp() * s
"""
COMPARED = """
import torch
import my_ops as ops

torch.manual_seed(0)
x, w, y = (torch.randn(*size, dtype=torch.float64, requires_grad=True) for size in ((2, 3), (3,), (2, 1)))
v = torch.randn(2, 3, dtype=torch.float64)
CALLS = {
    "both results": (lambda f: f(x, w, eps=0.25), ops.normed, ops.normed_by_hand),
    "one result": (lambda f: f(x, w)[1], ops.normed, ops.normed_by_hand),
    "an absent weight": (lambda f: f(x), ops.normed, ops.normed_by_hand),
    "broadcast": (lambda f: f(x, y, 2.0), ops.spread, ops.spread_by_hand),
    "one from the other": (lambda f: f(x, x[:, :1] * y), ops.spread, ops.spread_by_hand),
}

def gradients(call, f):
    results = call(f)
    total = sum((r * r).sum() for r in (results if isinstance(results, tuple) else (results,)))
    first = torch.autograd.grad(total, (x, w, y), create_graph=True, allow_unused=True)
    second = torch.autograd.grad(sum((g * g).sum() for g in first if g is not None), x)
    return [*first, *second]

for name, (call, *both) in CALLS.items():
    found, wanted = (gradients(call, f) for f in both)
    is_none = [g is None for g in found]
    same = [g is None or torch.allclose(g, h) for g, h in zip(found, wanted) if h is not None]
    print(name, is_none == [h is None for h in wanted], all(same), len(same))
"""


@pytest.fixture(scope="module")
def both(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The package with each operator twice."""
    folder = tmp_path_factory.mktemp("both")
    by_hand = ENTRIES.format("_by_hand", NORMED, SPREAD)
    (folder / "ops.yaml").write_text(ENTRIES.format("", "auto", "auto") + by_hand)
    (folder / "kern.py").write_text(KERNELS)
    (folder / "torchgen_lite.toml").write_text(CONFIG)
    write_package(folder)
    return folder


def test_they_are_those_of_formulas(both: Path) -> None:
    assert run_program(both, COMPARED).splitlines() == [
        "both results True True 3",
        "one result True True 3",
        "an absent weight True True 2",
        "broadcast True True 3",
        "one from the other True True 3",
    ]


# A pull of `torch.func.vjp` is called after its level has ended: as it is, and in each transform.
PULLED = """
import warnings
import torch
import my_ops as ops
from torch.func import grad, hessian, jacfwd, jacrev, jvp, vjp, vmap
from torch.utils._pytree import tree_leaves

# PyTorch's own: it loops over batches.
warnings.filterwarnings("ignore", "There is a performance drop", UserWarning)
torch.manual_seed(0)
x, v, w, y = (torch.randn(3, dtype=torch.float64) for _ in range(4))
batch = torch.randn(2, 3, dtype=torch.float64)

def pull(f):
    pulled = vjp(f, x)[1]
    return lambda c: pulled(c)[0]

def pulls_inside(f):
    return lambda c: vjp(lambda z: vjp(f, z)[1](v)[0], x)[1](c)[0]

def total(p):
    return lambda c: p(c).pow(2).sum()

PULLS = {
    "pull": pull,
    "pull of a pull": lambda f: pull(pull(f)),
    "pull of what pulls": lambda f: pull(lambda z: vjp(f, z)[1](v)[0]),
    "pulls inside": pulls_inside,
}
OVER = {
    "call": lambda p: p(v),
    "jvp": lambda p: jvp(p, (v,), (w,)),
    "vjp": lambda p: vjp(p, v)[1](w),
    "grad": lambda p: grad(total(p))(v),
    "vmap": lambda p: vmap(p)(batch),
    "jacrev": lambda p: jacrev(p)(v),
    "jacfwd": lambda p: jacfwd(p)(v),
    "hessian": lambda p: hessian(total(p))(v),
    "vmap of jvp": lambda p: vmap(lambda c: jvp(p, (c,), (w,))[1])(batch),
    "vmap of grad": lambda p: vmap(grad(total(p)))(batch),
}
wrong = []
for name, pulled in PULLS.items():
    for over, transform in OVER.items():
        wanted = transform(pulled(lambda x: x * (x * y).exp() * 0.5))
        try:
            found = transform(pulled(lambda x: ops.spread(x, x * y, 0.5)))
            pairs = zip(tree_leaves(found), tree_leaves(wanted), strict=True)
            if not all(torch.allclose(a, b) and a.requires_grad == b.requires_grad for a, b in pairs):
                wrong.append((name, over))
        except RuntimeError as error:
            wrong.append((name, over, str(error)[:80]))
print(wrong)
"""


def test_pulls_are_transformed_after_their_level_has_ended(both: Path) -> None:
    assert run_program(both, PULLED).strip() == "[]"


# The kernel of this operator is its reference, so that PyTorch's own gradients are those that are wanted.
CAST = """\
- func: my::product(Tensor x, Tensor y) -> Tensor
  dispatch: {CPU: product}
  fake: {like: x}
  derivatives: auto
  samples:
    calls:
      - (randn(3, 3), randn(3, 3))
    reference: torch.tanh(x @ y)
"""
CASTING = """
import itertools
import warnings
import torch
import my_ops as ops

x, y = (torch.randn(3, 3, requires_grad=True) for _ in range(2))
dtypes = (None, torch.bfloat16, torch.float16)

def gradients(f, at_call, at_backward):
    with torch.autocast("cpu", at_call, enabled=at_call is not None):
        total = (f(x, y) ** 2).sum()
    with torch.autocast("cpu", at_backward, enabled=at_backward is not None):
        return torch.autograd.grad(total, (x, y))

def transformed(f, at_call, at_backward):
    with torch.autocast("cpu", at_call, enabled=at_call is not None):
        _, pull = torch.func.vjp(f, x, y)
    with torch.autocast("cpu", at_backward, enabled=at_backward is not None):
        return pull(torch.ones_like(f(x, y)))

for take in (gradients, transformed):
    for states in itertools.product(dtypes, dtypes):
        found, wanted = (take(f, *states) for f in (ops.product, lambda x, y: (x @ y).tanh()))
        print(*states, [torch.equal(g, w) for g, w in zip(found, wanted)])

# A state that `torch.autocast` does not make: it warns, and casts nothing.
warnings.simplefilter("ignore")
torch.set_autocast_enabled("cpu", True)
torch.set_autocast_dtype("cpu", torch.float32)
total = ops.product(x, y).sum()
torch.set_autocast_enabled("cpu", False)
found, wanted = torch.autograd.grad(total, (x, y)), torch.autograd.grad((x @ y).tanh().sum(), (x, y))
print([torch.equal(g, w) for g, w in zip(found, wanted)])
"""


def test_the_autocast_is_that_of_the_call(tmp_path: Path) -> None:
    (tmp_path / "ops.yaml").write_text(CAST)
    (tmp_path / "kern.py").write_text("def product(x, y):\n    return (x @ y).tanh()\n")
    (tmp_path / "torchgen_lite.toml").write_text(CONFIG)
    write_package(tmp_path)
    said = run_program(tmp_path, CASTING).splitlines()
    assert len(said) == 19 and [line for line in said if "[True, True]" not in line] == []
