"""What is checked in stays still: a change of the YAML changes the lines that are about it."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.conftest import ROOT
from tests.unit.targets.torch_python.test_stillness import edit
from torchgen_lite import generate, load

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
PLACES = ("places.h", "_places.py")


def copy_example(name: str, folder: Path) -> Path:
    """An example whose YAML a test may change."""
    shutil.copytree(ROOT / "examples" / name, folder, ignore=lambda *_: ["generated", "build"])
    return folder / "ops.yaml"


def generated(yaml: Path) -> dict[str, str]:
    return generate(load(root=yaml.parent), targets=EXAMPLES[yaml.parent.name])


@pytest.mark.parametrize("name", EXAMPLES)
def test_a_comment_changes_the_places_alone(name: str, tmp_path: Path) -> None:
    yaml = copy_example(name, tmp_path / name)
    before = generated(yaml)
    yaml.write_text(f"# Another line.\n{yaml.read_text()}")
    after = generated(yaml)
    changed = [path for path in after if after[path] != before[path]]
    assert len(changed) == len(EXAMPLES[name]) and all(p.endswith(PLACES) for p in changed)


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
        if not path.endswith(PLACES):
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


SEVERAL_LINES = """\
- func: >-
    demo::muladd(Tensor a,
      Tensor b, float s) -> Tensor
  dispatch:
    CPU: muladd_cpu
- func: demo::sum.CPU(Tensor a) -> Tensor
"""


def test_places(tmp_path: Path) -> None:
    """The lines of a schema and of kernels, each named after its operator."""
    (tmp_path / "ops.yaml").write_text(SEVERAL_LINES)
    (tmp_path / "torchgen_lite.toml").write_text('schema = ["ops.yaml"]\ntargets = ["cpp-torch"]\n')
    text = generate(load(root=tmp_path))["cpp-torch/include/demo/places.h"]
    assert text.partition("clang-format off\n")[2] == """\
#define DEMO_PLACE_muladd_func 2 "ops.yaml"
#define DEMO_PLACE_muladd_func2 3 "ops.yaml"
#define DEMO_PLACE_muladd_CPU 5 "ops.yaml"
#define DEMO_PLACE_sum_CPU_func 6 "ops.yaml"
#define DEMO_PLACE_sum_CPU_CompositeImplicitAutograd 6 "ops.yaml"
// clang-format on
"""
