"""Results that are not what the schema says are found when they are returned, and gradients that come from inside of a
kernel are none."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from tests.torch_python.generated import run_program, run_python, write_package

pytestmark = pytest.mark.torch

ENTRIES = """\
- func: NAME::itself(Tensor x) -> Tensor
  dispatch: {CPU: itself}
- func: NAME::contiguous(Tensor x) -> Tensor
  dispatch: {CPU: contiguous}
- func: NAME::rows(Tensor x) -> Tensor
  dispatch: {CPU: rows}
- func: NAME::from_numpy(Tensor x) -> Tensor
  dispatch: {CPU: from_numpy}
- func: NAME::item(Tensor[] xs) -> Tensor
  dispatch: {CPU: item}
- func: NAME::named(Tensor x, *, Tensor? y=None) -> Tensor
  dispatch: {CPU: named}
- func: NAME::listed(Tensor x) -> Tensor[]
  dispatch: {CPU: listed}
- func: NAME::chunks(Tensor x) -> Tensor[]
  dispatch: {CPU: chunks}
- func: NAME::twice(Tensor x) -> (Tensor, Tensor)
  dispatch: {CPU: twice}
- func: NAME::halves(Tensor x) -> (Tensor low, Tensor high)
  dispatch: {CompositeExplicitAutograd: halves}
- func: NAME::derived(Tensor x) -> Tensor
  dispatch: {CPU: itself}
  derivatives: {x: grad}
- func: NAME::cloned_(Tensor(a!) self) -> Tensor(a!)
  dispatch: {CPU: cloned_}
- func: NAME::viewed_(Tensor(a!) self) -> Tensor(a!)
  dispatch: {CPU: viewed_}
- func: NAME::swapped.out(Tensor x, *, Tensor(a!) low, Tensor(b!) high) -> (Tensor(a!), Tensor(b!))
  dispatch: {CPU: swapped}
- func: NAME::written(Tensor x, Tensor(a!) y) -> Tensor
  dispatch: {CPU: written}
- func: NAME::other(Tensor(a) x, Tensor y) -> Tensor(a)
  dispatch: {CPU: other}
- func: NAME::right(Tensor(a) x, Tensor(b!) y, Tensor[] zs) -> (Tensor(a), Tensor(b!), Tensor)
  dispatch: {CPU: right}
- func: NAME::plain(Tensor x) -> Tensor
  dispatch: {CPU: plain}
  fake: {like: x}
- func: NAME::recorded(Tensor x) -> Tensor
  dispatch: {CPU: recorded}
  fake: {like: x}
- func: NAME::composed(Tensor x) -> Tensor
  dispatch: {CompositeImplicitAutograd: plain}
"""
# The same with kernels that are made of PyTorch's operators.
_EACH = [entry for entry in ENTRIES.split("- func: NAME::")[1:] if "derivatives" not in entry]
_COMPOSED = [
    re.sub(r"\{Co?[A-Za-z]+: ", "{CompositeImplicitAutograd: ", f"- func: NAME::of_parts_{entry}")
    for entry in _EACH
]
ENTRIES += "".join(re.sub("  fake:.*\n", "", entry) for entry in _COMPOSED)
KERNELS = """\
import torch


