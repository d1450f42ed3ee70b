"""References that cannot be right are refused alike for every target, at their place, with a code and help; those that
can be right are not."""

from __future__ import annotations

import json
from pathlib import Path
from typing import NamedTuple

import pytest

from torchgen_lite import load
from torchgen_lite.diagnostics import Diagnostic
from torchgen_lite.pipeline import generate_all

TARGETS = ("torch-python", "cpp-torch", "cpp-torch-stable", "python")
ARGUMENTS = (
    "Tensor x, Tensor? w, Tensor[] ts, int n, SymInt m, float f, Scalar s, bool b, str t, int[] ns"
)


class Wrong(NamedTuple):
    """A reference that cannot be right, as the results of an operator; `place` is the part that is pointed at."""

    kind: str
    returns: str
    reference: str
    code: str
    message: str
    place: str = ""


WRONG = [
    Wrong(
        "number for tensor",
        "Tensor",
        "x.dim() + 1",
        "TG335",
        "the reference gives an integer, and not `Tensor`",
    ),
    Wrong(
        "literal for tensor",
        "Tensor",
        "2.5",
        "TG335",
        "the reference gives a float, and not `Tensor`",
    ),
    Wrong(
        "built-in number for tensor",
        "Tensor",
        "len(ts)",
        "TG335",
        "the reference gives an integer, and not `Tensor`",
    ),
    Wrong(
        "number in a branch",
        "Tensor",
        "x if b else n",
        "TG335",
        "the reference gives an integer, and not `Tensor`",
        "n",
    ),
    Wrong(
        "list for tensor",
        "Tensor",
        "[x, x]",
        "TG335",
        "the reference gives a list of tensors, and not `Tensor`",
    ),
    Wrong(
        "list of a function for tensor",
        "Tensor",
        "x.chunk(2)",
        "TG335",
        "the reference gives a list of tensors, and not `Tensor`",
    ),
    Wrong(
        "list of an argument for tensor",
        "Tensor",
        "ts",
        "TG335",
        "the reference gives a list of tensors, and not `Tensor`",
    ),
    Wrong(
        "two results for tensor",
        "Tensor",
        "x.max(0)",
        "TG335",
        "the reference gives a list of tensors, and not `Tensor`",
    ),
    Wrong(
        "tensor for list",
        "Tensor[]",
        "x * 2",
        "TG335",
        "the reference gives a tensor, and not `Tensor[]`",
    ),
    Wrong(
        "tensor for number",
        "int",
        "x.sum()",
        "TG335",
        "the reference gives a tensor, and not `int`",
    ),
    Wrong(
        "tensor for float",
        "float",
        "x * 2",
        "TG335",
        "the reference gives a tensor, and not `float`",
    ),
    Wrong(
        "tensor for truth", "bool", "x > 0", "TG335", "the reference gives a tensor, and not `bool`"
    ),
    Wrong(
        "float for integer", "int", "n / 2", "TG335", "the reference gives a float, and not `int`"
    ),
    Wrong(
        "string for tensor",
        "Tensor",
        "t",
        "TG335",
        "the reference gives a string, and not `Tensor`",
    ),
    Wrong(
        "dtype for tensor",
        "Tensor",
        "x.dtype",
        "TG335",
        "the reference gives a dtype, and not `Tensor`",
    ),
    Wrong(
        "more results",
        "(Tensor, Tensor)",
        "(x, x, x)",
        "TG335",
        "the reference gives 3 results, and the operator has 2 results",
    ),
    Wrong(
        "fewer results",
        "(Tensor, Tensor, Tensor)",
        "(x, x)",
        "TG335",
        "the reference gives 2 results, and the operator has 3 results",
    ),
    Wrong(
        "one tensor for results",
        "(Tensor, Tensor)",
        "x + 1",
        "TG335",
        "the reference gives a tensor, and the operator has 2 results",
    ),
    Wrong(
        "two results of a function for three",
        "(Tensor, Tensor, Tensor)",
        "torch.max(x, 0)",
        "TG335",
        "the reference gives 2 results, and the operator has 3 results",
    ),
    Wrong(
        "number among results",
        "(Tensor, Tensor)",
        "(x, n)",
        "TG335",
        "the reference gives an integer, and not `Tensor`",
        "n",
    ),
    Wrong(
        "list among results",
        "(Tensor, Tensor)",
        "(x, [x])",
        "TG335",
        "the reference gives a list of tensors, and not `Tensor`",
        "[x]",
    ),
    Wrong(
        "unknown function",
        "Tensor",
        "torch.sigmoidd(x)",
        "TG341",
        "the reference calls `torch.sigmoidd`, which PyTorch does not have",
    ),
    Wrong(
        "unknown function inside",
        "Tensor",
        "x + torch.expp(x)",
        "TG341",
        "the reference calls `torch.expp`, which PyTorch does not have",
        "torch.expp(x)",
    ),
    Wrong(
        "unknown function in a slice",
        "Tensor",
        "torch.expp(x)[:, 1:]",
        "TG341",
        "the reference calls `torch.expp`, which PyTorch does not have",
        "torch.expp(x)",
    ),
    Wrong(
        "function of another module",
        "Tensor",
        "torch.silu(x)",
        "TG341",
        "the reference calls `torch.silu`, which PyTorch does not have",
    ),
    Wrong(
        "unknown function of a module",
        "Tensor",
        "torch.nn.functional.siluu(x)",
        "TG341",
        "the reference calls `torch.nn.functional.siluu`, which PyTorch does not have",
    ),
    Wrong(
        "unknown method",
        "Tensor",
        "x.sigmoidd()",
        "TG322",
        "tensors have no method `sigmoidd` in Python",
    ),
    Wrong(
        "unknown method of what is computed",
        "Tensor",
        "(x.relu() + 1).sigmoidd()",
        "TG322",
        "tensors have no method `sigmoidd` in Python",
    ),
    Wrong(
        "unknown method of a function's result",
        "Tensor",
        "torch.exp(x).sigmoidd()",
        "TG322",
        "tensors have no method `sigmoidd` in Python",
    ),
    Wrong(
        "unknown method of an item",
        "Tensor",
        "ts[0].sigmoidd()",
        "TG322",
        "tensors have no method `sigmoidd` in Python",
    ),
    Wrong(
        "unknown method in an argument",
        "Tensor",
        "torch.nn.functional.relu(x.sigmoidd())",
        "TG322",
        "tensors have no method `sigmoidd` in Python",
        "x.sigmoidd()",
    ),
    Wrong(
        "method that is a function",
        "Tensor",
        "x.cat()",
        "TG322",
        "tensors have no method `cat` in Python",
    ),
    Wrong(
        "method of a number",
        "Tensor",
        "x * n.sigmoid()",
        "TG322",
        "`n` is an integer, and has no `sigmoid`",
        "n.sigmoid()",
    ),
    Wrong(
        "method of a list",
        "Tensor",
        "x * ts.sigmoid()",
        "TG322",
        "`ts` is a list of tensors, and has no `sigmoid`",
        "ts.sigmoid()",
    ),
    Wrong(
        "unknown attribute",
        "Tensor",
        "x * x.shap",
        "TG322",
        "tensors have no attribute `shap` in Python",
        "x.shap",
    ),
    Wrong(
        "method that is not called",
        "Tensor",
        "x * x.dim",
        "TG322",
        "`x.dim` is a method, and not what it gives",
        "x.dim",
    ),
    Wrong(
        "result that is not called",
        "Tensor",
        "(x.relu)",
        "TG322",
        "`x.relu` is a method, and not what it gives",
        "x.relu",
    ),
    Wrong(
        "too few arguments",
        "Tensor",
        "torch.add(x)",
        "TG323",
        "`add` takes 2 to 3 arguments, and 1 is given",
    ),
    Wrong(
        "too many arguments",
        "Tensor",
        "torch.exp(x, x)",
        "TG323",
        "`exp` takes 1 argument, and 2 are given",
    ),
    Wrong(
        "too many arguments of a method",
        "Tensor",
        "x.exp(x)",
        "TG323",
        "`Tensor.exp` takes no arguments, and 1 is given",
    ),
    Wrong(
        "no tensor",
        "Tensor",
        "torch.exp(2.5)",
        "TG323",
        "`exp` takes a tensor, and none is given",
    ),
    Wrong(
        "list for a tensor argument",
        "Tensor",
        "torch.exp([x, x])",
        "TG323",
        "no overload of `exp` takes these arguments, such as `exp(Tensor self) -> Tensor`",
    ),
    Wrong(
        "tensors for a list argument",
        "Tensor",
        "torch.cat(x, x)",
        "TG323",
        "`cat` takes a list as `tensors`, and several arguments are given",
    ),
    Wrong(
        "unknown name",
        "Tensor",
        "x * wieght",
        "TG335",
        "unknown name `wieght` in a reference",
        "wieght",
    ),
    Wrong(
        "operator of a list",
        "Tensor",
        "x + ts",
        "TG344",
        "`ts` is a list of tensors: `+` takes tensors and numbers",
        "ts",
    ),
    Wrong(
        "operator of a string",
        "Tensor",
        "x * t",
        "TG344",
        "`t` is a string: `*` takes tensors and numbers",
        "t",
    ),
    Wrong(
        "operator of nothing",
        "Tensor",
        "x + None",
        "TG344",
        "`None` is None: `+` takes tensors and numbers",
        "None",
    ),
]

