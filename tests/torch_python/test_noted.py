"""Operators that write to buffers while they are differentiated, as batch norm writes its statistics.

One is compared with PyTorch's batch norm, the others with each other. The kernels write by NumPy, which moves no version.
One process does it all.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.torch_python.generated import run_program, run_python, write_package

pytestmark = pytest.mark.torch

ENTRIES = """\
- func: noted::norm(Tensor x, Tensor weight, Tensor(a!) mean, Tensor(b!)? var=None, float momentum=0.1, float eps=1e-5) -> (Tensor out, Tensor rstd)
  dispatch: {CPU: norm}
  fake:
    out: {like: x}
    rstd: {like: weight}
  derivatives:
    let:
      centered: x - x.mean({0})
      scale: (centered.square().mean({0}) + eps).rsqrt()
      normed: centered * scale
      scaled: grad_out * weight
    x: (scaled - scaled.mean({0}) - normed * (scaled * normed).mean({0})) * scale
    weight: (grad_out * normed).sum({0})
    output_differentiability: [True, False]
  samples:
    calls:
      - (randn(5, 3), randn(3), randn(3), rand(3))
      - (randn(5, 3), randn(3), randn(3))
- func: noted::states(Tensor(a!)[] states, Tensor x, Tensor[] more) -> Tensor
  dispatch: {CPU: states}
  fake: {like: x}
  derivatives:
    x: grad * 2
    more: '[grad * 3]'
  samples:
    calls:
      - ([randn(3), randn(3)], randn(3), [randn(3)])
"""
KERNELS = """\
def write(to, value):
    to.detach().numpy()[...] = value.detach().numpy()


def norm(x, weight, mean, var, momentum, eps):
    found = x.var(0, unbiased=False)
    rstd = (found + eps).rsqrt()
    write(mean, mean * (1 - momentum) + x.mean(0) * momentum)
    if var is not None:
        write(var, var * (1 - momentum) + x.var(0) * momentum)
    return (x - x.mean(0)) * rstd * weight, rstd


def states(states, x, more):
    total = x * 2 + more[0] * 3 + states[0]
    for state in states:
        write(state, x)
    return total
"""
CONFIG = """\
schema = ["ops.yaml"]
targets = ["torch-python"]
[target.torch-python]
kernels = ["kern"]
"""
PROGRAM = """
import json
import torch
import torch.nn.functional as F
import noted_ops
from torch.func import grad, hessian, jvp, vmap
from torch.utils.checkpoint import checkpoint

torch.set_default_dtype(torch.float64)
op = torch.ops.noted


def ours(x, weight, mean, var):
    return op.norm(x, weight, mean, var)[0]


def theirs(x, weight, mean, var):
    return F.batch_norm(x, mean, var, weight, None, True)


def inputs(needs=True):
    torch.manual_seed(0)
    x, weight = (torch.randn(*size, requires_grad=needs) for size in ((5, 3), (3,)))
    return x, weight, torch.randn(3), torch.rand(3)


def gradients(f):
    given, found = inputs(), []
    for _ in range(2):
        found += torch.autograd.grad(f(*given).sin().sum(), given[:2])
    return [*found, *given[2:]]


def second(f):
    given = inputs()
    once = torch.autograd.grad(f(*given).sin().sum(), given[:2], create_graph=True)
    return [*torch.autograd.grad(sum(one.sin().sum() for one in once), given[:2]), *given[2:]]


def training(f):
    given = inputs()
    optimizer = torch.optim.SGD(given[:2], 0.1)
    for step in range(5):
        optimizer.zero_grad()
        for part in range(2):
            (f(*given).sin() * (step + part)).sum().backward()
        optimizer.step()
    return [one.detach() for one in given]


def checkpointed(f):
    given = inputs()
    checkpoint(lambda x: f(x.sin(), *given[1:]).sin(), given[0], use_reentrant=False).sum().backward()
    return [given[0].grad, *given[2:]]


def transformed(f):
    given = inputs(False)
    value = lambda x: f(x, *given[1:]).sin().sum()
    return [grad(value)(given[0]), hessian(value)(given[0]), *jvp(value, given[:1], given[:1]), *given[2:]]


def functionalized(f):
    given = inputs(False)
    value = lambda x: f(x, *given[1:]).sin().sum()
    first = grad(torch.func.functionalize(value))(given[0])
    return [first, torch.func.functionalize(grad(value))(given[0]), *given[2:]]


def batched(f):
    xs, means, variances = torch.randn(4, 5, 3), torch.randn(4, 3), torch.rand(4, 3)
    weight = torch.ones(3)
    one = lambda x, mean, var: grad(lambda x: f(x, weight, mean, var).sin().sum())(x)
    if f is ours:
        return [vmap(one)(xs, means, variances), means, variances]
    return [torch.stack([one(*items) for items in zip(xs, means, variances)]), means, variances]


