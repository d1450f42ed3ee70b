"""Ways to break callers, each with the finding that says so: `scenarios.toml` is the table."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import Result
from torchgen_lite.loader.config.project import tomllib

Run = Callable[..., Result]
TABLE = Path(__file__).with_name("scenarios.toml")
FAKES = """\
def one(self, dim=0):
    return self.new_empty(1)

def two(self, dim=0):
    return self.new_empty(2)

def f_vmap(info, in_dims, self, *others):
    return self * 7, in_dims[0]
"""
SCENARIOS: list[Mapping[str, Any]] = tomllib.loads(TABLE.read_text("utf-8"))["scenario"]
LEVELS = ("source", "call", "kernel")
PLACE = re.compile(r"(?:old/)?([\w./-]+?):\d+:\d+")


def write(folder: Path, scenario: Mapping[str, Any], schema: str, more: str) -> None:
    """One side of a pair: its configuration, its schema, and the modules that options name."""
    folder.mkdir(exist_ok=True)
    config = f"{scenario.get('config', '')}\n{scenario.get(more, '')}\n"
    (folder / "torchgen_lite.toml").write_text(config)
    (folder / "native_functions.yaml").write_text(scenario[schema])
    files = {"fakes.py": FAKES, **scenario.get("files", {}), **scenario.get(f"{schema}_files", {})}
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)


def said(text: str) -> list[str]:
    """The findings, without the numbers of their places."""
    lines = [PLACE.sub(r"\1", line) for line in text.splitlines() if "[TG" in line]
    return [line.replace("native_functions.yaml", "PATH") for line in lines]


@pytest.mark.parametrize("scenario", SCENARIOS, ids=lambda scenario: scenario["name"])
def test_what_breaks_callers_is_found(run: Run, project: Path, scenario: Mapping[str, Any]) -> None:
    write(project / "old", scenario, "old", "before")
    write(project, scenario, "new", "after")
    asked = ("--against", "old", "--level", scenario.get("level", "source"))
    result = run("breaking", *asked, "--output-format", "concise")
    found = {"code": result.code, "lines": said(result.stderr)}
    if os.environ.get("UPDATE_EXPECT"):
        update(scenario, found)
    assert found == {name: scenario[name] for name in found}
    codes = [
        {one["code"] for one in json.loads(answer.stdout)["diagnostics"] if one.get("effect")}
        for command in ("breaking", "review")
        if (answer := run(command, *asked, "--output-format", "json"))
    ]
    assert codes[0] == codes[1]
    findings = [line for line in scenario["lines"] if not line.startswith("note[")]
    assert bool(codes[0]) == bool(findings)


@pytest.mark.parametrize("scenario", SCENARIOS, ids=lambda scenario: scenario["name"])
def test_what_each_level_leaves_out(run: Run, project: Path, scenario: Mapping[str, Any]) -> None:
    """Calls notice less than source code, and nothing else; kernels notice their types."""
    write(project / "old", scenario, "old", "before")
    write(project, scenario, "new", "after")
    found = {}
    for level in LEVELS:
        asked = ("--against", "old", "--level", level, "--output-format", "concise")
        found[level] = set(said(run("breaking", *asked).stderr))
    assert found["call"] <= found["source"]
    assert codes_of(found["source"] - found["call"]) <= {"TG353", "TG362", "TG365", "TG381"}
    noticed = codes_of(found["kernel"]) - {"TG350", "TG351"}
    assert noticed == ({"TG366"} if scenario.get("kernels") else set())


def codes_of(lines: Iterable[str]) -> set[str]:
    return {line.partition("[")[2].partition("]")[0] for line in lines}


def update(scenario: Mapping[str, Any], found: Mapping[str, Any]) -> None:
    text = TABLE.read_text("utf-8")
    before, name, rest = text.partition(f'name = "{scenario["name"]}"\n')
    listed = "".join(f"    {json.dumps(line, ensure_ascii=False)},\n" for line in found["lines"])
    lines = f"code = {found['code']}\nlines = [\n{listed}]\n"
    rest = re.sub(r"(?ms)^code = .*?^\]\n", lambda _: lines, rest, count=1)
    TABLE.write_text(f"{before}{name}{rest}", "utf-8")


def test_the_table_has_no_name_twice() -> None:
    names = [scenario["name"] for scenario in SCENARIOS]
    assert len(names) == len(set(names)) >= 38


@pytest.mark.parametrize(
    ("target", "option"),
    [("cpp-torch", 'namespace = "lib"'), ("torch-python", 'package = "lib_ops"')],
)
def test_a_default_that_is_written_out_breaks_nobody(
    run: Run, project: Path, target: str, option: str
) -> None:
    schema = "- func: lib::f(Tensor self, int dim=0) -> Tensor\n"
    scenario = {
        "config": f'targets = ["{target}"]',
        "after": f"[target.{target}]\n{option}\n",
        "schema": schema,
    }
    write(project / "old", scenario, "schema", "before")
    write(project, scenario, "schema", "after")
    result = run("breaking", "--against", "old")
    assert (result.code, result.stderr) == (0, "1 operator, no breaking changes against old\n")


def test_new_names_of_axes_break_nobody(run: Run, project: Path) -> None:
    entry = "- func: lib::mm(Tensor a, Tensor b) -> Tensor\n  dispatch: {CPU: mm}\n  axes: "
    scenario = {
        "config": 'targets = ["torch-python"]',
        "old": f"{entry}a[m, k+], b[k+, n] -> [m, n]\n",
        "new": f"{entry}b[j+, n], a[i, j+] -> [i, n]\n",
    }
    write(project / "old", scenario, "old", "before")
    write(project, scenario, "new", "after")
    result = run("breaking", "--against", "old")
    assert (result.code, result.stderr) == (0, "1 operator, no breaking changes against old\n")


@pytest.mark.parametrize(
    ("target", "old", "new"),
    [
        ("torch-python", "decompose: [onnx, inductor]", "decompose: inductor, onnx"),
        ("torch-python", "flops: 4*self.numel()", "flops: (4 * self.numel())"),
        # Nobody is told what no target registers.
        ("python", "checkpoint: save", "doc: Once."),
        ("cpp-torch", "flops: self.numel()", "doc: Once."),
    ],
)
def test_the_same_promise_in_other_words_breaks_nobody(
    run: Run, project: Path, target: str, old: str, new: str
) -> None:
    entry = """\
