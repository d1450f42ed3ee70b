"""`vmap: loop`, and operators that write without axes: one call for each item under `torch.vmap`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.torch_python.generated import run_program, run_python, write_package

ENTRIES = """\
- func: loops::parts(Tensor x, int n=2) -> Tensor[]
  dispatch: {CPU: parts}
  fake: parts_fake
  vmap: loop
  derivatives:
    x: cat(grads, 0)
  samples:
    - (randn(4, 3))
- func: loops::as_many(Tensor x) -> Tensor[]
  dispatch: {CPU: as_many}
  fake: as_many_fake
  vmap: loop
- func: loops::noted(Tensor x) -> ()
  dispatch: {CPU: noted}
  effects: ordered
  vmap: loop
- func: loops::scaled(Tensor x, *, Tensor by) -> (Tensor low, Tensor? high)
  dispatch: {CPU: scaled}
  fake: {low: {like: x}, high: {like: x}}
  vmap: loop
- func: loops::drawn(Tensor x) -> Tensor
  tags: nondeterministic_seeded
  dispatch: {CPU: drawn}
  fake: {like: x}
  vmap: loop
- func: loops::by_axes(Tensor x) -> Tensor
  dispatch: {CPU: doubled}
  axes: x[*b] -> [*b]
  vmap: loop
- func: loops::double_(Tensor(a!) self) -> Tensor(a!)
  dispatch: {CPU: double_}
- func: loops::add_to(Tensor x, Tensor(a!)? y, Tensor(b!)[] zs) -> ()
  dispatch: {CPU: add_to}
  samples:
    - (randn(3), randn(3), [randn(3)])
- func: loops::double.out(Tensor x, *, Tensor(a!) out) -> Tensor(a!)
  dispatch: {CPU: double_out}
- func: loops::fill_and_count(Tensor(a!) x, Tensor y) -> (Tensor(a!), Tensor)
  dispatch: {CPU: fill_and_count}
"""
KERNELS = """\
import torch

CALLS = []


def parts(x, n):
    return [part.clone() for part in x.chunk(n)]


def parts_fake(x, n=2):
    return [part.clone() for part in x.chunk(n)]


def as_many(x):
    return [x.clone() for _ in range(int(x.flatten()[0]))]


def as_many_fake(x):
    return [torch.empty_like(x)]


def noted(x):
    CALLS.append(tuple(x.shape))


def scaled(x, *, by):
    return x * by, None


def drawn(x):
    return torch.rand_like(x)


def doubled(x):
    CALLS.append(tuple(x.shape))
    return x * 2


def double_(self):
    return self.mul_(2)


def add_to(x, y, zs):
    for z in [*zs, *([] if y is None else [y])]:
        z.add_(x)


def double_out(x, *, out):
    return torch.mul(x, 2, out=out)


def fill_and_count(x, y):
    return x.copy_(y), torch.tensor(len(y))
"""
PROGRAM = """
import json

import torch

import loops_ops
from loop_kernels import CALLS

ops = torch.ops.loops
X = torch.arange(12.0).reshape(3, 4)


def said(f):
    try:
        found = f()
    except RuntimeError as error:
        return str(error).split("\\n")[0]
    return torch.utils._pytree.tree_map_only(torch.Tensor, lambda t: t.tolist(), found)


def written(f, *shapes):
    values = [torch.zeros(shape) for shape in shapes]
    torch.vmap(f)(X, *values)
    return values


def add_to(x, y, z):
    ops.add_to(x, y, [z])
    return x


def compiled(f):
    return torch.compile(f, backend="aot_eager", fullgraph=True)


