"""`upgrade`: a backend moves between two small releases of PyTorch."""

from __future__ import annotations

import json
import os
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.conftest import Result
from tests.unit.tools.backends.conftest import OLDER

Run = Callable[..., Result]
ASKED = ("upgrade", "--from", "old.yaml", "--to", "new.yaml")


def test_what_changes(run: Run, backend: Path) -> None:
    result = run(*ASKED, "--output-format", "concise")
    assert result.code == 1
    assert result.stderr == """\
ops.yaml:7:38: error[TG372] 'mm' now takes a kernel of a different type: loading the old one aborts: not any more ('mm(Tensor self, Tensor mat2) -> Tensor', whose kernel is 'at::Tensor mm(const at::Tensor& self, const at::Tensor& mat2)')
ops.yaml:10:9: error[TG371] PyTorch no longer has operator 'gone'
"""
    assert result.stdout == """\
what callers of your operators notice
  aten::mm  `mm`: argument `more` was removed  effect: breaks callers; old.yaml:18:38: was this

now composed of other operators: your kernel may be unnecessary
  square

no longer served: a kernel is needed
  isnan
  isnan.out
"""


def test_the_new_schemas_are_written(run: Run, backend: Path) -> None:
    (backend / "ops.yaml").write_text(
        "- func: aten::mm(Tensor self, Tensor mat2,\n    int more) -> Tensor\n"
        "  dispatch: {PrivateUse1: mm}  # mine\n"
    )
    assert run(*ASKED).code == 1
    assert run(*ASKED, "--fix").code == 0
    assert (backend / "ops.yaml").read_text() == (
        "- func: aten::mm(Tensor self, Tensor mat2) -> Tensor\n"
        "  dispatch: {PrivateUse1: mm}  # mine\n"
    )
    assert run(*ASKED).code == 0


def test_nothing_changes(run: Run, backend: Path) -> None:
    (backend / "ops.yaml").write_text("- func: add.out\n  dispatch: {PrivateUse1: f}\n")
    result = run("upgrade", "--from", "new.yaml", "--to", "new.yaml")
    assert (result.code, result.stderr) == (0, "")
    assert result.stdout == "nothing changes for PrivateUse1 from new.yaml to new.yaml\n"


def test_structure_and_new_operators(run: Run, backend: Path) -> None:
    (backend / "ops.yaml").write_text("- func: add.Tensor\n  dispatch: {XLA: f}\n")
    old = OLDER.replace("  structured_delegate: add.out\n  tags: core\n", "").replace(
        "isnan", "is_nan"
    )
    (backend / "old.yaml").write_text(old)
    changes = json.loads(run(*ASKED, "--output-format", "json").stdout)["changes"]
    assert changes == {
        "structured or delegated differently": [
            ["add.Tensor", "plain before, delegates to add.out now"]
        ],
        "new operators that CPU or CUDA have kernels for": [["isnan", "CPU, CUDA"]],
    }


def test_gradients(run: Run, backend: Path) -> None:
    """What a backward pass calls is in derivatives.yaml, and may change while the operator does not."""
    formulas = {
        "old": "- name: mm(Tensor self, Tensor mat2) -> Tensor\n  self: grad.mm(mat2.t())\n  mat2: self.t().mm(grad)\n",
        "new": "- name: mm(Tensor self, Tensor mat2) -> Tensor\n  self: mm_backward(grad, mat2)\n  mat2: self.t().mm(grad)\n"
        "- name: isnan(Tensor self) -> Tensor\n  self: non_differentiable\n",
    }
    (backend / "ops.yaml").write_text("- func: add.out\n  dispatch: {PrivateUse1: f}\n")
    for name, text in formulas.items():
        (backend / name).mkdir()
        (backend / name / "native_functions.yaml").write_text((backend / "new.yaml").read_text())
        (backend / name / "derivatives.yaml").write_text(text)
    asked = ("upgrade", "--from", "old/native_functions.yaml", "--to", "new/native_functions.yaml")
    result = run(*asked)
    assert (result.code, result.stderr) == (0, "")
    assert result.stdout == """\
gradients: a backward pass calls other operators
  isnan  self  non_differentiable
  mm     self  mm_backward(grad, mat2)
"""
    (backend / "old/derivatives.yaml").unlink()
    result = run(*asked)
    assert result.stderr == (
        "gradients are not compared: `old/native_functions.yaml` comes without derivatives.yaml\n"
    )


