"""What an entry says that a target has no kernel for is a warning, unless the package of `torch-python` brings it."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.forks import run_forked
from torchgen_lite import load
from torchgen_lite.pipeline import generate_all
from torchgen_lite.targets.generation import generation_of
from torchgen_lite.targets.registered import why_absent

ENTRIES = """\
- func: my::f(Tensor x) -> Tensor
  dispatch: {CPU: f}
  fake: {like: x}
  vmap: rule
- func: my::log(Tensor x, str text) -> ()
  dispatch: {CPU: log}
  effects: ordered
"""
BESIDE = '"torch-python"]\n[target.torch-python]\npackage = "p"\nload = "_C"\nfakes = ["rules"]'


@pytest.mark.parametrize("target", ["cpp-torch", "cpp-torch-stable"])
@pytest.mark.parametrize(("beside", "fields"), [("]", ["fake", "vmap", "effects"]), (BESIDE, [])])
def test_it_is_said(target: str, beside: str, fields: list[str], tmp_path: Path) -> None:
    (tmp_path / "ops.yaml").write_text(ENTRIES)
    (tmp_path / "rules.py").write_text("def rule(info, in_dims, x):\n    return x, 0\n")
    config = f'schema = "ops.yaml"\ntargets = ["{target}", {beside}\n'
    (tmp_path / "torchgen_lite.toml").write_text(config)
    made = generate_all(load(root=tmp_path), targets=[target]).diagnostics
    found = [d.message for d in made if d.code == "TG535"]
    assert [d.code for d in made if d.code == "TG516"] == []
    assert found == [f"target `{target}` registers nothing for `{field}`" for field in fields]


OUTSIDE = {
    "python": 'kernels = ["k"]\n',
    "cpp-runtime": 'tensor = "toy::Tensor"\n',
}
VALUES = {
    "fake": "{like: x}",
    "autocast": "float32",
    "vmap": "rule",
    "axes": "x[*b] -> [*b]",
    "effects": "ordered",
    "checkpoint": "save",
    "decompose": "[inductor]",
    "flops": "x.numel()",
}


@pytest.mark.parametrize("target", OUTSIDE)
@pytest.mark.parametrize("field", VALUES)
def test_what_has_a_meaning_in_pytorch_alone(target: str, field: str, tmp_path: Path) -> None:
    """The dispatchers of this project would get no kernel for Meta from `fake`, and none for autocast."""
    entry = (
        f"- func: my::f(Tensor x) -> Tensor\n  dispatch: {{CPU: f}}\n  {field}: {VALUES[field]}\n"
    )
    (tmp_path / "ops.yaml").write_text(
        entry + "  samples: {calls: [(randn(2))], reference: x * 2}\n"
    )
    (tmp_path / "k.py").write_text("def f(x):\n    return x\n")
    (tmp_path / "rules.py").write_text("def rule(info, in_dims, x):\n    return x, 0\n")
    beside = '[target.torch-python]\nkernels = ["k"]\npackage = "p"\nfakes = ["rules"]\n'
    for targets, count in (
        ([target], 1),
        ([target, "torch-python"], 0),
        ([target, "cpp-torch"], 0),
    ):
        config = f'schema = "ops.yaml"\ntargets = {targets}\n{beside}[target.{target}]\n{OUTSIDE[target]}'
        (tmp_path / "torchgen_lite.toml").write_text(config)
        made = generate_all(load(root=tmp_path), targets=[target]).diagnostics
        messages = [d.message for d in made if d.code != "TG516"]
        assert messages == [f"target `{target}` registers nothing for `{field}`"] * count


@pytest.mark.parametrize("target", ["cpp-torch", "cpp-torch-stable", "torch-python"])
def test_calls_that_compilers_drop(target: str, tmp_path: Path) -> None:
    (tmp_path / "ops.yaml").write_text(ENTRIES.replace("  effects: ordered\n", ""))
    config = f'schema = "ops.yaml"\ntargets = ["{target}"]\n[target.torch-python]\npackage = "p"\n'
    (tmp_path / "torchgen_lite.toml").write_text(config)
    made = generate_all(load(root=tmp_path), targets=[target]).diagnostics
    assert [d.operator for d in made if d.code == "TG516"] == ["my::log"]


@pytest.mark.parametrize(
    ("targets", "said"),
    [
        ('"cpp-torch"]', "TG535 target `cpp-torch` registers nothing for `triton`"),
        ('"cpp-torch-stable"]', "TG535 target `cpp-torch-stable` registers nothing for `triton`"),
        ('"python"]', "TG515 target `python` runs no kernels of Triton"),
        (
            '"cpp-runtime"]\n[target.cpp-runtime]\ntensor = "toy::Tensor"',
            "TG515 target `cpp-runtime` runs no kernels of Triton",
        ),
        ('"torch-python"]\n[target.torch-python]\nkernels = ["kernels"]', ""),
        (
            '"cpp-torch", "torch-python"]\n[target.torch-python]\nkernels = ["kernels"]\nload = "_C"',
            "TG387 `triton`: no module of `kernels` has the kernel for `CPU`",
        ),
    ],
)
def test_who_runs_kernels_of_triton(targets: str, said: str, tmp_path: Path) -> None:
    """With C++ beside it, a kernel that no module has is in C++."""
    key = "CPU" if said.startswith("TG387") else "CUDA"
    (tmp_path / "ops.yaml").write_text(
        "- func: my::f(Tensor x) -> Tensor\n  dispatch: {CUDA: f, Meta: h"
        + (", CPU: g" if key == "CPU" else "")
        + f"}}\n  triton: {key}\n"
    )
    (tmp_path / "kernels.py").write_text("def f(x): ...\ndef h(x): ...\n")
    config = f'schema = "ops.yaml"\ntargets = [{targets}\n'
    (tmp_path / "torchgen_lite.toml").write_text(config)
    made = generate_all(load(root=tmp_path)).diagnostics
    assert [f"{d.code} {d.message}" for d in made if "riton" in d.message] == (
        [said] if said else []
    )


REGISTER = [*OUTSIDE, "torch-python", "cpp-torch", "cpp-torch-stable"]


@pytest.mark.parametrize("targets", [*([target] for target in REGISTER), REGISTER])
def test_nothing_is_derived_outside_pytorch(targets: list[str], tmp_path: Path) -> None:
    """It is said once, however many targets there are."""
    entry = "- func: my::f(Tensor x) -> Tensor\n  dispatch: {CPU: f}\n  autogen: f.out\n"
    (tmp_path / "ops.yaml").write_text(entry)
    (tmp_path / "k.py").write_text("def f(x): ...\n")
    options = "".join(f"[target.{target}]\n{OUTSIDE.get(target, '')}" for target in targets)
    config = f'schema = "ops.yaml"\ntargets = {targets}\n{options}'
    (tmp_path / "torchgen_lite.toml").write_text(config)
    made = generate_all(load(root=tmp_path)).diagnostics
    messages = [d.message for d in made if d.code == "TG535"]
    assert messages == ["no target registers what `autogen` names"]


REFUSED = """\
- func: my::f(Tensor x) -> Tensor
  dispatch: {PrivateUse1: f_cpu}
  fake: {like: x}
