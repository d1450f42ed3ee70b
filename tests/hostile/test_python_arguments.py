"""Arguments with the names that generated Python uses itself, and modules of kernels with those of generated modules.

Every name in generated kernels is the name of an argument, too: the operator is left out with a warning, or a call of it
gives what it gives when the argument is called something else.
"""

from __future__ import annotations

import io
import json
import keyword
import os
import re
import subprocess
import sys
import tokenize
from collections.abc import Iterable, Mapping
from pathlib import Path

from tests.conftest import ROOT, SOURCES
from tests.cpp.compiling import write_files
from torchgen_lite import load
from torchgen_lite.pipeline import generate_all

CONFIG = """\
schema = ["ops.yaml"]
source-roots = [".", {reference}]
targets = ["python"]

[target.python]
package = "named"
shards = 1
framework = "torchgen_lite_reference.framework"
kernels = {modules}
formulas = {modules}
"""
# One operator for each kind of generated kernel; `T` is a tensor among the arguments, and `N` a number.
ENTRIES = """\
- func: SPACE::scale(Tensor self, Tensor T, int N=3) -> Tensor
  dispatch: {CPU: scale}
  derivatives: {self: grad * T * N, T: "N > 100 ? grad : grad * self * N"}
- func: SPACE::scale_(Tensor(a!) self, Tensor T, int N=3) -> Tensor(a!)
  dispatch: {CPU: scale_}
- func: SPACE::scale.out(Tensor self, Tensor T, int N=3, *, Tensor(a!) out) -> Tensor(a!)
  dispatch: {CPU: scale_out}
- func: SPACE::total(Tensor[] T, Tensor? self, int[2] N=3) -> Tensor
  dispatch: {CPU: total}
  derivatives: {T: "each(grad, T, N)", self: "grad * T.size() * self.dim()"}
- func: SPACE::filled(Tensor self, Tensor T, *, int N=3) -> Tensor
  structured_delegate: filled.out
- func: SPACE::filled.out(Tensor self, Tensor T, *, int N=3, Tensor(a!) out) -> Tensor(a!)
  structured: True
  dispatch: {CPU: filled_out}
- func: SPACE::made(int N, *, int[2] T=2, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor
  dispatch: {CPU: made}
- func: SPACE::seen(Tensor(a) self, int N=1, int? T=None) -> Tensor(a)
  dispatch: {CPU: seen}
  derivatives: {self: grad}
- func: SPACE::chosen(Tensor self, Tensor T, int N=1) -> Tensor
  dispatch:
    CPU:
      - {when: "N > 2 and T.dim() == 1 and T.shape == {2}", kernel: scale}
      - {when: "T.dim() == 1", kernel: first}
"""
KERNELS = """\
import numpy
from torchgen_lite_reference.structured import TensorSpec
from torchgen_lite_reference.tensor import wrap_array


def scale(x, y, n):
    return wrap_array(x._array * y._array * n)


def scale_(x, y, n):
    x._array[...] *= y._array * n
    return x


def scale_out(x, y, n, *, out):
    out._array[...] = x._array * y._array * n
    return out


def total(xs, y, n):
    return wrap_array(sum(x._array for x in xs) * n[0] + y._array)


def each(grad, xs, n):
    return [grad * n[0] for _ in xs]


def META(x, y, **n):
    return TensorSpec(x._shape, x._dtype)


def filled_out(x, y, *, out, **n):
    [n] = n.values()
    out._array[...] = x._array * y._array * n


def made(n, *, dtype, layout, device, pin_memory, **size):
    return wrap_array(numpy.ones(*size.values()) * n)


def seen(x, n, m):
    return x.unsqueeze(0)


def first(x, y, n):
    return x
"""
PROGRAM = """\
import json
import sys

import torchgen_lite_reference as tl
import named
from named import ops
from torchgen_lite.runtime import DispatchKey, DispatchKeySet

CPU = DispatchKeySet(DispatchKey.CPU)


def x(**given):
    return tl.tensor([1.0, 2.0], **given)


def graded(function):
    leaves = [x(requires_grad=True), x(requires_grad=True)]
    result = function(*leaves)
    return [result.tolist(), *[g.tolist() for g in tl.autograd.grad(result.sum(), leaves, allow_unused=True) if g is not None]]


def written(space, given):
    def call(one, other):
        return space.scale_(one * 1, **given(other))

    return graded(call)


def results(space, T, N):
    def given(other):
        return {T: other, N: 4}

    yield "scale", lambda: graded(lambda one, other: space.scale(one, **given(other)))
    yield "redispatch", lambda: space.scale.default.redispatch(CPU, x(), **given(x())).tolist()
    yield "scale_", lambda: written(space, given)
    yield "out", lambda: space.scale(x(), out=x(), **given(x())).tolist()
    yield "total", lambda: graded(lambda one, other: space.total(self=one, **{T: [other, x()], N: 4}))
    yield "total of one", lambda: graded(lambda one, other: space.total(self=other * one, **{T: [x(), x()], N: 4}))
    yield "filled", lambda: space.filled(x(), **given(x())).tolist()
    yield "filled.out", lambda: space.filled(x(), out=x(), **given(x())).tolist()
    yield "made", lambda: space.made(**{N: 4, T: (1, 1)}).tolist()
    yield "seen", lambda: graded(lambda one, _: space.seen(one, **{N: 2, T: 3}))
    yield "chosen", lambda: space.chosen(x(), **given(x())).tolist()


found = {}
for namespace, T, N in json.load(sys.stdin):
    for name, call in results(getattr(ops, namespace, None), T, N):
        try:
            found[f"{namespace} {name}"] = call()
        except Exception as error:
            found[f"{namespace} {name}"] = f"{type(error).__name__}: {error}"
print(json.dumps(found))
"""


