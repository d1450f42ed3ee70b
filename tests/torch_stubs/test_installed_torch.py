"""The stub package of the installed PyTorch, read back and compared with PyTorch's own argument objects."""

from __future__ import annotations

import ast
import keyword
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import ROOT
from tests.forks import run_forked
from tests.torch_stubs.checkers import needs_pyright, run_mypy, run_pyright
from torchgen_lite.languages.python import torch_ops
from torchgen_lite.schema import parse_schema

pytestmark = pytest.mark.torch

Operators = dict[tuple[str, str, str], ast.FunctionDef]


@pytest.fixture(scope="module")
def operators(stubs: Path) -> Operators:
    found: Operators = {}
    for path in sorted((stubs / "torch-stubs" / "_ops_stubs").glob("*.pyi")):
        if path.stem not in ("copy", "torch_ops"):  # The operators of our tests.
            found.update(read_module(path))
    return found


def read_module(path: Path) -> Iterator[tuple[tuple[str, str, str], ast.FunctionDef]]:
    """Namespace, packet and overload with its `__call__`, for each overload reachable from `Namespace`."""
    text = path.read_text()
    lines = text.splitlines()
    tree = ast.parse(text)
    classes = {node.name: node for node in tree.body if isinstance(node, ast.ClassDef)}
    if "Namespace" not in classes:
        return
    for packet, packet_type in attributes(classes["Namespace"], lines):
        for overload, type_name in attributes(classes[packet_type], lines):
            call = next(n for n in classes[type_name].body if isinstance(n, ast.FunctionDef))
            assert call.name == "__call__"
            yield (path.stem, packet, overload), call


def attributes(node: ast.ClassDef, lines: list[str]) -> Iterator[tuple[str, str]]:
    for item in node.body:
        if isinstance(item, ast.AnnAssign):
            assert isinstance(item.target, ast.Name) and isinstance(item.annotation, ast.Name)
            yield item.target.id, item.annotation.id
    # Attributes whose names are Python keywords are in comments.
    for line in lines[node.lineno : node.end_lineno]:
        if "is a keyword" in line:
            yield line.split("`")[1], line.rstrip(".").rpartition(" ")[2]


def registered() -> dict[tuple[str, str, str], Any]:
    import torch

    names = set(torch._C._dispatch_get_all_op_names())
    found = {}
    for schema in torch._C._jit_get_all_schemas():
        namespace, _, base = schema.name.partition("::")
        full = schema.name + ("." + schema.overload_name if schema.overload_name else "")
        if full in names:
            found[namespace, base, schema.overload_name or "default"] = schema
    return found


def test_has_every_operator(operators: Operators) -> None:
    # In a separate process: in this one, other tests and parts of PyTorch may have registered operators.
    program = "import torch; print(*torch._C._dispatch_get_all_op_names(), sep='\\n')"
    printed = run_forked(["-c", program], ROOT, os.environ).stdout
    expected = {
        (namespace, base, overload or "default")
        for namespace, _, name in (line.partition("::") for line in printed.split())
        for base, _, overload in [name.partition(".")]
    }
    assert len(expected) > 3000
    assert set(operators) == expected


# The Python annotation of each JIT type, without its optional and list parts.
LEAVES = {
    "TensorType": "Tensor",
    "IntType": "int",
    "SymIntType": "int | SymInt",
    "FloatType": "float",
    "SymFloatType": "float | SymFloat",
    "BoolType": "bool",
    "SymBoolType": "bool | SymBool",
    "StringType": "str",
    "ComplexType": "complex",
    "DeviceObjType": "device | str",
    "ScalarTypeType": "dtype",
    "LayoutType": "layout",
    "MemoryFormatType": "memory_format",
    "GeneratorType": "Generator",
    "NumberType": "Number | complex",
    "StreamObjType": "Stream",
    "StorageType": "UntypedStorage",
    "QSchemeType": "qscheme",
    "ClassType": "ScriptObject",
    "AnyType": "Any",
}
# What comes back is of another type, which `test_results_are_what_calls_give` shows.
RETURNED = dict.fromkeys(("ScalarTypeType", "LayoutType", "MemoryFormatType"), "int")


