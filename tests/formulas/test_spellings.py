"""`torch.sigmoid(x)` and `sigmoid(x)` are one function in every field, for every target."""

from __future__ import annotations

import json
from collections.abc import Callable
from itertools import product
from pathlib import Path

import pytest

from tests.conftest import Result

Run = Callable[..., Result]

TARGETS = {
    "python": 'package = "ops"\nframework = "torchgen_lite_reference.framework"\nkernels = ["kernels"]\n',
    "torch-python": 'package = "ops"\nkernels = ["kernels"]\nformulas = ["kernels"]\n',
    "cpp-torch": 'kernel-headers = ["k.h"]\n',
}
KERNELS = "def act_cpu(x, n): ...\ndef sigmoid_cpu(self): ...\n"
HEAD = "- func: mylib::act(Tensor x, int n) -> Tensor\n  dispatch:\n    CPU, Meta: act_cpu\n"
# The operator of PyTorch that a package of this project's own runtime needs to have.
SIGMOID = "- func: sigmoid(Tensor self) -> Tensor\n  dispatch:\n    CPU: sigmoid_cpu\n"
FIELDS = {
    "derivatives": "  derivatives:\n    x: grad * {0}sigmoid(x)\n",
    "let": "  derivatives:\n    let:\n      s: {0}sigmoid(x)\n    x: grad * s * (1 - s)\n",
    "dtype of a formula": "  derivatives:\n    x: grad.to({0}float64)\n",
    "unknown function": "  derivatives:\n    x: grad * {0}sigmoidd(x)\n",
    "wrong number": "  derivatives:\n    x: grad * {0}sigmoid(x, x, x)\n",
    "fake": "  fake:\n    shape: [x.size(0), '{0}max(n, 2)']\n    dtype: {0}float64\n",
    "check": "  fake:\n    like: x\n    check:\n      x.dtype == {0}float32: x is float32\n",
    "flops": "  flops: '{0}max(n, 1) * x.numel()'\n",
    "samples": "  samples:\n  - ({0}randn(3, 4, dtype={0}float64).t(), 3)\n  - x: {0}randn(3)\n    n: 2\n",
    "unknown factory": "  samples:\n  - ({0}randnn(3, 4), 3)\n",
    "reference": "  samples:\n    calls: ['(randn(3), 3)']\n    reference: {0}sigmoid(x).to({0}float64) * n\n",
    "results": """\
  samples:
    calls: ['(randn(3), 3)']
    reference:
      let: {{s: '{0}exp(x)'}}
      result: '{0}where(s > 1, s, {0}zeros_like(x))'
""",
}
# What is no operator, and a dtype: formulas have none.
MISTAKES = frozenset({"dtype of a formula", "unknown function", "wrong number", "unknown factory"})


def write_project(folder: Path, target: str, entry: str, before: str = "") -> None:
    (folder / "torchgen_lite.toml").write_text(
        f'targets = ["{target}"]\n[target.{target}]\n{TARGETS[target]}'
    )
    if "fake:" in entry:
        entry = entry.replace("CPU, Meta", "CPU")
    (folder / "native_functions.yaml").write_text(before + entry)
    (folder / "kernels.py").write_text(KERNELS)


def findings(run: Run) -> list[tuple[str, ...]]:
    """What `lint` says, without places."""
    said = json.loads(run("lint", "--output-format", "json").stdout)
    return [(one["code"], one["message"], one.get("help") or "") for one in said["diagnostics"]]


def generated(run: Run, folder: Path) -> dict[str, str]:
    run("generate")
    files = sorted(path for path in (folder / "generated").rglob("*") if path.is_file())
    return {path.relative_to(folder).as_posix(): path.read_text() for path in files}


@pytest.mark.parametrize(("field", "target"), [*product(FIELDS, TARGETS)])
def test_both_spellings_are_one(
    field: str, target: str, run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    said = []
    files = []
    before = SIGMOID if target == "python" else ""
    for prefix in ("", "torch."):
        folder = tmp_path / f"folder{prefix}"
        folder.mkdir()
        monkeypatch.chdir(folder)
        write_project(folder, target, HEAD + FIELDS[field].format(prefix), before)
        said.append(findings(run))
        files.append(generated(run, folder))
        run("fmt")
        kept = (folder / "native_functions.yaml").read_text()
        assert kept.count("torch.") == FIELDS[field].count("{0}" * bool(prefix) or "?")
    assert said[0] == said[1]
    assert files[0] == files[1]
    assert bool(files[0]) != (field in MISTAKES), said[0]
    if field not in MISTAKES:
        other = tmp_path / "folder" / "native_functions.yaml"
        assert run("breaking", "--against", str(other)).code == 0


def test_a_formula_names_the_argument_that_is_called_torch(run: Run, project: Path) -> None:
    func = HEAD.replace("Tensor x", "Tensor torch")
    fields = """\
  derivatives:
    torch: grad * torch.sigmoid()
  fake: {like: torch, dtype: torch.dtype}
  samples:
    calls: ['(randn(3), 3)']
    reference: torch.sigmoid() * 2
"""
    write_project(project, "cpp-torch", func + fields)
    # No target of this project has a kernel of the fake.
    assert [code for code, *_ in findings(run)] == ["TG409", "TG535"]
    files = generated(run, project)
    assert "grad * torch.sigmoid()" in "".join(files.values())


OPERATOR = """\
- func: mylib::sigmoid(Tensor x) -> Tensor
  dispatch:
    CPU, Meta: sigmoid_cpu
  derivatives:
    x: grad
"""


@pytest.mark.parametrize("target", [name for name in TARGETS if name != "python"])
def test_an_operator_of_the_file_is_called_by_its_plain_name(
    target: str, run: Run, project: Path
) -> None:
    formula = "  derivatives:\n    x: grad * {}sigmoid(x)\n"
    write_project(project, target, HEAD + formula.format(""), OPERATOR)
    assert findings(run) == []
    write_project(project, target, HEAD + formula.format("torch."), OPERATOR)
    ((code, message, _),) = findings(run)
    assert code == "TG322"
    assert "`torch.sigmoid` is PyTorch's, and formulas have the operator `sigmoid`" in message


def test_a_helper_is_called_by_its_plain_name(run: Run, project: Path) -> None:
    formula = "  derivatives:\n    x: grad * {}sigmoid(x)\n"
    helper = "def sigmoid(x): ...\n"
    write_project(project, "torch-python", HEAD + formula.format(""))
    (project / "kernels.py").write_text(KERNELS + helper)
    assert findings(run) == []
    assert "torch.sigmoid(" not in "".join(generated(run, project).values())
    write_project(project, "torch-python", HEAD + formula.format("torch."))
    (project / "kernels.py").write_text(KERNELS + helper)
    ((code, message, _),) = findings(run)
    assert code == "TG540"
    assert message == "`torch.sigmoid` is PyTorch's, and `sigmoid` a function of yours"


def test_a_function_of_a_header_is_not_meant_by_the_prefix(run: Run, project: Path) -> None:
    write_project(
        project, "cpp-torch", HEAD + "  derivatives:\n    x: grad * torch.sigmoid(x) * g(x)\n"
    )
    with (project / "torchgen_lite.toml").open("a") as config:
        config.write('formula-headers = ["formulas.h"]\n')
    text = "".join(generated(run, project).values())
    assert "at::sigmoid(x)" in text
    assert "formulas::g(x)" in text