def _generate(
    folder: Path, spaces: Iterable[tuple[str, str, str]]
) -> tuple[Mapping[str, str], list[str]]:
    """The modules of a package with the operators in each namespace, and what is left out."""
    entries = []
    kernels = [KERNELS]
    for space, tensor, number in spaces:
        text = re.sub(r"\bN\b", number, ENTRIES.replace("SPACE", space))
        entries.append(re.sub(r"\bT\b", tensor, text))
        # The operators of the first namespace have no prefix.
        prefix = f"{space}__" if len(entries) > 1 else ""
        kernels.append(f"meta_{prefix}filled = META\n")
    reference = json.dumps(str(ROOT / "reference"))
    files = {
        "torchgen_lite.toml": CONFIG.format(reference=reference, modules='["kernels"]'),
        "ops.yaml": "".join(entries),
        "kernels.py": "".join(kernels),
    }
    write_files(folder, files)
    generated = generate_all(load(root=folder))
    assert {d.code for d in generated.diagnostics} <= {"TG511"}, generated.diagnostics
    write_files(folder, generated.files)
    return generated.files, [d.message for d in generated.diagnostics]


def _run(folder: Path, program: str, given: str = "") -> str:
    paths = [folder, folder / "python", *SOURCES]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(map(str, paths))}
    command = [sys.executable, "-c", program]
    done = subprocess.run(command, env=environment, input=given, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


def _names_in(files: Mapping[str, str]) -> set[str]:
    """The identifiers of generated modules, without those that begin as private names do."""
    names = set()
    for path, text in files.items():
        if path.endswith(".py"):
            for token in tokenize.generate_tokens(io.StringIO(text).readline):
                if token.type == tokenize.NAME and not keyword.iskeyword(token.string):
                    names.add(token.string)
    return names


# What the calls of the program give.
ROWS: dict[str, object] = {
    "scale": [[4.0, 16.0], [4.0, 8.0], [4.0, 8.0]],
    "redispatch": [4.0, 16.0],
    "scale_": [[4.0, 16.0], [4.0, 8.0], [4.0, 8.0]],
    "out": [4.0, 16.0],
    "total": [[9.0, 18.0], [2.0, 2.0], [4.0, 4.0]],
    "total of one": [[9.0, 20.0], [2.0, 4.0], [2.0, 4.0]],
    "filled": [4.0, 16.0],
    "filled.out": [4.0, 16.0],
    "made": [[4.0]],
    "seen": [[[1.0, 2.0]], [1.0, 1.0]],
    "chosen": [4.0, 16.0],
}
# What other rules refuse: names that the entries have already, and those of gradients.
ELSEWHERE = frozenset("self out dtype layout device pin_memory grad grads".split())


def test_an_argument_may_have_any_name_of_generated_code(tmp_path: Path) -> None:
    usual = ("usual", "tensor_argument", "number_argument")
    files, left_out = _generate(tmp_path / "usual", [usual])
    assert left_out == []
    names = {
        name for name in _names_in(files) - ELSEWHERE - {*usual[1:]} if not name.startswith("_")
    }
    # What has an underscore is left out by one rule; it need not be tried with each kind of kernel.
    names |= {"_keyset", "_kernels", "len", "grad_self_"}
    assert {"KeyError", "tuple", "keyset", "usual", "DispatchKeySet"} <= names
    spaces = [usual]
    for number, name in enumerate(sorted(names)):
        spaces.append((f"as_tensor_{number}", name, "number_argument"))
        spaces.append((f"as_number_{number}", "tensor_argument", name))
    _, left_out = _generate(tmp_path, spaces)
    places = {message.partition("::")[0].strip("`") for message in left_out}
    gone = {name for space, *given in spaces for name in given if space in places} - {*usual}
    assert (
        gone
        == {"AttributeError", "KeyError", "TypeError", "RuntimeError", "_keyset", "_kernels"}
        & names
    )
    found = json.loads(_run(tmp_path, PROGRAM, json.dumps(spaces)))
    expected = {
        row.partition(" ")[2]: value for row, value in found.items() if row.startswith("usual ")
    }
    assert expected == ROWS
    wrong = []
    for space, *given in spaces:
        if space not in places:
            wrong += [
                (given, row, found[f"{space} {row}"])
                for row in ROWS
                if found[f"{space} {row}"] != ROWS[row]
            ]
    assert wrong == []


MODULES = {
    "mylib.autograd": "def by_hand(x):\n    return x * 2\n",
    "mylib.forward": "from torchgen_lite_reference.tensor import wrap_array\n\ndef k(x):\n    return wrap_array(x._array * 2)\n",
    "mylib.helpers": "def of_helpers(g):\n    return g * 3\n",
    "other.helpers": "def of_other(g):\n    return g * 4\n",
    "mylib.functions": "def of_functions(g):\n    return g * 5\n",
    "mylib.zeros": "def of_zeros(g):\n    return g * 6\n",
    "quotient": "def of_quotient(g):\n    return g * 7\n",
}
CALLS = """\
import torchgen_lite_reference as tl
import named

for name in "abcdefgh":
    x = tl.tensor([1.0], requires_grad=True)
    [gradient] = tl.autograd.grad(getattr(named, name)(x).sum(), [x])
    print(name, gradient.tolist())
"""


def test_modules_may_have_the_names_of_generated_ones(tmp_path: Path) -> None:
    """Two with one last name, and those of modules and functions that generated code imports."""
    entries = ["- func: lib::a(Tensor x) -> Tensor\n  dispatch: {CPU: k, Autograd: by_hand}\n"]
    formulas = ["of_helpers", "of_other", "of_functions", "of_zeros", "of_quotient", "a"]
    for name, formula in zip("bcdefg", formulas):
        entry = f"- func: lib::{name}(Tensor x) -> Tensor\n  dispatch: {{CPU: k}}\n"
        entries.append(f"{entry}  derivatives: {{x: {formula}(grad)}}\n")
    entries.append(
        "- func: lib::h(Tensor x, int n=3) -> Tensor\n  dispatch: {CPU: with_number}\n"
        "  derivatives: {x: grad * (n / 2)}\n"
    )
    sources = {f"{module.replace('.', '/')}.py": text for module, text in MODULES.items()}
    sources["mylib/forward.py"] += "\ndef with_number(x, n):\n    return k(x)\n"
    reference = json.dumps(str(ROOT / "reference"))
    config = CONFIG.format(reference=reference, modules=json.dumps([*MODULES]))
    files = {
        "torchgen_lite.toml": config,
        "ops.yaml": "".join(entries),
        "mylib/__init__.py": "",
        "other/__init__.py": "",
        **sources,
    }
    write_files(tmp_path, files)
    generated = generate_all(load(root=tmp_path))
    assert not generated.diagnostics
    write_files(tmp_path, generated.files)
    found = dict(line.split(" ", 1) for line in _run(tmp_path, CALLS).splitlines())
    # A formula that calls `a` calls the operator, which doubles.
    expected = dict(
        zip("abcdefgh", ("[2.0]", "[3.0]", "[4.0]", "[5.0]", "[6.0]", "[7.0]", "[2.0]", "[1.5]"))
    )
    assert found == expected


def _private_names(files: Mapping[str, str]) -> set[str]:
    """What the modules that import authors' modules call what has an underscore, without it."""
    names = set()
    for path, text in files.items():
        if re.match(r"(nodes|structured|register)\w*\.py$", Path(path).name):
            names.update(re.findall(r"(?<![\w.])_([a-z]\w*)", text))
    return names


def test_modules_may_have_the_names_of_what_generated_code_has_with_an_underscore(
    tmp_path: Path,
) -> None:
    """A module `spec` or `node` was hidden by the local variable `_spec` or `_node`, `grad_self` by a gradient."""
    arguments = ("tensor_argument", "number_argument")
    files, _ = _generate(tmp_path / "usual", [("usual", *arguments)])
    names = sorted(_private_names(files))
    assert {"node", "spec", "grad_self", "len", "functions"} <= {*names}
    entries, sources = [], {"mylib/__init__.py": ""}
    for number, name in enumerate(names):
        text = re.sub(r"\bN\b", arguments[1], ENTRIES.replace("SPACE", f"space_{number}"))
        text = re.sub(r"\bT\b", arguments[0], text)
        text = re.sub(r"\b(CPU|kernel): (\w+)\}", rf"\1: \2_{number}}}", text)
        entries.append(text.replace("each(", f"each_{number}("))
        kernels = re.sub(r"(?m)^def (\w+)\(", rf"def \1_{number}(", KERNELS)
        prefix = f"space_{number}__" if number else ""
        sources[f"mylib/{name}.py"] = f"{kernels}meta_{prefix}filled = META_{number}\n"
    modules = json.dumps([f"mylib.{name}" for name in names])
    reference = json.dumps(str(ROOT / "reference"))
    config = CONFIG.format(reference=reference, modules=modules)
    write_files(tmp_path, {"torchgen_lite.toml": config, "ops.yaml": "".join(entries), **sources})
    generated = generate_all(load(root=tmp_path))
    assert not generated.diagnostics
    write_files(tmp_path, generated.files)
    spaces = [(f"space_{number}", *arguments) for number in range(len(names))]
    results = json.loads(_run(tmp_path, PROGRAM, json.dumps(spaces)))
    wrong = {}
    for row, value in results.items():
        space, _, call = row.partition(" ")
        if value != ROWS[call]:
            wrong[names[int(space.removeprefix("space_"))], call] = value
    assert wrong == {}