@pytest.mark.parametrize(
    ("type_", "value"),
    [
        ("ScalarType", "torch.float64"),
        ("ScalarType?", "torch.float64"),
        ("ScalarType[]", "[torch.float64]"),
        ("Layout", "torch.strided"),
        ("MemoryFormat", "torch.channels_last"),
        ("Device", "torch.device('cpu')"),
        ("Scalar", "2.5"),
        ("str", "'text'"),
        ("int[]", "[1, 2]"),
        ("(Tensor, ScalarType)", "(x, torch.float64)"),
    ],
)
def test_results_are_what_calls_give(type_: str, value: str, tmp_path: Path) -> None:
    """A kernel may return a dtype; its caller gets a number."""
    program = f"""\
import torch

library = torch.library.Library("given", "DEF")
library.define("f(Tensor x) -> {type_}")
library.impl("f", lambda x: {value}, "CompositeExplicitAutograd")
given = torch.ops.given.f(torch.ones(1))
parts = list(given) if isinstance(given, (list, tuple)) else [given]
print(*[type(part).__name__ for part in parts])
"""
    done = run_forked(["-c", program], tmp_path, dict(os.environ))
    assert done.returncode == 0, done.stderr
    schema, _ = parse_schema(f"given::f(Tensor x) -> {type_}")
    assert schema is not None
    written = str(torch_ops.returns_type(schema))
    names = written.removeprefix("list[").removeprefix("tuple[").removesuffix("]").split(", ")
    for name, got in zip(names * 2, done.stdout.split()):
        assert got in name.split(" | ") or (got, name) == ("float", "Number | complex")


def expected_type(jit: Any, size: int | None) -> str | None:
    """The annotation for an argument's `real_type`; None if there is no simple one."""
    kind = jit.kind()
    if kind == "OptionalType":
        inner = expected_type(jit.getElementType(), size)
        return None if inner is None else inner if inner in ("Any", "None") else f"{inner} | None"
    if kind == "ListType":
        inner = expected_type(jit.getElementType(), None)
        if inner is None:
            return None
        # `toIValue` repeats a single `int` or `float`, and nothing else.
        is_repeated = size and inner in ("int", "float")
        return f"{inner} | Sequence[{inner}]" if is_repeated else f"Sequence[{inner}]"
    return LEAVES.get(kind)


def expected_returns(schema: Any) -> str:
    """The annotation of the result: lists are lists, not sequences, and a device is not a string."""
    if str(schema).endswith("-> ..."):
        return "Any"
    types = [expected_result(r.real_type) for r in schema.returns]
    if len(types) == 1:
        return types[0]
    return f"tuple[{', '.join(types)}]" if types else "None"


def expected_result(jit: Any) -> str:
    kind = jit.kind()
    if kind == "OptionalType":
        return f"{expected_result(jit.getElementType())} | None"
    if kind == "ListType":
        return f"list[{expected_result(jit.getElementType())}]"
    if kind == "DictType":
        return f"dict[{expected_result(jit.getKeyType())}, {expected_result(jit.getValueType())}]"
    return RETURNED.get(kind) or LEAVES[kind].removesuffix(" | str")


def parameters(call: ast.FunctionDef) -> list[tuple[str, str, bool, str]]:
    """For each parameter after `_op`: name, annotation, whether it is keyword-only, and default."""
    arguments = call.args
    positional = [*arguments.posonlyargs, *arguments.args][1:]
    defaults = [None] * (len(positional) - len(arguments.defaults)) + list(arguments.defaults)
    found = []
    for item, default in zip(positional, defaults[-len(positional) :] if positional else []):
        found.append((item, False, default))
    for item, keyword_default in zip(arguments.kwonlyargs, arguments.kw_defaults):
        found.append((item, True, keyword_default))
    return [
        (
            a.arg,
            ast.unparse(a.annotation) if a.annotation else "",
            kwonly,
            ast.unparse(d) if d else "",
        )
        for a, kwonly, d in found
    ]


def agrees(default: str, value: Any) -> bool:
    """Whether a stub's default matches the schema's, in which C++ constants are numbers."""
    if default == "...":
        return not isinstance(value, (str, bool)) and value is not None
    found = eval(default, {"float": float, "complex": complex})
    if isinstance(value, list):
        return list(found) == value if isinstance(found, tuple) else {found} == set(value)
    return bool(found == value or (found != found and value != value))


def test_signatures_agree_with_the_schemas(operators: Operators) -> None:
    wrong: list[str] = []
    for name, schema in registered().items():
        if name not in operators:
            continue
        call = operators[name]
        stub = parameters(call)
        names = [a.name + "_" if keyword.iskeyword(a.name) else a.name for a in schema.arguments]
        once = [n + "_" if n in names[:i] else n for i, n in enumerate(names)]
        if [s[0] for s in stub] != once:
            wrong.append(f"{name}: names {[s[0] for s in stub]} for {once}")
            continue
        seen_default = False
        for (text, annotation, kwonly, default), argument in zip(stub, schema.arguments):
            has_default = argument.has_default_value()
            seen_default = not kwonly and (seen_default or has_default)
            if kwonly != argument.kwarg_only:
                wrong.append(f"{name}: {text} keyword-only")
            expected = expected_type(argument.real_type, argument.N)
            if expected is not None and expected != annotation:
                wrong.append(f"{name}: {text}: {annotation} for {expected}")
            if has_default and not agrees(default, argument.default_value):
                wrong.append(f"{name}: {text} = {default} for {argument.default_value!r}")
            if not has_default and default and not (seen_default and default == "..."):
                wrong.append(f"{name}: {text} has a default")
        returns = ast.unparse(call.returns) if call.returns else ""
        if returns != expected_returns(schema):
            wrong.append(f"{name}: returns {returns} for {schema}")
    assert wrong == []