RIGHT = [
    ("Tensor", "x"),
    ("Tensor", "x if w is None else w"),
    ("Tensor", "w"),
    ("Tensor", "x * n ** 2 + x // 2 + m % 2"),
    ("Tensor", "torch.exp(x if b else x * 0.5)"),
    ("Tensor", "x * (1.0 if w is None else w)"),
    ("Tensor", "x.max(0)[0] + x.max(0).values + x.T.max(x)"),
    ("Tensor", "x[:, 1:].view(2, -1).expand(3, 2, 1)"),
    ("Tensor", "x.reshape(x.shape[:-1] + (1,)).sum(ns or [0])"),
    ("Tensor", "torch.nn.functional.silu(x, inplace=False)"),
    (
        "Tensor",
        "torch.tensordot(x, x, 1) + torch.einsum('ij,ij->ij', x, x) + torch.meshgrid(x, x)[0]",
    ),
    ("Tensor", "x.nonzero(as_tuple=True)[0]"),
    ("Tensor", "torch.zeros(2, 3, dtype=x.dtype) + torch.finfo(x.dtype).eps"),
    ("Tensor", "torch.add(x, 2, x)"),
    ("Tensor", "torch.ops.aten.exp(x)"),
    ("Tensor", "torch.linalg.norm(x) + torch.special.expit(x) + torch.fft.fft(x).real"),
    ("Tensor", "x.new_tensor(x.dim())"),
    ("Tensor", "sum(ts) * max(n, 2)"),
    ("Tensor?", "w"),
    ("Tensor?", "None"),
    ("Tensor[]", "ts"),
    ("Tensor[]", "[x, x]"),
    ("Tensor[]", "x.chunk(2)"),
    ("Tensor[]", "list(ts)"),
    ("Tensor[]", "x.nonzero(as_tuple=True)"),
    ("(Tensor, Tensor)", "(x, x)"),
    ("(Tensor, Tensor)", "[x, x]"),
    ("(Tensor, Tensor)", "torch.max(x, 0)"),
    ("(Tensor, Tensor)", "x.sort(0) if b else x.topk(2)"),
    ("(Tensor, Tensor)", "x.chunk(2)"),
    ("(Tensor, Tensor)", "ts"),
    ("(Tensor, Tensor[], int)", "(x, [x], n)"),
    ("int", "x.dim()"),
    ("int", "n // 2 + len(ts)"),
    ("int", "s + 1"),
    ("float", "n"),
    ("float", "x.sum().item()"),
    ("Scalar", "s * 2"),
    ("bool", "n > 1 and b"),
    ("str", "t"),
    ("int[]", "x.shape"),
    ("int[]", "ns"),
    ("()", "x"),
]


