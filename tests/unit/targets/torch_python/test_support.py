"""Which modules a package carries: those that its operators need, and no others."""

from __future__ import annotations

import ast
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.conftest import ROOT, Result
from tests.forks import run_forked
from torchgen_lite import generate, load
from torchgen_lite.targets.torch_python.support import MODULES, imported_by

COPIED = ROOT / "torchgen_lite" / "copied" / "torch_python"
ALWAYS = {"_library", "_results"}
# What an operator with formulas needs.
DERIVED = {"_autograd", "_forward"}
TRANSPOSED = {*DERIVED, "_refusals", "_transposed"}
SPECIAL = {*TRANSPOSED, "_special", "_writes"}
UNDERIVED = {*DERIVED, "_refusals", "_underived", "_writes"}
BATCHES = {"_batches", "_loops"}
AXES = {"_axes", "_axes_in_torch", *BATCHES, "_jagged", "_later", "_sharding", "_support"}
CONFIG = """\
schema = ["ops.yaml"]
targets = ["torch-python"]

[target.torch-python]
kernels = ["kern"]
fakes = ["kern"]
formulas = ["kern"]
"""
KERNELS = """\
def f(x, *args, **kwargs): return x.clone()
def write(x): x.add_(1)
def fake(x): return x.clone()
def helper(grad): return grad.cos()
def halves(x): return x + 1, x + 2
"""
FAKE = "fake: {like: x}"
FORMULA = "derivatives: {x: grad * 2}"
# A schema, the fields of its entry, and the modules that it needs beside those that every package has.
CASES = {
    "a formula": ("(Tensor x) -> Tensor", f"{FAKE}\n  {FORMULA}", DERIVED),
    "a formula of two": (
        "(Tensor x, Tensor y) -> Tensor",
        f"{FAKE}\n  derivatives: {{x: grad * y, y: grad * x}}",
        TRANSPOSED,
    ),
    "a helper": (
        "(Tensor x) -> Tensor",
        f"{FAKE}\n  derivatives: {{x: helper(grad)}}",
        {*TRANSPOSED, "_linear", "_named"},
    ),
    "keywords": ("(Tensor x, *, int n) -> Tensor", f"{FAKE}\n  {FORMULA}", SPECIAL),
    "several results": (
        "(Tensor x) -> (Tensor a, Tensor b)",
        "fake: {a: {like: x}, b: {like: x}}\n  derivatives: {x: grad_a + grad_b}",
        {*TRANSPOSED, "_zeros"},
    ),
    "no formula": ("(Tensor x) -> Tensor", FAKE, UNDERIVED),
    "a function as fake": ("(Tensor x) -> Tensor", "fake: fake", {*UNDERIVED, "_named"}),
    "a rule that computes": (
        "(Tensor x) -> Tensor",
        "fake: {shape: 'broadcast(x, x)'}",
        {*UNDERIVED, "_support"},
    ),
    "what is written": ("(Tensor(a!) x) -> ()", "", {*UNDERIVED, "_functionalize", "_loops"}),
    "a loop": ("(Tensor x) -> Tensor", f"{FAKE}\n  vmap: loop", {*UNDERIVED, "_loops"}),
    "autocast": ("(Tensor x) -> Tensor", f"{FAKE}\n  autocast: float32", {*UNDERIVED, "_autocast"}),
    "versions": ("(Tensor x) -> Tensor", f'{FAKE}\n  torch: ">=2.6"', {*UNDERIVED, "_versions"}),
    "random numbers": (
        "(Tensor x) -> Tensor",
        f"{FAKE}\n  tags: nondeterministic_seeded",
        {*UNDERIVED, "_random"},
    ),
    "checkpoints": (
        "(Tensor x) -> Tensor",
        f"{FAKE}\n  checkpoint: save",
        {*UNDERIVED, "_checkpoint"},
    ),
    "effects": (
        "(Tensor x) -> Tensor",
        f"{FAKE}\n  effects: ordered",
        {*UNDERIVED, "_apart", "_compiled", "_later"},
    ),
    "axes": ("(Tensor x) -> Tensor", 'axes: "x[*b] -> [*b]"', {*UNDERIVED, *AXES}),
}


def write_package(folder: Path, schema: str, fields: str, namespace: str = "own") -> set[str]:
    """Generate a package with one operator; the modules of support that it has."""
    kernel = {"(Tensor(a!) x) -> ()": "write", "(Tensor x) -> (Tensor a, Tensor b)": "halves"}
    entry = f"- func: {namespace}::op{schema}\n  dispatch: {{CPU: {kernel.get(schema, 'f')}}}\n  {fields}\n"
    (folder / "ops.yaml").write_text(entry)
    (folder / "torchgen_lite.toml").write_text(CONFIG)
    (folder / "kern.py").write_text(KERNELS)
    found = set()
    for path, text in generate(load(root=folder)).items():
        target = folder / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text)
        found.add(target.stem)
    return found & MODULES


@pytest.mark.parametrize("case", CASES)
def test_a_package_has_the_modules_that_its_operators_need(case: str, tmp_path: Path) -> None:
    schema, fields, needed = CASES[case]
    assert write_package(tmp_path, schema, fields) == {*ALWAYS, *needed}


def test_every_import_of_a_module_is_seen() -> None:
    for name in sorted(MODULES):
        found: set[str] = set()
        for node in ast.walk(ast.parse((COPIED / f"{name}.py").read_text())):
            if isinstance(node, ast.ImportFrom) and node.level:
                found |= {node.module} if node.module else {alias.name for alias in node.names}
        assert found == imported_by(name), name


def test_the_operator_of_init_carries_few_lines(
    run: Callable[..., Result], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert run("init", "--target", "torch-python", "mine").code == 0
    files = generate(load(root=tmp_path / "mine"))
    support = {path: text for path, text in files.items() if Path(path).stem in MODULES}
    assert sorted(Path(path).stem for path in support) == sorted({*ALWAYS, *DERIVED})
    assert sum(len(text.splitlines()) for text in support.values()) <= 760


PROGRAM = """\
import importlib
import sys
import torch
for namespace in sys.argv[1:]:
    sys.path.insert(0, f"{namespace}/torch-python")
    package = importlib.import_module(f"{namespace}_ops")
    arguments = getattr(torch.ops, namespace).op.default._schema.arguments
    given = [torch.ones(3) for argument in arguments if not argument.kwarg_only]
    keywords = {argument.name: 1 for argument in arguments if argument.kwarg_only}
    with torch.no_grad():
        print(namespace, type(package.op(*given, **keywords)).__name__)
"""


@pytest.mark.torch
def test_each_package_runs(tmp_path: Path) -> None:
    (tmp_path / "kern.py").write_text(KERNELS)
    namespaces = [case.replace(" ", "_") for case in CASES]
    expected = []
    for namespace, (schema, fields, _) in zip(namespaces, CASES.values()):
        (tmp_path / namespace).mkdir()
        write_package(tmp_path / namespace, schema, fields, namespace)
        results = {"()": "NoneType", "Tensor": "Tensor"}
        expected.append(f"{namespace} {results.get(schema.partition('-> ')[2], 'tuple')}")
    paths = os.pathsep.join([str(tmp_path), str(ROOT)])
    environment = {**os.environ, "PYTHONPATH": paths}
    done = run_forked(["-c", PROGRAM, *namespaces], tmp_path, environment)
    assert done.stdout.splitlines() == expected, done.stderr
