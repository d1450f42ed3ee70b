"""`skip`, an option of every target that writes code for operators."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

import torchgen_lite
from torchgen_lite.loader.config.project import Config
from torchgen_lite.pipeline import generate_all

OPERATORS = "- func: my::kept(Tensor x) -> Tensor\n- func: my::dropped.out(Tensor x) -> Tensor\n"
TARGETS = ("python", "cpp-torch", "cpp-torch-stable", "cpp-runtime", "torch-python")


def program(folder: Path, target: str, skip: list[str]) -> torchgen_lite.Program:
    (folder / "ops.yaml").write_text(OPERATORS)
    options: dict[str, object] = {"skip": skip}
    if target == "cpp-runtime":
        options["tensor"] = "my::Tensor"
    config = Config(folder, schema=("ops.yaml",), target_options={target: options})
    return torchgen_lite.load(config=config, root=folder)


@pytest.mark.parametrize("target", TARGETS)
def test_it_is_nowhere_in_the_output(tmp_path: Path, target: str) -> None:
    generated = generate_all(program(tmp_path, target, ["my::dropped.out"]), targets=[target])
    assert not [d for d in generated.diagnostics if d.code.startswith("TG5")]
    text = "".join(generated.files.values())
    assert "kept" in text and "dropped" not in text


@pytest.mark.parametrize("target", TARGETS)
def test_a_name_of_nothing(tmp_path: Path, target: str) -> None:
    generated = generate_all(program(tmp_path, target, ["my::droped.out"]), targets=[target])
    found = [d for d in generated.diagnostics if d.code == "TG510"]
    assert [(d.message, d.help and str(d.help)) for d in found] == [
        ("`skip`: there is no operator `my::droped.out`", "did you mean `my::dropped.out`?")
    ]


@pytest.mark.parametrize("target", TARGETS)
def test_a_class_of_python_is_for_torch_python(tmp_path: Path, target: str) -> None:
    """`calls-only`, which registers nothing, can't pass one either."""
    entries = (
        "- func: my::kept(Tensor x) -> Tensor\n- func: my::dropped(Tensor x, a.B[]? y) -> ()\n"
    )
    (tmp_path / "ops.yaml").write_text(entries)
    options: dict[str, dict[str, object]] = {"torch-python": {"opaque": {"a.B": "value"}}}
    options.setdefault(target, {}).update({"tensor": "my::Tensor"} if "runtime" in target else {})
    options[target].update({"calls-only": True} if target in ("cpp-torch", "cpp-runtime") else {})
    config = Config(tmp_path, schema=("ops.yaml",), target_options=options)
    program = torchgen_lite.load(config=config, root=tmp_path)
    generated = generate_all(program, targets=[target])
    found = [d.message for d in generated.diagnostics if d.code == "TG511"]
    is_here = target == "torch-python"
    said = "`my::dropped` has a class of Python as a type, which `torch-python` takes if no target is C++"
    assert found == ([] if is_here else [said])
    assert ("dropped" in "".join(generated.files.values())) == is_here
    beside = replace(config, targets=("cpp-torch-stable", "torch-python"))
    program = torchgen_lite.load(config=beside, root=tmp_path)
    generated = generate_all(program)
    assert [d.message for d in generated.diagnostics if d.code == "TG511"] == [said]
    assert "dropped" not in "".join(generated.files.values())
