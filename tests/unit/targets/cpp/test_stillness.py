"""Checked-in code changes little: an edit of the YAML changes only lines about the edited entry."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest

from tests.conftest import ROOT
from tests.unit.targets.torch_python.test_stillness import edit
from torchgen_lite import generate, load
from torchgen_lite.targets import TARGETS

EXAMPLES = {"torch_ops": ["cpp-torch", "cpp-torch-stable"], "cpp_runtime": ["cpp-runtime"]}
BELOW = [
    *[("torch_ops", name) for name in ("muladd", "scale.out", "squares", "diagonal_view")],
    *[("cpp_runtime", name) for name in ("add.Tensor", "sum", "affine")],
]
NEW = """\
- func: {0}::twice(Tensor self, float by=2.0) -> Tensor
  variants: function, method
  dispatch:
    CPU: twice_cpu
    CompositeExplicitAutograd: twice

"""


def copy_example(name: str, folder: Path) -> Path:
    """A copy of an example, whose YAML a test may change."""
    shutil.copytree(ROOT / "examples" / name, folder, ignore=lambda *_: ["generated", "build"])
    return folder / "ops.yaml"


def generated(yaml: Path) -> dict[str, str]:
    return generate(load(root=yaml.parent), targets=EXAMPLES[yaml.parent.name])


@pytest.mark.parametrize("name", EXAMPLES)
def test_a_comment_changes_nothing(name: str, tmp_path: Path) -> None:
    yaml = copy_example(name, tmp_path / name)
    before = generated(yaml)
    yaml.write_text(f"# Another line.\n{yaml.read_text()}")
    assert generated(yaml) == before


@pytest.mark.parametrize(("name", "below"), BELOW)
def test_a_new_operator_changes_no_line_of_another(name: str, below: str, tmp_path: Path) -> None:
    yaml = copy_example(name, tmp_path / name)
    namespace = "toy" if name == "cpp_runtime" else name
    before = generated(yaml)
    edit(
        yaml,
        f"- func: {namespace}::{below}(",
        f"{NEW.format(namespace)}- func: {namespace}::{below}(",
    )
    after = generated(yaml)
    for path, text in before.items():
        lines = iter(after[path].splitlines())
        gone = [line for line in text.splitlines() if line not in lines]
        assert not gone, path


@pytest.mark.parametrize(
    ("name", "old"),
    [("torch_ops", "muladd_cpu"), ("torch_ops", "squares"), ("cpp_runtime", "sum_cpu")],
)
def test_a_renamed_kernel_changes_the_lines_that_name_it(
    name: str, old: str, tmp_path: Path
) -> None:
    yaml = copy_example(name, tmp_path / name)
    before = generated(yaml)
    edit(yaml, f": {old}\n", f": {old[::-1]}\n")
    after = generated(yaml)
    changed = [
        (was, now)
        for path, text in before.items()
        for was, now in zip(text.splitlines(), after[path].splitlines(), strict=True)
        if was != now
    ]
    assert changed
    assert all(old in was and old[::-1] in now for was, now in changed), changed


@pytest.mark.parametrize("name", EXAMPLES)
def test_a_comment_changes_no_context(name: str, tmp_path: Path) -> None:
    """`generate --watch` renders a file again if its context differs: contexts are compared by value."""
    yaml = copy_example(name, tmp_path / name)
    edit(yaml, "- func: ", "# A comment.\n- func: ")
    before, after = load(root=ROOT / "examples" / name), load(root=yaml.parent)
    for target in EXAMPLES[name]:
        old, new = (list(TARGETS[target].build(program).files) for program in (before, after))
        assert [file.path for file, other in zip(old, new, strict=True) if file != other] == []


PROVEN = """\
- func: demo::f.out(Tensor a, int[2] b=[1, 2], *, float s=1.0, Tensor(a!) out) -> (Tensor(a!), int n)  # A comment.
  dispatch:
    CPU: f_cpu
"""


def test_the_fourth_line_of_a_proof_is_the_schema(tmp_path: Path) -> None:
    """Every mistake is reported in this line, at the column of the wrong part."""
    (tmp_path / "ops.yaml").write_text(PROVEN)
    (tmp_path / "torchgen_lite.toml").write_text('schema = ["ops.yaml"]\ntargets = ["cpp-torch"]\n')
    files = generate(load(root=tmp_path))
    lines = files["cpp-torch/include/demo/verify/f_out.h"].splitlines()
    schema = "// demo::f.out(Tensor a, int[2] b, *, float s, Tensor(a!) out) -> (Tensor(a!), int n)"
    assert lines[3] == schema
    # The line after the one that opens the macro, line 3 to the compiler, has the checks.
    assert [line for line in lines if line.startswith("#line")] == ["#line TORCHGEN_LITE_LINE"]
    check = files["cpp-torch/include/demo/kernel_check.h"]
    assert "#define TORCHGEN_LITE_LINE 3\n" in check.partition("#else")[2]
    checks = lines[lines.index("#line TORCHGEN_LITE_LINE") + 2]
    shown = [schema[found.start() :] for found in re.finditer(r"(it|is|result)<\d*>", checks)]
    starts = [
        "demo",
        "Tensor a,",
        "int[2] b",
        "float s",
        "Tensor(a!) out",
        "Tensor(a!), int n",
    ]
    assert [text.startswith(start) for text, start in zip(shown, starts, strict=True)] == [True] * 6