rows = {
    "list": lambda: torch.vmap(ops.parts)(X),
    "list, over the last": lambda: torch.vmap(ops.parts, -1, -1)(X.t()),
    "list, nested": lambda: torch.vmap(torch.vmap(lambda x: ops.parts(x[None], 1)))(X[:, :2]),
    "list, compiled": lambda: compiled(torch.vmap(ops.parts))(X),
    "list, gradients": lambda: torch.vmap(torch.func.grad(lambda x: ops.parts(x)[0].sum()))(X),
    "lists of several lengths": lambda: torch.vmap(ops.as_many)(X[1:]),
    "no items": lambda: torch.vmap(ops.parts)(X[:0]),
    "keyword": lambda: torch.vmap(lambda x, y: ops.scaled(x, by=y)[0])(X, X),
    "keyword alone": lambda: torch.vmap(lambda y: ops.scaled(torch.ones(4), by=y)[0])(X),
    "another level": lambda: torch.vmap(lambda x: torch.vmap(lambda _: ops.parts(x)[0])(X)[0])(X),
    "in place": lambda: torch.vmap(lambda x: ops.double_(x.clone()))(X),
    "lists and optional": lambda: written(add_to, (3, 4), (3, 4)),
    "left out": lambda: written(lambda x, z: (ops.add_to(x, None, [z]), x)[1], (3, 4)),
    "out": lambda: torch.vmap(lambda x, out: ops.double.out(x, out=out))(X, torch.zeros(3, 4)),
    "out is the argument": lambda: torch.vmap(lambda x, y: x * (ops.double.out(x, out=y) is y))(X, X + 0),
    "written, and more": lambda: torch.vmap(ops.fill_and_count)(torch.zeros(3, 4), X),
    "not mapped": lambda: torch.vmap(lambda x, out: ops.double.out(x, out=out), (0, None))(X, X[0]),
    "in place, compiled": lambda: compiled(torch.vmap(lambda x: ops.double_(x.clone())))(X),
    "random": lambda: torch.vmap(ops.drawn)(X),
}
found = {name: said(f) for name, f in rows.items()}
drawn = torch.vmap(ops.drawn, randomness="different")(X)
found["random, different"] = not torch.equal(drawn[0], drawn[1])
for op in (ops.noted, ops.by_axes):
    CALLS.clear()
    torch.vmap(lambda x: (op(x), x)[1])(X)
    found[op.__name__] = [*CALLS]
print(json.dumps(found))
"""
X = [[0.0, 1.0, 2.0, 3.0], [4.0, 5.0, 6.0, 7.0], [8.0, 9.0, 10.0, 11.0]]
HALVES = [[row[:2] for row in X], [row[2:] for row in X]]
TWICE = [[2 * value for value in row] for row in X]
EXPECTED: dict[str, Any] = {
    "list": HALVES,
    "list, over the last": [[list(column) for column in zip(*half)] for half in HALVES],
    "list, nested": [[[[value] for value in row[:2]] for row in X]],
    "list, compiled": HALVES,
    "list, gradients": [[1.0, 1.0, 0.0, 0.0]] * 3,
    "lists of several lengths": "loops::as_many: vmap can't stack lists of several lengths",
    "no items": "loops::parts: vmap over no items, one by one, has no results",
    "keyword": [[value * value for value in row] for row in X],
    "keyword alone": X,
    "another level": HALVES[0],
    "in place": TWICE,
    "lists and optional": [X, X],
    "left out": [X],
    "out": TWICE,
    "out is the argument": X,
    "written, and more": [X, [4, 4, 4]],
    "not mapped": "loops::double.out: vmap can't write to out, which it does not map over",
    "in place, compiled": TWICE,
    "random": "loops::drawn draws random numbers: not with randomness='error'",
    "random, different": True,
    "noted": [[4]] * 3,
    "by_axes": [[4]] * 3,
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("loops")
    (folder / "ops.yaml").write_text(ENTRIES)
    (folder / "loop_kernels.py").write_text(KERNELS)
    modules = 'kernels = ["loop_kernels"]\nfakes = ["loop_kernels"]\n'
    (folder / "torchgen_lite.toml").write_text(
        f'schema = ["ops.yaml"]\ntargets = ["torch-python"]\n[target.torch-python]\n{modules}'
    )
    write_package(folder)
    return folder


@pytest.mark.torch
def test_each_item_has_its_call(folder: Path) -> None:
    assert json.loads(run_program(folder, PROGRAM)) == EXPECTED


@pytest.mark.torch
def test_generated_tests_hold_a_loop(folder: Path) -> None:
    tests = folder / "generated" / "torch-python" / "tests"
    done = run_python(folder, "-m", "pytest", "-q", str(tests), "-k", "vmap", "-rA")
    assert done.returncode == 0, done.stdout
    assert "PASSED" in done.stdout and "::test_vmap[parts_0]" in done.stdout
