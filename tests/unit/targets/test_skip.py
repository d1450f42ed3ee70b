"""`skip`, an option of every target that writes code for operators."""

from __future__ import annotations

from pathlib import Path

import pytest

import torchgen_lite
from torchgen_lite.loader.config import Config
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
