"""What lint says that `torch.compile` makes of an operator is what it does."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.torch_python.generated import run_program, write_package
from torchgen_lite import load
from torchgen_lite.pipeline import lint

pytestmark = pytest.mark.torch

ENTRIES = """\
- func: traced::both(Tensor(a!) x, Tensor(b!) y) -> (Tensor(a!), Tensor(b!))
  dispatch: {CPU: both}
- func: traced::beside(Tensor(a!) x, Tensor y) -> (Tensor(a!), Tensor)
  dispatch: {CPU: beside}
  fake: {like: y}
- func: traced::part(Tensor(a!) x, Tensor(b!) y) -> Tensor(a!)
  dispatch: {CPU: part}
- func: traced::swapped(Tensor(a!) x, Tensor(b!) y) -> (Tensor(b!), Tensor(a!))
  dispatch: {CPU: swapped}
- func: traced::listed(Tensor(a!)[] x, Tensor y) -> Tensor(a!)[]
  dispatch: {CPU: listed}
- func: traced::fresh(Tensor(a!) x, Tensor(b!) y) -> Tensor
  dispatch: {CPU: fresh}
  fake: {like: y}
- func: traced::by_name(Tensor x, Dict(str, Tensor) d) -> Tensor
  dispatch: {CPU: by_name}
  fake: {like: x}
- func: traced::numbers_by_name(Tensor x, Dict(str, int) d) -> Tensor
  dispatch: {CPU: by_name}
  fake: {like: x}
- func: traced::count(Tensor x) -> (int, Tensor)
  dispatch: {CPU: count}
  fake: [{value: 3}, {like: x}]
- func: traced::flag(Tensor x) -> (bool, Tensor)
  dispatch: {CPU: flag}
  fake: [{value: True}, {like: x}]
- func: traced::total(Tensor x) -> (float, Tensor)
  dispatch: {CPU: total}
  fake: [{value: 3.0}, {like: x}]
- func: traced::length(Tensor x) -> (int, Tensor)
  dispatch: {CPU: length}
  fake: [{value: x.size(0)}, {like: x}]
- func: traced::rows(Tensor x, int n) -> Tensor
  dispatch: {CPU: rows}
  fake: {like: x, shape: "[n, x.size(0)]"}
- func: traced::symbolic_rows(Tensor x, SymInt n) -> Tensor
  dispatch: {CPU: rows}
  fake: {like: x, shape: "[n, x.size(0)]"}
"""
KERNELS = """\
def both(x, y):
    return x.add_(1), y.add_(2)


def beside(x, y):
    return x.add_(1), y * 2


def part(x, y):
    return both(x, y)[0]


def swapped(x, y):
    return both(x, y)[::-1]


def listed(xs, y):
    return [x.add_(y) for x in xs]


def fresh(x, y):
    both(x, y)
    return y * 2


def by_name(x, d):
    return x * d["a"]


def count(x):
    return int((x > 0).sum()), x * 2


def flag(x):
    return bool((x > 0).any()), x * 2


def total(x):
    return float(x.sum()), x * 2


def length(x):
    return x.size(0), x * 2


def rows(x, n):
    return x.new_ones([n, x.size(0)])
"""
PROGRAM = """\
import json

import torch

import traced

ops, graphs = torch.ops.traced, []
calls = {
    name: lambda x, call=getattr(ops, name): call(x.clone(), x.clone())
    for name in ("both", "beside", "part", "swapped", "fresh")
}
calls["listed"] = lambda x: ops.listed([x.clone()], x)
calls["by_name"] = lambda x: ops.by_name(x, {"a": x})
calls["numbers_by_name"] = lambda x: ops.numbers_by_name(x, {"a": 2})
calls |= {name: getattr(ops, name) for name in ("count", "flag", "total", "length")}
found = {}
for name, call in calls.items():
    torch._dynamo.reset()
    compiled = torch.compile(call, backend="aot_eager", fullgraph=True)
    found[name] = "works"
    try:
        for x in (torch.ones(3), -torch.ones(3), torch.ones(5)):
            if str(compiled(x)) != str(call(x)):
                found[name] = "another number"
    except torch._dynamo.exc.BackendCompilerFailed:
        found[name] = "refused"


def counted(graph, inputs):
    graphs.append(graph)
    return graph


for name in ("rows", "symbolic_rows"):
    torch._dynamo.reset()
    graphs.clear()
    call = getattr(ops, name)
    compiled = torch.compile(lambda x, n: call(x, n), backend=counted, dynamic=True, fullgraph=True)
    for n in range(2, 6):
        assert compiled(torch.ones(3), n).shape == (n, 3)
    found[name] = "works" if len(graphs) == 1 else "compiled again"
print(json.dumps(found))
"""
MEANING = {
    "TG423": "another number",
    "TG424": "compiled again",
    "TG428": "refused",
    "TG429": "refused",
}


def test_what_lint_says_is_what_pytorch_does(tmp_path: Path) -> None:
    (tmp_path / "native_functions.yaml").write_text(ENTRIES)
    (tmp_path / "kernels.py").write_text(KERNELS)
    (tmp_path / "torchgen_lite.toml").write_text(
        'targets = ["torch-python"]\n[target.torch-python]\npackage = "traced"\nkernels = ["kernels"]\n'
    )
    program = lint(load(root=tmp_path))
    assert not program.has_errors
    expected = {operator.schema.base_name: "works" for operator in program.resolved.declared}
    for one in program.diagnostics:
        expected[one.operator.removeprefix("traced::")] = MEANING[one.code]
    write_package(tmp_path)
    assert json.loads(run_program(tmp_path, PROGRAM)) == expected
    assert set(MEANING.values()) < {*expected.values()}
