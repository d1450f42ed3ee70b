"""Operators with written arguments at any place, whose gradients are those of their kernels without the operator.

A kernel writes by NumPy, so that PyTorch's autograd, and that of this project, sees no write and differentiates the rest.
"""

from __future__ import annotations

import json
import os
import random
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.conftest import SOURCES
from tests.cpp.compiling import write_files
from tests.forks import PLAIN, run_forked
from tests.formulas.projects import with_reference
from torchgen_lite import generate, load
from torchgen_lite.analysis.program import Program, build_program
from torchgen_lite.diagnostics import Source
from torchgen_lite.loader.config.project import Config
from torchgen_lite.loader.formats.native_functions import load_native_functions

COUNT = 40
READ = {"x": "Tensor x", "m": "Tensor? m", "xs": "Tensor[] xs", "y": "Tensor y"}
WRITTEN = {"w": "Tensor(a!) w", "v": "Tensor(b!)? v", "ws": "Tensor(c!)[] ws"}
TORCH = """\
schema = ["corpus.yaml"]
targets = ["torch-python"]
[target.torch-python]
package = "corpus_ops"
kernels = ["corpus_kernels"]
"""


class Noting(NamedTuple):
    """An operator: its arguments in their order, and how many results it has."""

    name: str
    arguments: tuple[str, ...]
    results: int

    @property
    def read(self) -> list[str]:
        return [one for one in self.arguments if one in READ]

    @property
    def written(self) -> list[str]:
        return [one for one in self.arguments if one in WRITTEN]

    def entry(self, target: str, **formulas: str) -> str:
        arguments = ", ".join((READ | WRITTEN)[one] for one in self.arguments)
        results = ("()", "Tensor", "(Tensor one, Tensor two)")[self.results]
        lines = [f"- func: noting::{self.name}({arguments}) -> {results}"]
        lines.append(f"  dispatch: {{CPU: {self.name}}}")
        if target == "torch-python" and self.results:
            like = ("{like: x}", "{one: {like: x}, two: {like: x}}")[self.results - 1]
            lines.append(f"  fake: {like}")
        lines.append("  derivatives:")
        lines += [f"    {name}: '{text}'" for name, text in (self.formulas | formulas).items()]
        return "\n".join(lines) + "\n"

    @property
    def formulas(self) -> dict[str, str]:
        gradient = ("grad", "grad", "grads[0]")[self.results]
        found = {}
        for number, name in enumerate(self.read, 2):
            text = f"{gradient} * {number}"
            if name == "x" and self.results == 2:
                text += " + grads[1] * x * 2"
            found[name] = f"[{text}, {text}]" if name == "xs" else text
        return found

    @property
    def kernel(self) -> str:
        lines = [f"def {self.name}({', '.join(self.arguments)}):", "    total = 0"]
        for number, name in enumerate(self.read, 2):
            lines.append(f"    total = added(total, {name}, {number})")
        for number, name in enumerate(self.written, 2):
            lines.append(f"    total = added(total, {name}, 1)")
            lines.append(f"    write({name}, {number})")
        lines.append(f"    return {('None', 'total', '(total, x * x)')[self.results]}")
        return "\n".join(lines) + "\n"


