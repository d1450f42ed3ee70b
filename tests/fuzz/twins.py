"""Random operators in every target, beside the same expression in PyTorch.

A random expression becomes a kernel in Python, a kernel in C++ and, by the rules of differentiation, formulas. Then
everything that the second axis of the matrix does (`tests/compose/treatments.py`) is done to the operator with every
kind of input, and has to give what PyTorch's own functions and its autograd give.
"""

from __future__ import annotations

import json
import os
import random
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import NamedTuple

from tests.compose.inputs import KINDS, Arguments, Operator, Tensors
from tests.compose.probe import WORKS, cell
from tests.compose.treatments import DONE, done_to
from tests.conftest import SOURCES
from tests.cpp.compiling import compile_library, write_files
from tests.forks import COMPILING, run_forked
from torchgen_lite import generate, load

TARGETS = ("torch-python", "cpp-torch")
# Of the rows of the second axis, those that take milliseconds.
QUICK = [
    row
    for row in DONE
    if not row.is_together and not row.only and not row.name.startswith("DTensor")
]
# With how many kinds of input an operator is tried.
_KINDS = 3
Pull = Callable[[str], Iterator[tuple[str, str]]]


class Part(NamedTuple):
    """A part of an expression, which is the same text in Python, in C++ and in formulas.

    `pull` gives, for the gradient of the part, the gradients of the tensors in it as formulas.
    """

    text: str
    pull: Pull


# Functions of one tensor, and the factor of the gradient.
_FUNCTIONS = {
    "sin": "{}.cos()",
    "cos": "-{}.sin()",
    "tanh": "(1 - {0}.tanh() * {0}.tanh())",
    "sigmoid": "({0}.sigmoid() * (1 - {0}.sigmoid()))",
    "square": "(2 * {})",
    "atan": "(1 / (1 + {0} * {0}))",
    "neg": "-1",
}


class Entry(NamedTuple):
    """A random operator."""

    name: str
    expression: str
    tensors: tuple[str, ...]
    formulas: Mapping[str, str]
    is_auto: bool
    is_reduced: bool
    default: float

    @property
    def schema(self) -> str:
        tensors = "".join(f"Tensor {name}, " for name in self.tensors)
        return f"fz::{self.name}({tensors}float s={self.default}, *, int n=2) -> Tensor"

    def yaml(self) -> str:
        """The entry; what it declares of its axes gives it its fake, `vmap` and sharding."""
        lines = [f"- func: {self.schema}", f"  dispatch: {{CPU: {self.name}}}"]
        if self.is_reduced:
            axes = ", ".join(f"{name}[*b, d!]" for name in self.tensors)
            lines.append(f"  axes: {axes} -> [*b]")
        else:
            lines.append("  tags: pointwise")
        if self.is_auto:
            numbers = ", ".join(["randn(2, 3)"] * len(self.tensors))
            reference = self.expression + ".sum(-1)" * self.is_reduced
            lines += ["  derivatives: auto", "  samples:", f"    calls:\n      - ({numbers})"]
            lines += [f"    reference: {json.dumps(reference)}"]
        else:
            lines.append("  derivatives:")
            lines += [f"    {name}: {json.dumps(text)}" for name, text in self.formulas.items()]
        return "\n".join(lines) + "\n"

    def python(self) -> str:
        """The kernel, which is the twin, too."""
        end = ".sum(-1)" * self.is_reduced
        return f"def {self.name}({', '.join(self.tensors)}, s, *, n):\n    return ({self.expression}){end}\n"

    def cpp(self) -> str:
        """The kernel for libtorch."""
        tensors = "".join(f"const at::Tensor& {name}, " for name in self.tensors)
        end = ".sum(-1)" * self.is_reduced
        return (
            f"at::Tensor {self.name}({tensors}double s, int64_t n) {{\n"
            f"  (void)s, (void)n;\n  return ({self.expression}){end};\n}}\n"
        )

    def operator(self) -> Operator:
        """How it is called."""

        def arguments(tensors: Tensors) -> Arguments:
            # What is reduced needs its dimension in each tensor.
            make = (lambda: tensors(*tensors.form.shapes[0])) if self.is_reduced else tensors
            return {name: make() for name in self.tensors} | {"s": -0.5, "n": 3}

        dims = (1, 2, 3, 4) if self.is_reduced else (0, 1, 2, 3, 4)
        return Operator(self.name, arguments, self.tensors, None, dims, "fz", "fz_kernels")


