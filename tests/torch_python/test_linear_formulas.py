"""Forward mode of random formulas: tangents that agree with the gradients, or a refusal that names the operator.

A formula is linear in the gradient or is no derivative. Many that are not look as if they were, so the formulas here are
made of functions that are linear in one operand, in all of them together, or in none; and of the author's operators and
helpers, of which nothing is known before a call.
"""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest

from tests.torch_python.generated import run_program, write_package

pytestmark = pytest.mark.torch

CONFIG = """\
schema = ["ops.yaml"]
targets = ["torch-python"]
[target.torch-python]
package = "my_ops"
kernels = ["kern"]
formulas = ["helpers"]
"""
# What formulas call beside PyTorch's functions: an operator that is linear, and one that only looks so.
OPERATORS = """\
- func: my::tripled(Tensor g) -> Tensor
  dispatch: {CPU: tripled}
  derivatives: {g: grad * 3}
- func: my::shifted(Tensor g) -> Tensor
  dispatch: {CPU: shifted}
  derivatives: {g: grad}
"""
HELPERS = """\
import torch

def doubled(g):
    return g * 2

def masked(g, y):
    return torch.where(y > 0.5, g, 0)

def squared(g):
    return g * g

def halved_above(g):
    return torch.where(g > 0.3, g / 2, g)

def hidden(g):
    return g - g.detach()

def offset(y):
    return y

def nothing(y):
    return y * 0
"""
ENTRY = """\
- func: my::f{0}(Tensor x, Tensor y, float s) -> Tensor
  dispatch: {{CPU: f}}
  derivatives:
    x: {1}
    y: not_differentiable
"""
KERNELS = """\
def f(x, y, s):
    return x * y

def tripled(g):
    return g * 3

def shifted(g):
    return g + 1
"""
# What is not linear, but may be in one formula: of a zero, of the same twice, on one side of a condition.
MAYBE = (
    "abs amax clamp copysign detach fmin halved_above hidden hypot item maximum nan_to_num norm relu sort squared zeros_like"
    " where(grad s>0"
).split()
LEAVES = ["grad", "grad", "grad", "y", "ones_like(grad)", "zeros_like(grad)", "y.exp()", "s * y"]
OF_ONE = (
    "-{0}|{0} * s|{0}.neg()|{0}.flip({{0}})|{0}.cumsum(1)|{0}.roll(1, 0)|{0}.reshape({{3, 2}}).view({{2, 3}})|tril({0})"
    "|{0}.t().contiguous().t()|{0}.sum({{0}}, true).expand({{2, 3}})|{0}.index_select(0, y.sort(0)[1].select(1, 0))"
    "|{0}.conj()|{0}.to(y.dtype)|{0}.mean() * y|{0}.detach()|{0}.abs()|{0}.clamp(-0.2, 0.2)|{0}.sort(0)[0]|{0}.relu()"
    "|{0}.amax({{0}}).expand({{2, 3}})|{0}.norm() * y|{0}.sum().item() * y|{0}.masked_fill(y > 0.5, 0)|{0} * {0}.numel()"
    "|{0}.masked_fill(y > 0.5, 1)|doubled({0})|masked({0}, y)|squared({0})|halved_above({0})|hidden({0})|tripled({0})"
    "|shifted({0})|{0}.nan_to_num()|{0}.mm(y.t()).mm(y)|constant_pad_nd({0}, {{1, 0}}, 0).narrow(1, 0, 3)"
    "|{0}.unbind(0)[0].expand({{2, 3}})|{0}.gather(0, y.sort(0)[1])"
).split("|")
OF_TWO = (
    "{0} + {1}|{0} - {1}|{0} * {1}|{0} / ({1} + 3)|{0}.add({1})|sub({0}, {1})|rsub({0}, {1})|mul({0}, {1})"
    "|where(y > 0.5, {0}, {1})|where({0} > 0.1, {0}, {1})|maximum({0}, {1})|{0}.fmin({1})|{0}.hypot({1})"
    '|{0}.lerp({1}, 0.25)|addcmul({0}, {1}, y)|addcdiv({0}, {1}, y)|einsum("ij,ij->ij", {{{0}, {1}}})'
    "|cat({{{0}, {1}}}, 0).narrow(0, 1, 2)|stack({{{0}, {1}}}, 0).sum({{0}})|{0} + offset({1})|{0} + nothing(y) * {1}"
    "|{0}.copysign({1})|{0}.expand_as({1})|s > 0 ? {0} : {1}|{0}.where(y > 0.5, {1})|masked({0}, {1})"
    "|{0}.index_add(0, y.sort(0)[1].select(1, 0), {1})|{0}.scatter(0, y.sort(0)[1], {1})|{0} * {1}.sum()"
).split("|")


