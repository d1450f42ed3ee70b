"""Operators and arguments may have the names that generated Python uses itself."""

from __future__ import annotations

import ast
import builtins
from pathlib import Path

import pytest

from tests.torch_python.generated import run_program, write_package
from torchgen_lite import generate, load
from torchgen_lite.languages.python.torch_ops import TYPE_MODULES

pytestmark = pytest.mark.torch

CONFIG = """\
schema = ["ops.yaml"]
targets = ["torch-python"]

[target.torch-python]
kernels = ["name_kernels"]
formulas = ["name_formulas"]
"""
KERNELS = """\
def product(x, y):
    return x * y


def product_of_first(values, x):
    return values[0] * x


def copies(x, count):
    return [x.clone() for _ in range(count)]
"""
FORMULAS = """\
def of_first(grad, values, x):
    return [grad * x, *(v * 0 for v in values[1:])]
"""
# A name as a tensor, a list, a number, what counts results; and as an operator.
ENTRIES = """\
- func: names::tensor_{i}(Tensor {name}, Tensor other) -> Tensor
  dispatch: {{CPU: product}}
  fake: {{like: {name}, shape: {name}.shape, dtype: "promote({name}, other)"}}
  derivatives: {{{name}: grad * other, other: grad * {name}}}

- func: names::list_{i}(Tensor[] {name}, Tensor other) -> Tensor
  dispatch: {{CPU: product_of_first}}
  fake: {{like: other}}
  derivatives: {{{name}: "of_first(grad, {name}, other)", other: "grad * {name}[0]"}}

- func: names::number_{i}(Tensor x, float {name}) -> Tensor
  dispatch: {{CPU: product}}
  fake: {{like: x}}
  derivatives: {{x: grad * {name}}}

- func: names::count_{i}(Tensor x, int {name}) -> Tensor[]
  dispatch: {{CPU: copies}}
  fake: {{like: x, count: {name}}}

"""
OPERATOR = """\
- func: names::{name}(Tensor x, int count) -> Tensor[]
  dispatch: {{CPU: copies}}
  fake: {{like: x, count: count}}

"""
PROGRAM = """
import torch
from torch._subclasses import FakeTensorMode

from names_ops import functions

arguments, operators = {arguments!r}, {operators!r}
checked = 0
for i, name in arguments.items():
    for kind in ("tensor", "list", "number", "count"):
        op = getattr(torch.ops.names, f"{{kind}}_{{i}}")
        function = getattr(functions, f"{{kind}}_{{i}}")
        x, y, z = (torch.tensor([n], requires_grad=True) for n in (2.0, 3.0, 5.0))
        args = {{
            "tensor": (x, y), "list": ([x, z], y), "number": (x, 3.0), "count": (x, 3)
        }}[kind]
        for call in (op, function):
            if kind == "count":
                assert len(call(*args)) == 3, name
                continue
            x.grad = y.grad = None
            call(*args).sum().backward()
            assert x.grad == 3 and (kind == "number" or y.grad == 2), name
        with FakeTensorMode(allow_non_fake_inputs=True):
            result = op(*args)
        assert len(result) == 3 if kind == "count" else result.shape == (1,), name
        checked += 1
for name in operators:
    for call in (getattr(torch.ops.names, name), getattr(functions, name)):
        assert len(call(torch.ones(1), 3)) == 3, name
        with FakeTensorMode(allow_non_fake_inputs=True):
            assert len(call(torch.ones(1), 3)) == 3, name
    checked += 1
print(checked)
"""


def own_names(folder: Path) -> set[str]:
    """Every name in a package that uses all the forms."""
    found: set[str] = set()
    write(folder, ["plain"], [])
    for path, text in generate(load(root=folder)).items():
        if path.endswith(".py"):
            for node in ast.walk(ast.parse(text)):
                if isinstance(node, ast.Name):
                    found.add(node.id)
                elif isinstance(node, ast.alias):
                    found.add(node.asname or node.name.partition(".")[0])
                elif isinstance(node, ast.Attribute) and getattr(node.value, "id", "") == "ctx":
                    found.add(node.attr)
    assert {"torch", "ctx", "_support", "save_for_backward", "len"} <= found
    return found