class Entries:
    """Random operators; the same for the same seed."""

    def __init__(self, chooser: random.Random) -> None:
        self.chooser = chooser

    def entry(self, name: str) -> Entry:
        tensors = ("x", "y", "z")[: self.chooser.randint(1, 3)]
        leaves = [self._leaf(tensor) for tensor in tensors]
        root = leaves[0]
        for leaf in leaves[1:]:
            root = self._two(self._deeper(root), self._deeper(leaf))
        root = self._deeper(self._deeper(root))
        # A number that is given counts for the dtype of a fake, so it has to count for that of the kernel.
        for number in ("s", "n"):
            root = Part(f"({root.text} + {number})", root.pull)
        is_reduced = self.chooser.random() < 0.25
        grad = "grad.unsqueeze(-1).expand_as(x)" if is_reduced else "grad"
        terms: dict[str, list[str]] = {tensor: [] for tensor in tensors}
        for tensor, term in root.pull(grad):
            terms[tensor].append(term)
        formulas = {tensor: " + ".join(every) for tensor, every in terms.items()}
        is_auto = self.chooser.random() < 0.25
        default = self.chooser.choice((0.5, -1.5, 2.0))
        return Entry(name, root.text, tensors, formulas, is_auto, is_reduced, default)

    def _leaf(self, name: str) -> Part:
        return Part(name, lambda grad: iter([(name, grad)]))

    def _deeper(self, part: Part) -> Part:
        kind = self.chooser.choice((self._of_one, self._with_number, self._twice, lambda one: one))
        return kind(part)

    def _of_one(self, part: Part) -> Part:
        name = self.chooser.choice(list(_FUNCTIONS))
        factor = _FUNCTIONS[name].format(part.text)
        return Part(f"{part.text}.{name}()", lambda grad: part.pull(f"({grad} * {factor})"))

    def _with_number(self, part: Part) -> Part:
        number = self.chooser.choice(("s", "n", "2", "0.5", "(s + n)"))
        if self.chooser.random() < 0.5:
            return Part(f"({part.text} + {number})", part.pull)
        return Part(f"({number} * {part.text})", lambda grad: part.pull(f"({grad} * {number})"))

    def _twice(self, part: Part) -> Part:
        return self._two(part, self._of_one(part))

    def _two(self, a: Part, b: Part) -> Part:
        sign = self.chooser.choice("+-*")

        def pull(grad: str) -> Iterator[tuple[str, str]]:
            if sign == "*":
                yield from a.pull(f"({grad} * {b.text})")
                yield from b.pull(f"({grad} * {a.text})")
                return
            yield from a.pull(grad)
            yield from b.pull(grad if sign == "+" else f"(-{grad})")

        return Part(f"({a.text} {sign} {b.text})", pull)


_CONFIG = """\
schema = ["ops.yaml"]
targets = {targets}
[target.torch-python]
"""
_OF_TARGET = {
    "torch-python": 'kernels = ["fz_kernels"]\n',
    "cpp-torch": 'load = "_C"\n[target.cpp-torch]\nfolder = "cpp"\n',
}


def entries(count: int, seed: int, first: int = 0) -> list[Entry]:
    """The operators of these numbers."""
    numbers = range(first, first + count)
    return [Entries(random.Random(f"twins {seed} {at}")).entry(f"op{at}") for at in numbers]


def _build(folder: Path, target: str, every: Sequence[Entry]) -> None:
    targets = [target] if target == "torch-python" else [target, "torch-python"]
    config = _CONFIG.format(targets=json.dumps(targets)) + _OF_TARGET[target]
    kernels = "\n\n".join(entry.python() for entry in every)
    text = "\n".join(entry.yaml() for entry in every)
    write_files(folder, {"torchgen_lite.toml": config, "ops.yaml": text, "fz_kernels.py": kernels})
    files = generate(load(root=folder))
    write_files(folder, files)
    if target == "torch-python":
        return
    own = "".join(entry.cpp() for entry in every)
    sources = sorted(path for path in files if path.endswith(".cpp"))
    kernels = f"#include <ATen/ATen.h>\nnamespace fz {{\n{own}}}\n#include <fz/verify_kernels.h>\n"
    write_files(folder, {"kernels.cpp": kernels})
    include = folder / "cpp" / "include"
    library = compile_library(folder, ["kernels.cpp", *sources], includes=[include])
    library.rename(folder / "_C.so")


def run_twins(count: int, seed: int, first: int = 0, targets: Sequence[str] = TARGETS) -> list[str]:
    """What is wrong with operators, in words; each problem names the operator, whose number `first` repeats alone."""
    every = entries(count, seed, first)
    texts = {entry.name: entry.yaml() for entry in every}
    problems: list[str] = []
    for target in targets:
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            _build(folder, target, every)
            paths = [folder, folder / "torch-python", *SOURCES]
            environment = {**os.environ, "PYTHONPATH": os.pathsep.join(map(str, paths))}
            command = ["-W", "ignore", "-m", "tests.fuzz.twins", str(count), str(seed), str(first)]
            done = run_forked(command, folder, environment, COMPILING)
        if done.returncode:
            problems.append(f"{target}, seed {seed}, from {first}: {done.stderr[-2000:]}")
        for operator, row, kind, said in json.loads(done.stdout or "[]"):
            problems.append(f"{target}: {row}, {kind}: {said}\n{texts[operator]}")
    return problems


# The kinds of inputs with tensors of several dtypes, and what a fake says that cannot know that of a result.
MIXED = ("several dtypes", "no dimensions")
ASKS_FOR_DTYPE = "the tensors of this call have several dtypes: the entry has to say which"


def _found(every: Sequence[Entry]) -> Iterator[tuple[str, str, str, str]]:
    """The operators, rows and kinds of input that do not work, in this process."""
    for entry in every:
        for kind in random.Random(entry.expression).sample(KINDS, _KINDS):
            for row in QUICK:
                said = cell(partial(done_to, row, kind, [entry.operator()]))
                # The line of axes does not say the dtype, and the fake says so.
                is_asked = kind.name in MIXED and said.startswith(f"refused: {entry.name}")
                is_asked = is_asked and ASKS_FOR_DTYPE in said
                if said != WORKS and not is_asked:
                    yield entry.name, row.name, kind.name, said


if __name__ == "__main__":
    __import__("fz_ops")
    print(json.dumps([*_found(entries(*map(int, sys.argv[1:])))]))