- func: my::indexed(Tensor x, DeviceIndex i) -> Tensor
  dispatch: {PrivateUse1: indexed_cpu}
  derivatives: {x: grad}
  fake: {like: x}
  samples:
    - (randn(3), 0)
- func: my::stored(Tensor x, Storage s) -> Tensor
  dispatch: {CPU: stored_cpu}
  fake: {like: x}
- func: my::any(Tensor x, Any y) -> Tensor
  dispatch: {CPU: any_cpu}
  fake: {like: x}
"""


def test_a_package_has_nothing_that_its_library_cannot_define(tmp_path: Path) -> None:
    """The import of the package failed with the name of the operator, and `kernels` did not list what `why` called."""
    (tmp_path / "ops.yaml").write_text(REFUSED)
    config = 'schema = "ops.yaml"\ntargets = ["torch-python", "cpp-torch", "docs", "device-tests"]\ntarget.torch-python.load = "_C"\n'
    (tmp_path / "torchgen_lite.toml").write_text(config)
    program = load(root=tmp_path)
    generation = generation_of(program)
    left = generation.select("cpp-torch").refused.keys()
    assert "my::indexed" in left and "my::f" not in left
    made = generate_all(program)
    for name in left:
        base = name.removeprefix("my::")
        folders = ("torch-python/", "device-tests/test_device")
        imported = [path for path in made.files if path.startswith(folders)]
        assert [path for path in imported if base in made.files[path]] == []
        page = made.files[f"docs/my/{base}.md"]
        assert "Target `cpp-torch`" not in page and "Target `torch-python`" not in page
        found = [d.message for d in made.diagnostics if d.code == "TG511" and d.operator == name]
        assert f"`{name}` is left out of target `cpp-torch`, which defines the operators" in found
        for target in ("cpp-torch", "torch-python"):
            assert generation.select(target).refused[name]
        assert name in why_absent(program, generation.shown, name)
    # Python that defines its operators itself has them.
    (tmp_path / "torchgen_lite.toml").write_text(f"{config}target.torch-python.defines = true\n")
    alone = generation_of(load(root=tmp_path)).select("torch-python")
    assert {operator.name for operator in alone.operators} >= {"my::f", *left}


@pytest.mark.torch
def test_such_a_package_is_imported(tmp_path: Path) -> None:
    (tmp_path / "ops.yaml").write_text(REFUSED)
    config = 'schema = "ops.yaml"\ntargets = ["torch-python", "cpp-torch"]\ntarget.torch-python.folder = "."\n'
    (tmp_path / "torchgen_lite.toml").write_text(config)
    project = load(root=tmp_path)
    for path, text in generate_all(project).files.items():
        file = tmp_path / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    defined = generation_of(project).select("cpp-torch").operators
    schemas = [str(operator.schema).removeprefix("my::") for operator in defined]
    program = f"""\
import torch
library = torch.library.Library("my", "DEF")
for schema in {schemas}:
    library.define(schema)
import my_ops
print(my_ops.__all__)
"""
    (tmp_path / "program.py").write_text(program)
    result = run_forked(["program.py"], tmp_path, {})
    assert result.returncode == 0, result.stderr
    assert "'f'" in result.stdout and "indexed" not in result.stdout
