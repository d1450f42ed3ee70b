"""Compiled calls of operators with out and in-place variants, and of these variants.

With PyTorch's tags `out` and `inplace`, inductor calls the out variant for the functional one, with tensors before other
arguments and defaults twice, and gives one buffer to several calls: the package leaves these tags to authors.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.torch_python.generated import run_program, write_package

pytestmark = pytest.mark.torch

CONFIG = """\
schema = ["ops.yaml"]
targets = ["torch-python"]

[target.torch-python]
package = "tagged"
kernels = ["tag_kernels"]
"""
# The arguments of an operator, behind a tensor that its in-place variant writes to; and what calls give.
ARGUMENTS = {
    "default": ("Tensor y, float s=1.0", ["y", "y, 1.0", "y, 2.0", "y, s=1.0"]),
    "maybe": ("Tensor? y=None, Tensor? z=None", ["", "y", "None, z", "z=z", "y, z"]),
    "number_first": ("int n, Tensor y", ["2, y"]),
    "many": ("Tensor[] ys, Tensor z", ["[y, z], z"]),
    "named": ("Tensor y, *, float s=1.0, int n=2", ["y", "y, s=1.0", "y, s=2.0", "y, n=3"]),
    "named_tensor": ("Tensor y, *, Tensor? z=None, float s=1.0", ["y", "y, z=z", "y, s=2.0, z=z"]),
}
ENTRIES = """\
- func: tagged::{name}(Tensor x, {arguments}) -> Tensor
  dispatch: {{CPU: {name}}}
  fake: {{like: x}}
- func: tagged::{name}.out(Tensor x, {arguments}, {star}Tensor(a!) out) -> Tensor(a!)
  dispatch: {{CPU: {name}_out}}
- func: tagged::{name}_(Tensor(a!) x, {arguments}) -> Tensor(a!)
  dispatch: {{CPU: {name}_}}
- func: tagged::{name}_two(Tensor x, {arguments}) -> (Tensor low, Tensor high)
  dispatch: {{CPU: {name}_two}}
  fake: {{low: {{like: x}}, high: {{like: x}}}}
- func: tagged::{name}_two.out(Tensor x, {arguments}, {star}Tensor(a!) low, Tensor(b!) high) -> (Tensor(a!), Tensor(b!))
  dispatch: {{CPU: {name}_two_out}}

"""
COMPUTED = """\
def total(x, given):
    for weight, value in enumerate(given, 2):
        for one in value if isinstance(value, (list, tuple)) else [value]:
            x = x * 3 if one is None else x + weight * one
    return x


"""
KERNELS = """\
def {name}(x, {names}):
    return total(x, [{given}])


def {name}_out(x, {names}, {star}out):
    return out.copy_(total(x, [{given}]))


def {name}_(x, {names}):
    return x.copy_(total(x, [{given}]))


def {name}_two(x, {names}):
    found = total(x, [{given}])
    return found, found + 100


def {name}_two_out(x, {names}, {star}low, high):
    found = total(x, [{given}])
    return low.copy_(found), high.copy_(found + 100)


"""
PROGRAM = """
import torch

import tagged

calls = {calls!r}
x, y, z = (torch.arange(3.0) + 10**n for n in range(1, 4))


def function_of(text, name, given):
    ops = torch.ops.tagged
    more = {{"f": "", "f.out": "out=x.clone()", "f_": "", "f_two": ""}}
    more["f_two.out"] = "low=x.clone(), high=x.clone()"
    packet = name + text.removeprefix("f").removesuffix(".out")
    inputs = ", ".join(part for part in (given, more[text]) if part)
    first = "x.clone()" if text == "f_" else "x"
    source = f"lambda x, y, z: ops.{{packet}}({{first}}{{', ' if inputs else ''}}{{inputs}})"
    return eval(source, {{"ops": ops}})


count = 0
for text in ("f", "f.out", "f_", "f_two.out"):
    named = {{
        (name, given): function_of(text, name, given)
        for name, every in calls.items()
        for given in every
    }}

    def run(x, y, z):
        return [function(x, y, z) for function in named.values()]

    wanted = run(x, y, z)
    found = torch.compile(run, fullgraph=True, backend={backend!r})(x, y, z)
    for call, one, other in zip(named, found, wanted, strict=True):
        torch.testing.assert_close(one, other, msg=lambda why: f"{{text}}, {{call}}: {{why}}")
    count += len(named)
print(count)
"""


def write_tagged(folder: Path) -> None:
    entries, kernels = [], [COMPUTED]
    for name, (arguments, _) in ARGUMENTS.items():
        star = "" if "*" in arguments else "*, "
        entries.append(ENTRIES.format(name=name, arguments=arguments, star=star))
        words = [part.split("=")[0].split()[-1] for part in arguments.split(", ")]
        given = ", ".join(word for word in words if word != "*")
        kernels.append(KERNELS.format(name=name, names=", ".join(words), given=given, star=star))
    (folder / "torchgen_lite.toml").write_text(CONFIG)
    (folder / "ops.yaml").write_text("".join(entries))
    (folder / "tag_kernels.py").write_text("".join(kernels))
    write_package(folder)


@pytest.mark.parametrize("backend", ["inductor", "aot_eager"])
def test_compiled_calls_give_what_eager_ones_give(tmp_path: Path, backend: str) -> None:
    write_tagged(tmp_path)
    calls = {name: every for name, (_, every) in ARGUMENTS.items()}
    program = PROGRAM.format(calls=calls, backend=backend)
    assert int(run_program(tmp_path, program)) == sum(map(len, calls.values())) * 4