def test_releases_in_wheels_and_checkouts(run: Run, backend: Path) -> None:
    path = "torchgen/packaged/ATen/native/native_functions.yaml"
    with zipfile.ZipFile(backend / "torch-1.13.1-cp310-any.whl", "w") as wheel:
        wheel.writestr(path, OLDER)
    checkout = backend / "pytorch/aten/src/ATen/native"
    checkout.mkdir(parents=True)
    (checkout / "native_functions.yaml").write_text((backend / "new.yaml").read_text())
    wanted = run(*ASKED, "--output-format", "concise").stderr
    for old in ("1.13", "torch:1.13.1", "torch-1.13.1-cp310-any.whl"):
        result = run("upgrade", "--from", old, "--to", "pytorch", "--output-format", "concise")
        assert result.stderr == wanted
    result = run("upgrade", "--from", "1.12", "--to", "new.yaml")
    assert result.code == 2
    assert "`pip download --no-deps torch==1.12` downloads one" in result.stderr
    (backend / "torch-1.12.0.whl").write_text("no archive")
    result = run("upgrade", "--from", "1.12", "--to", "new.yaml")
    assert (result.code, "cannot read `torch-1.12.0.whl" in result.stderr) == (2, True)


@pytest.fixture
def index(
    tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch, backend: Path
) -> Path:
    """What pip finds: two releases of PyTorch, and nothing else."""
    folder = tmp_path_factory.mktemp("index")
    for version, text in (("1.13.1", OLDER), ("1.14.0", (backend / "new.yaml").read_text())):
        with zipfile.ZipFile(folder / f"torch-{version}-py3-none-any.whl", "w") as wheel:
            wheel.writestr("torchgen/packaged/ATen/native/native_functions.yaml", text)
            wheel.writestr("torch/lib/libtorch.so", "large")
            wheel.writestr(
                f"torch-{version}.dist-info/METADATA", f"Name: torch\nVersion: {version}\n"
            )
            wheel.writestr(
                f"torch-{version}.dist-info/WHEEL", "Wheel-Version: 1.0\nTag: py3-none-any\n"
            )
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(folder))
    monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)
    return folder


def test_releases_are_fetched_with_pip(run: Run, backend: Path, index: Path) -> None:
    named = run(*ASKED, "--output-format", "concise").stdout
    small = "torch-1.13.1-py3-none-any.whl/native_functions.yaml"
    wanted = named.replace("old.yaml", small)
    asked = ("upgrade", "--from", "1.13", "--to", "newest", "--output-format", "concise")
    first = run(*asked, "--fetch")
    assert (first.code, first.stdout) == (1, wanted)
    assert first.stderr.startswith("fetching torch==1.13.* with pip\n")
    kept = sorted(path.name for path in backend.glob("*.whl"))
    assert kept == ["torch-1.13.1-py3-none-any.whl", "torch-1.14.0-py3-none-any.whl"]
    for name in kept:
        with zipfile.ZipFile(backend / name) as wheel:
            assert wheel.namelist() == ["torchgen/packaged/ATen/native/native_functions.yaml"]
    again = run("upgrade", "--from", "1.13", "--to", "1.14", "--output-format", "concise")
    assert (again.stdout, "fetching" in again.stderr) == (wanted, False)


def test_a_wheel_is_written_whole_or_not_at_all(run: Run, backend: Path, index: Path) -> None:
    (backend / "torch-1.13.1-py3-none-any.whl").mkdir()
    result = run("upgrade", "--from", "1.13", "--to", "new.yaml", "--fetch")
    assert result.code == 2
    assert "error[TG009]: cannot write `" in result.stderr


def test_what_pip_does_not_find_is_refused(run: Run, backend: Path, index: Path) -> None:
    result = run("upgrade", "--from", "1.12", "--to", "new.yaml", "--fetch")
    assert result.code == 2
    assert "error[TG011]: pip does not download `torch==1.12.*`: " in result.stderr
    assert not [*backend.glob("*.whl")]
    result = run("upgrade", "--from", "1.13", "--to", "newest")
    assert (result.code, "`newest` needs `--fetch`" in result.stderr) == (2, True)


def test_pages_have_what_is_dead(run: Run, backend: Path) -> None:
    result = run(*ASKED, "--output-format", "markdown", "--html", "page.html")
    assert result.code == 1
    assert "**kernels that are never called, or abort when they are loaded**" in result.stdout
    row = "| gone | PyTorch no longer has operator `gone` |  |\n"
    assert row in result.stdout
    assert result.stdout.index(row) < result.stdout.index("**now composed of other operators")
    page = (backend / "page.html").read_text()
    assert "<h2>kernels that are never called, or abort when they are loaded <span>" in page
    assert '<tr><td class="code"><code>gone</code></td>' in page