def compiled(f):
    torch._dynamo.reset()
    if f is ours:
        f = torch.compile(f, fullgraph=True, backend="aot_eager")
    with torch.no_grad():
        f(*inputs(False))
    return gradients(f)


FORMS = (gradients, second, training, checkpointed, transformed, functionalized, batched, compiled)


def said(call):
    try:
        call()
    except RuntimeError as error:
        return str(error)
    return "nothing"


def at_versions(given):
    return [one._version for one in given]


found = {}
for form in FORMS:
    try:
        torch.manual_seed(1)
        one = form(ours)
        torch.manual_seed(1)
        torch.testing.assert_close(one, form(theirs))
        found[form.__name__] = "same"
    except Exception as error:
        found[form.__name__] = repr(error)

given = inputs()
start = at_versions(given)
ours(*given)
with torch.no_grad():
    ours(*given)
with torch.inference_mode():
    ours(*given)
op.norm(*given[:3])
found["versions"] = [now - before for now, before in zip(at_versions(given), start)]

given = inputs()
product = (given[0] * given[2]).sum()
ours(*given)
found["stale"] = said(product.backward)
given = inputs()
shared = given[2].clone()
found["shared"] = said(ours(given[0], shared, shared, given[3]).sum().backward)
for name, place in (("mean", 2), ("var", 3)):
    for how in ("leaf", "computed"):
        given = [*inputs()]
        given[place].requires_grad_()
        given[place] = given[place] * 1 if how == "computed" else given[place]
        before = given[place].detach().clone()
        found[f"{how} {name}"] = said(lambda: ours(*given))
        assert torch.equal(given[place], before)
given = inputs(False)
found["tangent"] = said(lambda: jvp(lambda mean: ours(*given[:2], mean, given[3]), given[2:3], given[2:3]))
found["in grad"] = said(lambda: grad(lambda *some: ours(*some).sum(), 2)(*given))
found["unmapped"] = said(lambda: vmap(lambda x: ours(x, *given[1:]))(torch.randn(2, 5, 3)))

states, x, more = [torch.zeros(3), torch.zeros(3)], torch.ones(3, requires_grad=True), torch.ones(3)
op.states(states, x, [more]).sum().backward()
found["list"] = [x.grad.tolist(), at_versions(states), [one.tolist() for one in states]]
more.requires_grad_()
op.states(states, x.detach(), [more]).sum().backward()
found["list read"] = more.grad.tolist()
states[1].requires_grad_()
found["list refused"] = said(lambda: op.states(states, x, [more]))
print(json.dumps(found))
"""

NONE = "noted::norm has no derivative with respect to {}"
CHANGED = "modified by an inplace operation"


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("noted")
    (folder / "torchgen_lite.toml").write_text(CONFIG)
    (folder / "ops.yaml").write_text(ENTRIES)
    (folder / "kern.py").write_text(KERNELS)
    write_package(folder)
    return folder


@pytest.fixture(scope="module")
def found(project: Path) -> dict[str, Any]:
    told: dict[str, Any] = json.loads(run_program(project, PROGRAM))
    return told


@pytest.mark.parametrize(
    "form",
    [
        "gradients",
        "second",
        "training",
        "checkpointed",
        "transformed",
        "functionalized",
        "batched",
        "compiled",
    ],
)
def test_gradients_and_statistics_are_those_of_batch_norm(found: dict[str, Any], form: str) -> None:
    assert found[form] == "same"


def test_each_call_moves_the_version_of_what_it_writes_once(found: dict[str, Any]) -> None:
    """Recorded, without a gradient, in inference mode, and without the optional one."""
    assert found["versions"] == [0, 0, 4, 3]


def test_what_was_saved_and_is_written_is_not_used(found: dict[str, Any]) -> None:
    """By another operator, or by the call itself, where an argument shares memory with what it writes."""
    assert CHANGED in found["stale"] and CHANGED in found["shared"]


def test_what_is_written_has_no_gradient_and_no_tangent(found: dict[str, Any]) -> None:
    for name in ("mean", "var"):
        for how in ("leaf", "computed"):
            assert found[f"{how} {name}"] == NONE.format(name)
    assert found["tangent"] == found["in grad"] == NONE.format("mean")
    assert found["list refused"] == "noted::states has no derivative with respect to states"


def test_a_batch_does_not_write_to_one_buffer(found: dict[str, Any]) -> None:
    assert "vmap can't write to mean, which it does not map over" in found["unmapped"]


def test_lists_are_written_and_read(found: dict[str, Any]) -> None:
    assert found["list"] == [[2.0] * 3, [1, 1], [[1.0] * 3] * 2]
    assert found["list read"] == [3.0] * 3


def test_the_generated_tests_pass(project: Path) -> None:
    """Gradients are checked for calls that each find the buffers as they were."""
    done = run_python(project, "-m", "pytest", "-q", "generated/torch-python/tests")
    assert done.returncode == 0, done.stdout
    assert "skipped" not in done.stdout