- func: lib::f(Tensor self) -> Tensor
  dispatch: {CPU: f}
  samples: {calls: [(randn(3))], reference: self * 2}
"""
    config = f'targets = ["{target}"]'
    scenario = {"config": config, "old": f"{entry}  {old}\n", "new": f"{entry}  {new}\n"}
    write(project / "old", scenario, "old", "before")
    write(project, scenario, "new", "after")
    result = run("breaking", "--against", "old")
    assert (result.code, result.stderr) == (0, "1 operator, no breaking changes against old\n")


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        (
            "checkpoint: save",
            "checkpoint: recompute",
            ["'lib::f': 'checkpoint' changed from 'save' to 'recompute'"],
        ),
        (
            "flops: 4 * self.numel()",
            "flops: 2 * self.numel()",
            ["'lib::f': 'flops' changed from '4 * self.numel()' to '2 * self.numel()'"],
        ),
        (
            "decompose: inductor",
            "decompose: onnx",
            [
                "'lib::f': 'decompose: inductor' was removed",
                "'lib::f': 'decompose: onnx' was added",
            ],
        ),
    ],
)
def test_another_word_of_a_field_that_has_one_is_one_finding(
    run: Run, project: Path, old: str, new: str, said: list[str]
) -> None:
    entry = """\
- func: lib::f(Tensor self) -> Tensor
  dispatch: {CPU: f}
  fake: {like: self}
  samples: {calls: [(randn(3))], reference: self * 2}
"""
    config = 'targets = ["torch-python"]'
    scenario = {"config": config, "old": f"{entry}  {old}\n", "new": f"{entry}  {new}\n"}
    write(project / "old", scenario, "old", "before")
    write(project, scenario, "new", "after")
    result = run("breaking", "--against", "old", "--output-format", "json")
    found = [one["message"] for one in json.loads(result.stdout)["diagnostics"]]
    assert [text.replace("`", "'") for text in found] == said


def test_a_new_name_of_an_argument_changes_no_formula(run: Run, project: Path) -> None:
    """A formula has the new name; a method of the same name keeps its own."""
    text = """\
- func: lib::f(Tensor self, int dim) -> Tensor
  dispatch:
    CPU: f
  derivatives:
    self: grad * (self.dim() + dim)
  flops: 2 * dim
"""
    scenario = {"config": 'targets = ["torch-python"]', "old": text}
    scenario["new"] = text.replace("int dim", "int numel").replace("+ dim", "+ numel")
    scenario["new"] = scenario["new"].replace("2 * dim", "2 * numel")
    write(project / "old", scenario, "old", "before")
    write(project, scenario, "new", "after")
    result = run("breaking", "--against", "old", "--output-format", "json")
    codes = {one["code"] for one in json.loads(result.stdout)["diagnostics"]}
    assert codes.isdisjoint({"TG376", "TG380"}) and codes
    changed = scenario["new"].replace("self.dim()", "self.numel()")
    (project / "native_functions.yaml").write_text(changed)
    assert "TG376" in run("breaking", "--against", "old").stderr


def test_fields_of_files_without_a_configuration(run: Run, project: Path) -> None:
    """What wrappers in C++ do is PyTorch's affair there, and so is the module that it binds a function in."""
    (project / "torchgen_lite.toml").unlink()
    schema = "- func: f(Tensor self) -> Tensor\n  python_module: nn\n"
    (project / "old.yaml").write_text(schema)
    changed = schema.replace("nn", "linalg") + "  device_guard: False\n"
    (project / "native_functions.yaml").write_text(changed)
    result = run("breaking", "--against", "old.yaml", "--output-format", "concise")
    codes = [line.partition("[")[2][:5] for line in said(result.stderr)]
    assert (result.code, codes) == (1, ["TG381", "TG382"])