def made(rng: random.Random, depth: int) -> str:
    """A formula whose value is a 2 x 3 matrix."""
    if depth == 0:
        return rng.choice(LEAVES)
    if rng.random() < 0.5:
        return f"({rng.choice(OF_ONE).format(made(rng, depth - 1))})"
    return f"({rng.choice(OF_TWO).format(made(rng, depth - 1), made(rng, depth - 1))})"


def formulas(count: int, seed: int) -> list[str]:
    """Each part alone, and random ones."""
    rng = random.Random(seed)
    every = [part.format("grad", other) for part in OF_ONE + OF_TWO for other in ("y", "grad")]
    found = dict.fromkeys(every)
    while len(found) < count:
        text = made(rng, rng.choice((1, 2, 2, 3)))
        if "grad" in text:
            found[text] = None
    return list(found)


PROGRAM = """
import json, warnings
import torch
import my_ops

warnings.simplefilter("ignore")
torch.manual_seed(0)
x, c, d, t = (torch.randn(2, 3, dtype=torch.double) for _ in range(4))
y = torch.rand(2, 3, dtype=torch.double)
REFUSALS = ("has no formula for forward-mode", "has no derivatives")

def tried(of, *args):
    try:
        return of(*args)
    except (RuntimeError, NotImplementedError) as error:
        return str(error)

def judged(index):
    f = lambda x: getattr(torch.ops.my, f"f{index}")(x, y, 0.5)
    def back(at):
        a = x.clone().requires_grad_()
        (found,) = torch.autograd.grad(f(a), a, at, allow_unused=True)
        return torch.zeros_like(a) if found is None else found
    gradient = tried(back, c)
    if isinstance(gradient, str):
        return "raises", gradient
    total = back(c) + 2 * back(d)
    is_linear = torch.allclose(total, back(c + 2 * d)) and torch.allclose(back(0 * c), 0 * c)
    forward = tried(lambda: torch.func.jvp(f, (x,), (t,))[1])
    if isinstance(forward, str):
        is_named = any(refusal in forward for refusal in REFUSALS)
        return f"refused, {'linear' if is_linear else 'curved'}" if is_named else "raises", forward
    is_right = torch.allclose((forward * c).sum(), (gradient * t).sum())
    return "right" if is_right else "wrong", ""

print(json.dumps([judged(index) for index in range(COUNT)]))
"""


def test_tangents_agree_with_gradients_or_are_refused(tmp_path: Path) -> None:
    written = formulas(150, seed=0)
    entries = [ENTRY.format(i, json.dumps(text)) for i, text in enumerate(written)]
    (tmp_path / "ops.yaml").write_text(OPERATORS + "".join(entries))
    (tmp_path / "kern.py").write_text(KERNELS)
    (tmp_path / "helpers.py").write_text(HELPERS)
    (tmp_path / "torchgen_lite.toml").write_text(CONFIG)
    write_package(tmp_path)
    found = json.loads(run_program(tmp_path, PROGRAM.replace("COUNT", str(len(written)))))
    by_verdict: dict[str, list[str]] = {}
    for text, (verdict, said) in zip(written, found, strict=True):
        by_verdict.setdefault(verdict, []).append(f"{text}: {said}" if said else text)
    assert by_verdict.get("wrong", []) == []
    assert by_verdict.get("raises", []) == []
    assert len(by_verdict["right"]) > 40
    assert len(by_verdict["refused, curved"]) > 40
    linear = [text.replace(" ", "") for text in by_verdict["refused, linear"]]
    assert [text for text in linear if not any(word in text for word in MAYBE)] == []
