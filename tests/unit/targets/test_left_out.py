"""What an entry says that a target has no kernel for is a warning, unless the package of `torch-python` brings it."""

from __future__ import annotations

from pathlib import Path

import pytest

from torchgen_lite import load
from torchgen_lite.pipeline import generate_all

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


FIELDS = {
    "fake": "{like: x}",
    "effects": "ordered",
    "checkpoint": "save",
    "flops": "x.numel()",
    "vmap": "loop",
    "axes": "'x[n] -> [n]'",
    "autocast": "float32",
    "decompose": "inductor\n  samples: {calls: ['(ones(2))'], reference: x}",
}
OTHERS = {
    "python": 'kernels = ["kernels"]',
    "cpp-runtime": 'tensor = "toy::Tensor"',
}


@pytest.mark.parametrize("field", [*FIELDS, "autogen"])
@pytest.mark.parametrize("target", OTHERS)
def test_what_is_for_pytorch_alone(target: str, field: str, tmp_path: Path) -> None:
    """In a project for another dispatcher it is a warning, which a target for PyTorch takes away."""
    value = FIELDS.get(field, "f.out")
    entry = f"- func: my::f(Tensor x) -> Tensor\n  dispatch: {{CPU: f}}\n  {field}: {value}\n"
    (tmp_path / "ops.yaml").write_text(entry)
    (tmp_path / "kernels.py").write_text("def f(x): ...\n")
    found = {}
    for targets in ([target], [target, "torch-python"]):
        config = f'schema = "ops.yaml"\ntargets = {targets}\n[target.{target}]\n{OTHERS[target]}\n'
        (tmp_path / "torchgen_lite.toml").write_text(config.replace("'", '"'))
        made = generate_all(load(root=tmp_path)).diagnostics
        found[len(targets)] = [d.message for d in made if d.code == "TG535"]
    said = f"target `{target}` registers nothing for `{field}`"
    assert found[1] == [said]
    # Nothing is derived for PyTorch either.
    beside = [said, said.replace(target, "torch-python")] if field == "autogen" else []
    assert found[2] == beside