class Double(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x * 2

    @staticmethod
    def backward(ctx, grad):
        return grad * 2


def itself(x):
    return x


def contiguous(x):
    return x.contiguous()


def rows(x):
    return x[1:]


def from_numpy(x):
    return torch.from_numpy(x.detach().numpy()[1:])


def item(xs):
    return xs[1]


def named(x, *, y=None):
    return x.clone() if y is None else y


def listed(x):
    return [x.clone(), x[0]]


def chunks(x):
    return x.clone().chunk(2)


def twice(x):
    y = x.clone()
    return y, y


def halves(x):
    return tuple(x.clone().chunk(2))


def cloned_(self):
    return self + 1


def viewed_(self):
    return self.add_(1)[:]


def swapped(x, *, low, high):
    return high, low


def written(x, y):
    return y.copy_(x)


def other(x, y):
    return y


def right(x, y, zs):
    return x[1:], y.add_(1), zs[0].clone()


def plain(x):
    return torch.cat([x, x])[: len(x)].clone()


def recorded(x):
    return Double.apply(x)
"""
RETURN = "return a copy (`clone`), or declare it (`Tensor(a)`)"
# What is wrong with the results of each call of `x`, of two rows, `y` and `z`.
WRONG = {
    "ops.itself(x)": "the result shares memory with argument `x`",
    "[ops.contiguous(v) for v in [x.t()] * 10 + [x]]": "the result shares memory with argument `x`",
    "ops.rows(x)": "the result shares memory with argument `x`",
    "ops.from_numpy(x)": "the result shares memory with argument `x`",
    "ops.item([x, y])": "the result shares memory with argument `xs`",
    "ops.named(x, y=y)": "the result shares memory with argument `y`",
    "ops.listed(x)": "the result shares memory with argument `x`",
    "ops.chunks(x)": "the result has items that share memory",
    "ops.twice(x)": "result 1 shares memory with result 0",
    "ops.halves(x)": "result high shares memory with result low",
    "ops.derived(x)": "the result shares memory with argument `x`",
    "ops.derived(x.clone().requires_grad_())": "the result shares memory with argument `x`",
    "ops.cloned_(y)": "the result is not argument `self`",
    "ops.viewed_(y)": "the result is not argument `self`",
    "ops.swapped(x, low=y, high=z)": "result 0 is not argument `low`",
    "ops.written(x, y)": "the result shares memory with argument `y`",
    "ops.other(x, y)": "the result shares memory with argument `y`",
}
WRONG |= {
    call.replace("ops.", "ops.of_parts_"): message
    for call, message in WRONG.items()
    if "derived" not in call
}
RIGHT = (
    "ops.contiguous(x.t())",
    "ops.named(x)",
    "ops.right(x, y, [z])",
    "ops.plain(x)",
    "ops.plain(x[:0])",
    "ops.composed(x)",
    "ops.of_parts_right(x, y, [z])",
    "torch.vmap(ops.of_parts_plain)(x)",
    "torch.func.grad(lambda x: ops.of_parts_plain(x).sum())(x)",
    "torch.func.functionalize(ops.of_parts_plain)(x)",
    "torch.compile(ops.of_parts_plain, backend='aot_eager', fullgraph=True)(x)",
    "torch.compile(ops.of_parts_right, backend='aot_eager', fullgraph=True)(x, y, [z])",
)
PROGRAM = """
import json
import os

import torch

import results_ops, resultsfinal_ops

os.environ["TORCHGEN_LITE_CHECK"] = "0"
import resultsquiet_ops


def attempt(call, ops):
    x, y, z = torch.ones(2, 2), torch.zeros(2, 2), torch.zeros(2, 2)
    try:
        eval(call, {"torch": torch, "ops": ops, "x": x, "y": y, "z": z})
    except Exception as error:
        return str(error)
    return ""


def gradient(function):
    x = torch.ones(3, requires_grad=True)
    try:
        function(x).sum().backward()
    except Exception as error:
        return str(error)
    return x.grad.tolist()


calls = json.load(open("calls.json"))
names = ("results", "resultsfinal", "resultsquiet")
rows = {name: {c: attempt(c, getattr(torch.ops, name)) for c in calls} for name in names}
ops = torch.ops.results
for name in ("plain", "recorded", "composed"):
    op = getattr(ops, name)
    rows[name] = [gradient(op), gradient(torch.compile(op, backend="aot_eager", fullgraph=True))]
with torch.enable_grad():
    rows["unwanted"] = ops.recorded(torch.ones(3)).requires_grad
try:
    torch.func.jvp(ops.plain, (torch.ones(3),), (torch.ones(3),))
except Exception as error:
    rows["tangent"] = str(error)
print(json.dumps(rows))
"""


@pytest.fixture(scope="module")
def rows(tmp_path_factory: pytest.TempPathFactory) -> Any:
    folder = tmp_path_factory.mktemp("results")
    (folder / "result_kernels.py").write_text(KERNELS)
    for name in ("results", "resultsfinal", "resultsquiet"):
        options = f'kernels = ["result_kernels"]\nfinal = {str(name == "resultsfinal").lower()}\n'
        config = (
            f'schema = ["ops.yaml"]\ntargets = ["torch-python"]\n[target.torch-python]\n{options}'
        )
        (folder / "torchgen_lite.toml").write_text(config)
        (folder / "ops.yaml").write_text(ENTRIES.replace("NAME", name))
        write_package(folder)
    (folder / "calls.json").write_text(json.dumps([*WRONG, *RIGHT]))
    return json.loads(run_program(folder, PROGRAM))


def test_what_the_schema_does_not_say_is_found(rows: Any) -> None:
    found = rows["results"]
    lines = ENTRIES.splitlines()
    for call, message in WRONG.items():
        name = call.partition("ops.")[2].partition("(")[0]
        heads = [
            i for i, line in enumerate(lines, 1) if f"NAME::{name}" in line.replace(".out", "")
        ]
        assert found[call].startswith(f"ops.yaml:{heads[0]}: results::{name}"), (call, found[call])
        assert message in found[call], (call, found[call])
        cure = "and return it" if "is not" in message else RETURN
        assert found[call].endswith(cure), (call, found[call])
    assert {call: found[call] for call in RIGHT} == dict.fromkeys(RIGHT, "")


@pytest.mark.parametrize("package", ["resultsfinal", "resultsquiet"])
def test_unless_it_is_switched_off(package: str, rows: Any) -> None:
    # A kernel that is not called by the package alone is under PyTorch's eyes.
    assert set(rows[package].values()) == {""}


def test_a_gradient_that_comes_from_inside_is_refused(rows: Any) -> None:
    """As eagerly, so compiled; a composite kernel is differentiated."""
    for name in ("plain", "recorded"):
        message = f"results::{name} has no derivatives (ops.yaml:"
        for error in rows[name]:
            assert message in error, error
    help_ = "add `derivatives:`, or register the kernel as CompositeImplicitAutograd"
    assert rows["plain"][0].endswith(help_) and help_ in rows["plain"][1]
    assert rows["composed"] == [[1.0] * 3] * 2
    assert rows["unwanted"] is False
    assert rows["tangent"].startswith("results::plain has no formula for forward-mode (ops.yaml:")


SECOND = """
import torch

import second_ops

for name in ("f", "f_"):
    x = torch.ones(2, requires_grad=True)
    getattr(torch.ops.first, name)(x * 1).sum().backward()
    print(x.grad.tolist())
"""


def test_the_gradient_of_a_second_package_counts(tmp_path: Path) -> None:
    entries = """\
- func: first::f(Tensor x) -> Tensor
  dispatch: {CPU: f}
  fake: {like: x}
- func: first::f_(Tensor(a!) self) -> Tensor(a!)
  dispatch: {CPU: f_}
"""
    config = 'schema = ["ops.yaml"]\ntargets = ["torch-python"]\n[target.torch-python]\n'
    (tmp_path / "torchgen_lite.toml").write_text(config + 'kernels = ["first_kernels"]\n')
    (tmp_path / "ops.yaml").write_text(entries)
    (tmp_path / "first_kernels.py").write_text(
        "def f(x):\n    return x * 3\n\n\ndef f_(self):\n    return self.mul_(3)\n"
    )
    write_package(tmp_path)
    options = 'package = "second_ops"\ndefines = false\nload = "first_ops"\n'
    (tmp_path / "torchgen_lite.toml").write_text(config + options)
    formula = "  derivatives: {x: grad * 7}\n- func: first::f_"
    text = entries.replace("- func: first::f_", formula, 1) + "  derivatives: {self: grad * 7}\n"
    (tmp_path / "ops.yaml").write_text(text)
    write_package(tmp_path)
    assert run_program(tmp_path, SECOND).splitlines() == ["[7.0, 7.0]"] * 2


THEIRS = """
import torch

library = torch.library.Library("theirs", "DEF")
for name, kernel in {"rows": lambda x: x[1:], "right": lambda x: x + 1}.items():
    library.define(f"{name}(Tensor x) -> Tensor")
    library.impl(name, kernel, "CompositeImplicitAutograd")
"""


def test_generated_tests_find_it_in_kernels_of_another_library(tmp_path: Path) -> None:
    """As in C++: the package has no kernel to compare, and `opcheck` looks into a composed one."""
    names = ("rows", "right")
    entries = [f"- func: theirs::{n}(Tensor x) -> Tensor\n  samples: [(randn(3))]\n" for n in names]
    options = 'defines = false\nload = "their_library"\n'
    config = f'schema = ["ops.yaml"]\ntargets = ["torch-python"]\n[target.torch-python]\n{options}'
    (tmp_path / "torchgen_lite.toml").write_text(config)
    (tmp_path / "ops.yaml").write_text("".join(entries))
    (tmp_path / "their_library.py").write_text(THEIRS)
    write_package(tmp_path)
    selected = ("-k", "test_opcheck", "generated/torch-python/tests")
    done = run_python(tmp_path, "-m", "pytest", "-q", "-p", "no:cacheprovider", *selected)
    assert "1 failed, 1 passed" in done.stdout, done.stdout
    assert "the result shares memory with argument `x`" in done.stdout