def write(folder: Path, arguments: list[str], operators: list[str]) -> None:
    (folder / "torchgen_lite.toml").write_text(CONFIG)
    (folder / "name_kernels.py").write_text(KERNELS)
    (folder / "name_formulas.py").write_text(FORMULAS)
    entries = [ENTRIES.format(i=i, name=name) for i, name in enumerate(arguments)]
    text = "".join([*entries, *(OPERATOR.format(name=name) for name in operators)])
    (folder / "ops.yaml").write_text(text)


def test_what_the_generated_code_calls_its_own_may_be_a_name(tmp_path: Path) -> None:
    import torch

    names = own_names(tmp_path)
    names |= {f"{name}_" for name in ("any", "len", "torch", "_support", "ctx", "name", "from")}
    names |= {*TYPE_MODULES, "__debug__", "from", "name"}
    names |= {name for name in dir(builtins) if name[0].islower()}
    names |= {name for name in dir(torch.autograd.Function) if not name.startswith("__")}
    # The other arguments, words of formulas, and what PyTorch's parser does not take for a name.
    names -= {"x", "other", "grad", "grads", "grad_input_mask"}
    names -= {"Ellipsis", "False", "None", "True"}
    names = {name for name in names if "_0" not in name}
    operators = sorted(names - {"from"})
    write(tmp_path, sorted(names), operators)
    write_package(tmp_path)
    registered = (tmp_path / "generated/torch-python/names_ops/_operators.py").read_text()
    arguments = {
        i: name for i, name in enumerate(sorted(names)) if f'"names::tensor_{i}"' in registered
    }
    assert names == set(arguments.values())
    assert len(arguments) > 200
    left = [name for name in operators if f'"names::{name}"' in registered]
    refused = {"annotations", "torch", "__all__", "__debug__", "__package__", "name"}
    assert set(operators) - set(left) == refused
    done = run_program(tmp_path, PROGRAM.format(arguments=arguments, operators=left))
    assert int(done) == 4 * len(arguments) + len(left)


TYPES = sorted({*TYPE_MODULES, "Any", "annotations", "inputs", "keyword_only_inputs", "needs"})
# A name as an argument and as a result that formulas use.
TYPED = """\
- func: names::argument_{i}(Tensor {name}, Tensor other_) -> (Tensor {name}_out, Tensor rest)
  dispatch: {{CPU: both}}
  fake: [{{like: other_}}, {{like: other_}}]
  derivatives: {{{name}: "grads[0] * other_", other_: "grads[1] * {name}"}}

"""


def test_no_name_hides_what_annotations_name(tmp_path: Path) -> None:
    """`mypy --strict` refuses `x: Any = None` beside a local `Any`, and a function with the name of an import."""
    write(tmp_path, [], TYPES)
    entries = [TYPED.format(i=i, name=name) for i, name in enumerate(TYPES)]
    with (tmp_path / "ops.yaml").open("a") as stream:
        stream.write("".join(entries))
    with (tmp_path / "name_kernels.py").open("a") as stream:
        stream.write("\n\ndef both(x, y):\n    return x * y, x + y\n")
    texts = {path: text for path, text in generate(load(root=tmp_path)).items() if "_ops/" in path}
    hidden = [name for text in texts.values() for name in hidden_names(ast.parse(text))]
    assert hidden == []
    assert "backward_argument_0" in texts["torch-python/names_ops/_operators.py"]


def hidden_names(module: ast.Module) -> list[str]:
    """The types that a local variable hides, and the imports that a function replaces."""
    found: list[str] = []
    imported: set[str] = set()
    for statement in module.body:
        if isinstance(statement, (ast.Import, ast.ImportFrom)):
            imported |= {alias.asname or alias.name for alias in statement.names}
        elif isinstance(statement, ast.FunctionDef):
            found += imported & {statement.name}
            found += local_names(statement) & annotated_with(statement)
    return found


def local_names(function: ast.FunctionDef) -> set[str]:
    stored = [
        node.id
        for node in ast.walk(function)
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
    ]
    return {argument.arg for argument in function.args.args}.union(stored)


def annotated_with(function: ast.FunctionDef) -> set[str]:
    """The names in annotations of local variables, which are looked up among those."""
    annotations = [
        node.annotation for node in ast.walk(function) if isinstance(node, ast.AnnAssign)
    ]
    names = [ast.walk(annotation) for annotation in annotations]
    return {node.id for walked in names for node in walked if isinstance(node, ast.Name)}