def entry(returns: str, reference: str, name: str = "f", more: str = "") -> str:
    # A name has no quotes, so that its place is its own.
    written = reference if reference.replace(".", "").isidentifier() else json.dumps(reference)
    return (
        f"- func: my::{name}({ARGUMENTS}) -> {returns}\n  dispatch:\n    CPU: {name}\n{more}"
        f"  samples:\n    calls: []\n    reference: {written}\n"
    )


def found(text: str, target: str, folder: Path) -> list[Diagnostic]:
    """What the program and the target report, without what is about functions in Python and fakes."""
    (folder / "ops.yaml").write_text(text)
    settings = f'schema = "ops.yaml"\ntargets = ["{target}"]\n'
    if target == "python":
        settings += '[target.python]\npackage = "ops"\n'
    (folder / "torchgen_lite.toml").write_text(settings)
    program = load(root=folder)
    reported = program.diagnostics or generate_all(program).diagnostics
    codes = {wrong.code for wrong in WRONG} | {"TG345"}
    return [one for one in reported if one.code in codes]


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("wrong", WRONG, ids=[wrong.kind for wrong in WRONG])
def test_what_cannot_be_right_is_refused(wrong: Wrong, target: str, tmp_path: Path) -> None:
    reported = found(entry(wrong.returns, wrong.reference), target, tmp_path)
    assert [(one.code, one.message) for one in reported] == [(wrong.code, wrong.message)]
    (only,) = reported
    assert only.severity == "error" and only.help is not None
    assert only.label is not None and only.label.span.line == 6
    assert only.label.span.text == (wrong.place or wrong.reference)