def test_the_package_type_checks_as_a_whole(stubs: Path, python: Path, mypy_cache: Path) -> None:
    modules = ["-m", "torch._ops"]
    for path in sorted((stubs / "torch-stubs" / "_ops_stubs").glob("*.pyi")):
        if path.stem != "__init__":
            modules += ["-m", f"torch._ops_stubs.{path.stem}"]
    assert len(modules) > 40
    assert run_mypy(python, *modules, cache=mypy_cache) == ""


GOOD = """\
import torch

x = torch.ones(2, 3)
y: torch.Tensor = torch.ops.aten.add.Tensor(x, x, alpha=2)
z: torch.Tensor = torch.ops.aten.add(x, 2.0)
pair: tuple[torch.Tensor, torch.Tensor] = torch.ops.aten.max.dim(x, 0, keepdim=True)
parts: list[torch.Tensor] = torch.ops.aten.split.Tensor(x, 1)
torch.ops.aten.sum.dim_IntList(x, [0, 1], dtype=torch.float64)
torch.ops.aten.sum.default(self=x)
torch.ops.aten.avg_pool2d.default(x, 2)
torch.ops.aten.zeros.default([2, 3], dtype=x.dtype, device="cpu").to(torch.float32).sum().item()
torch.ops.prims.sin.default(x)
torch.ops.somebody.elses.default(1, 2)
"""
WRONG = """\
import torch

x = torch.ones(2, 3)
torch.ops.aten.add.Tensor(x)
torch.ops.aten.add.Tensor(x, "2")
torch.ops.aten.add.Tensor(x, x, 2)
torch.ops.aten.add.Tensor(x, x, beta=2)
torch.ops.aten.ad.Tensor(x, x)
torch.ops.aten.add.Tenser(x, x)
torch.ops.aten.add(x, [])
torch.ops.aten.sum.dim_IntList(x, "0")
torch.ops.aten.split.Tensor([x], 1)
torch.ops.aten.relu.default(x, inplace=True)
torch.ops.aten.cat.default(3)
torch.ops.aten.cat.default([x], dim="0")
torch.ops.aten.max.dim(x, 0)[2]
torch.ops.aten.zeros.default(2)
torch.ops.aten.zeros.default([2], pin_memory=1.5)
torch.ops.aten.dropout.default(x, 0.5)
torch.ops.aten.clamp.default(x, min="0")
number: int = torch.ops.aten.size.default(x)
torch.ops.prims.sin.default()
torch.ops.aten.copy_.default(x, 3)
torch.ops.aten.mul.out(x, x)
"""


def test_mypy_accepts_right_calls_and_refuses_wrong_ones(
    python: Path, mypy_cache: Path, tmp_path: Path
) -> None:
    good, wrong = tmp_path / "good.py", tmp_path / "wrong.py"
    good.write_text(GOOD)
    wrong.write_text(WRONG)
    printed = run_mypy(python, str(good), str(wrong), cache=mypy_cache)
    errors = [line for line in printed.splitlines() if ": error: " in line]
    assert [line for line in errors if "good.py" in line] == []
    lines = {int(line.partition("wrong.py:")[2].partition(":")[0]) for line in errors}
    assert lines == set(range(4, WRONG.count("\n") + 1))
    assert 'Argument 2 to "__call__" of "_op_add__Tensor" has incompatible type "str"' in printed
    assert '"_op_add" has no attribute "Tenser"; maybe "Tensor"?' in printed


@needs_pyright
def test_pyright_accepts_right_calls_and_refuses_wrong_ones(stubs: Path, tmp_path: Path) -> None:
    good = tmp_path / "good" / "good.py"
    wrong = tmp_path / "wrong" / "wrong.py"
    for path, text in ((good, GOOD), (wrong, WRONG)):
        path.parent.mkdir()
        path.write_text(text)
    assert run_pyright(good, stubs) == []
    assert {line for line, _ in run_pyright(wrong, stubs)} == set(range(4, WRONG.count("\n") + 1))