KERNELS = """\
def each(value):
    values = value if isinstance(value, (list, tuple)) else [value]
    return [one for one in values if one is not None]


def added(total, value, factor):
    for one in each(value):
        total = one * factor + total
    return total


def write(value, number):
    for one in each(value):
        one.detach().numpy()[...] += number


"""
PROGRAM = """
import itertools
import json
import random
import sys
import corpus_ops
import corpus_kernels

target, operators = json.loads(sys.argv[1])
if target == "python":
    import torchgen_lite_reference as lib
    find = lambda name: getattr(corpus_ops.ops.noting, name)
else:
    import torch as lib
    find = lambda name: getattr(lib.ops.noting, name).default
draw = random.Random(1)


def value(name, needs, absent):
    tensor = lambda: lib.tensor([draw.uniform(-1, 1) for _ in range(3)])
    if name in absent:
        return None
    if name in ("xs", "ws"):
        return [tensor().requires_grad_(name in needs), tensor()]
    return tensor().requires_grad_(name in needs)


def mapped(function, value):
    # The function of each tensor in an argument.
    if isinstance(value, list):
        return [function(one) for one in value]
    return None if value is None else function(value)


def copied(given):
    again = lambda one: one.detach().clone().requires_grad_(one.requires_grad)
    return [mapped(again, value) for value in given]


def constant(given):
    # The same, where nothing requires a gradient.
    return [mapped(lambda one: one.detach().clone(), value) for value in given]


def plain_gradient(f):
    def gradient(x):
        leaf = x if x.requires_grad else x.clone().requires_grad_()
        return lib.autograd.grad(f(leaf), leaf, create_graph=True)[0]

    return gradient


def tensors(given):
    return [one for each in given for one in corpus_kernels.each(each)]


def found(call, given):
    results, leaves = [], [one for one in tensors(given) if one.requires_grad]
    for _ in range(2):
        total = 0
        for one in corpus_kernels.each(call(*given)):
            total = total + (one * one).sum()
        once = lib.autograd.grad(total, leaves, create_graph=True)
        square = sum((one * one).sum() for one in once)
        again = lib.autograd.grad(square, leaves) if square.requires_grad else []
        results += [total, *once, *again]
    return [one.tolist() for one in results] + [one.tolist() for one in tensors(given)]


def close(one, other):
    if isinstance(one, list):
        return len(one) == len(other) and all(map(close, one, other))
    return abs(one - other) <= 1e-4 * (1 + abs(other))


def refused(call, given, name):
    try:
        call(*given)
    except RuntimeError as error:
        return str(error).endswith(f"has no derivative with respect to {name}")
    return False


for name, arguments, read, written in operators:
    call, kernel = find(name), getattr(corpus_kernels, name)
    optional = [one for one in arguments if one in "mv"]
    absent = [one for one in optional if draw.random() < 0.4]
    needs = [one for one in read if one not in absent and draw.random() < 0.7] or ["x"]
    given = [value(one, needs, absent) for one in arguments]
    own = copied(given)
    assert close(found(call, own), found(kernel, copied(given))), (name, needs, absent)
    for argument, passed in zip(arguments, own):
        versions = {one._version for one in tensors([passed])}
        assert versions <= {2 * (argument in written)}, (name, argument, versions)
    for place, argument in enumerate(arguments):
        if argument in written and argument not in absent:
            again = copied(given)
            tensors(again[place : place + 1])[-1].requires_grad_()
            before = [one.tolist() for one in tensors(again)]
            assert refused(call, again, argument), (name, argument)
            assert [one.tolist() for one in tensors(again)] == before
            with lib.no_grad():
                call(*again)
    if target == "python":
        continue
    place = arguments.index("x")
    x = given[place].detach()

    def forms(call, is_plain):
        # The gradient, its derivative, and a tangent, with what is then in the buffers.
        rest = constant(given)

        def of_x(x):
            results = corpus_kernels.each(call(*rest[:place], x, *rest[place + 1 :]))
            return sum((one * one).sum() for one in results).sin()

        if is_plain:
            first = plain_gradient(of_x)
            yield first(x), plain_gradient(lambda x: first(x).square().sum())(x), first(x).dot(x), rest
            return
        first = lib.func.grad(of_x)
        second = lib.func.grad(lambda x: first(x).square().sum())
        yield first(x), second(x), lib.func.jvp(of_x, (x,), (x,))[1], rest

    pairs = [*forms(call, False)], [*forms(kernel, True)]
    lists = [[one.tolist() for one in tensors([*pair[0][:3], *pair[0][3]])] for pair in pairs]
    assert close(*lists), (name, lists)
print("right")
"""


def operators(seed: int, fewest: int = 1) -> Iterator[Noting]:
    draw = random.Random(seed)
    for number in range(COUNT):
        read = ["x", *draw.sample(["m", "xs", "y"], draw.randrange(4))]
        written = draw.sample([*WRITTEN], draw.randrange(1, 4))
        arguments = [*read, *written]
        draw.shuffle(arguments)
        yield Noting(f"f{number}", tuple(arguments), draw.randrange(fewest, 3))


@pytest.mark.parametrize(
    "target", ["python", pytest.param("torch-python", marks=pytest.mark.torch)]
)
@pytest.mark.slow("it calls each of many operators in several ways")
def test_gradients_are_those_of_the_kernel(target: str, tmp_path: Path) -> None:
    every = list(operators(seed=54))
    config = with_reference(tmp_path) if target == "python" else TORCH
    files = {
        "torchgen_lite.toml": config,
        "corpus.yaml": "".join(one.entry(target) for one in every),
        "corpus_kernels.py": KERNELS + "\n\n".join(one.kernel for one in every),
    }
    write_files(tmp_path, files)
    write_files(tmp_path, generate(load(root=tmp_path)))
    paths = [tmp_path, tmp_path / "python", tmp_path / "torch-python", *SOURCES]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(map(str, paths))}
    given = [target, [(one.name, one.arguments, one.read, one.written) for one in every]]
    imported = () if target == "python" else PLAIN
    done = run_forked(["-c", PROGRAM, json.dumps(given)], tmp_path, environment, imported)
    assert done.stdout == "right\n", done.stderr


def program(text: str) -> Program:
    source = Source("ops.yaml", text)
    functions, found = load_native_functions([source])
    return build_program(functions, Config(Path("nowhere")), diagnostics=found, sources=[source])


def codes(text: str) -> list[str]:
    return [one.code for one in program(text).diagnostics if one.severity == "error"]


def test_each_read_of_what_is_written_is_found() -> None:
    """And nothing else is refused; what gives no tensor has no formulas."""
    for one in operators(seed=7, fewest=0):
        assert codes(one.entry("python")) == ([] if one.results else ["TG325"]), one
        for name in one.written:
            read = f"{one.formulas['x']} + {name}" + "[0]" * (name == "ws")
            assert codes(one.entry("python", x=read)) == ["TG325"], (one, name)
            assert codes(one.entry("python", **{name: one.formulas["x"]}))[:1] == ["TG325"], one