@pytest.mark.parametrize("wrong", WRONG, ids=[wrong.kind for wrong in WRONG])
@pytest.mark.parametrize("more", ["    Meta: reference\n", "  derivatives: auto\n"])
def test_it_is_the_same_where_a_reference_is_computed(
    wrong: Wrong, more: str, tmp_path: Path
) -> None:
    reported = found(entry(wrong.returns, wrong.reference, more=more), "torch-python", tmp_path)
    assert (wrong.code, wrong.message) in [(one.code, one.message) for one in reported]


@pytest.mark.parametrize("target", ["torch-python", "cpp-torch"])
def test_what_can_be_right_is_not(target: str, tmp_path: Path) -> None:
    entries = [entry(returns, text, f"f{i}") for i, (returns, text) in enumerate(RIGHT)]
    reported = found("".join(entries), target, tmp_path)
    assert [(one.label and one.label.span.text, one.message) for one in reported] == []


def test_values_of_let_are_typed(tmp_path: Path) -> None:
    text = entry("Tensor", "x").partition("    reference")[0]
    text += "    reference:\n      let:\n        k: x.dim()\n        y: x.sigmoidd()\n      result: k * 2 + len(y)\n"
    reported = found(text, "torch-python", tmp_path)
    assert [(one.code, one.label and one.label.span.text) for one in reported] == [
        ("TG322", "x.sigmoidd()"),
        ("TG335", "k * 2 + len(y)"),
    ]


def test_a_function_is_not_looked_into(tmp_path: Path) -> None:
    """A name is that of a function of a module."""
    assert found(entry("Tensor", "my_module.sigmoidd"), "cpp-torch", tmp_path) == []


@pytest.mark.parametrize(
    ("schema", "reference"),
    [
        ("f_(Tensor(a!) self) -> Tensor(a!)", "self.add_(1)"),
        ("f.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)", "torch.exp(self, out=out)"),
        ("f(Tensor self, Tensor(a!) buffer) -> ()", "buffer.copy_(self)"),
    ],
)
def test_an_operator_that_writes_has_a_reference_that_writes(
    schema: str, reference: str, tmp_path: Path
) -> None:
    text = (
        f"- func: my::{schema}\n  dispatch: {{CPU: f}}\n"
        f"  samples:\n    calls: []\n    reference: {json.dumps(reference)}\n"
    )
    assert found(text, "torch-python", tmp_path) == []


@pytest.mark.parametrize("target", ["torch-python", "cpp-torch"])
@pytest.mark.parametrize("more", ["    Meta: reference\n", "  derivatives: auto\n"])
def test_a_functional_operator_does_not_write(target: str, more: str, tmp_path: Path) -> None:
    reported = found(entry("Tensor", "x.add_(1)", more=more), target, tmp_path)
    assert [one.code for one in reported] == ["TG345"]
