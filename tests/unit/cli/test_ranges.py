"""One file for several releases of PyTorch: each command asks about the entries for its release."""

from __future__ import annotations

import json
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.conftest import Result

Run = Callable[..., Result]

OLD = """\
- func: scale(Tensor self, float s) -> Tensor
  dispatch: {CPU: scale}
- func: gone(Tensor self) -> Tensor
  dispatch: {CPU: gone}
- func: same(Tensor self) -> Tensor
  dispatch: {CPU: same}
"""
NEW = """\
- func: scale(Tensor self, Scalar s) -> Tensor
  dispatch: {CPU: scale}
- func: fresh(Tensor self) -> Tensor
  dispatch: {CPU: fresh}
- func: same(Tensor self) -> Tensor
  dispatch: {CPU: same}
"""
OPS = """\
- func: scale(Tensor self, float s) -> Tensor
  torch: "<3.2"
  dispatch: {PrivateUse1: scale_float}
- func: scale
  torch: ">=3.2"
  dispatch: {PrivateUse1: scale_scalar}
- func: gone
  torch: "<3.2"
  dispatch: {PrivateUse1: gone}
- func: fresh
  torch: ">=3.2"
  dispatch: {PrivateUse1: fresh}
- func: same
  dispatch: {PrivateUse1: same}
"""


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A backend, beside the wheels of two releases that no other folder has."""
    for version, text in (("3.1.0", OLD), ("3.2.0", NEW)):
        with zipfile.ZipFile(tmp_path / f"torch-{version}-py3-none-any.whl", "w") as wheel:
            wheel.writestr("torchgen/packaged/ATen/native/native_functions.yaml", text)
    (tmp_path / "ops.yaml").write_text(OPS)
    (tmp_path / "torchgen_lite.toml").write_text(
        'schema = ["ops.yaml"]\nnative = "torch:3.2"\ntargets = ["cpp-torch"]\n'
    )
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_what_each_release_gets(run: Run, project: Path) -> None:
    result = run("check", "--for-torch", "3.1,3.2", "--output-format", "concise")
    assert (result.code, result.stderr) == (
        0,
        "ops.yaml:7:9: warning[TG346] with PyTorch 3.2: PyTorch 3.2 does not have 'gone', which is for '<3.2': left out"
        " (write its whole schema, for code that is built with other releases too)\n"
        "ops.yaml:10:9: warning[TG346] with PyTorch 3.1: PyTorch 3.1 does not have 'fresh', which is for '>=3.2': left out"
        " (write its whole schema, for code that is built with other releases too)\n"
        "The files of the outputs were not compared; `check` for one release does that.\n",
    )
    assert result.stdout == """\
PyTorch 3.1: 3 operators
  aten::gone   <3.2
  aten::scale  <3.2
  aten::scale  >=3.2  not there

PyTorch 3.2: 3 operators
  aten::fresh  >=3.2
  aten::scale  <3.2   not there
  aten::scale  >=3.2
"""
    data = json.loads(run("check", "--for-torch", "3.1,3.2", "--output-format", "json").stdout)
    assert data["releases"] == {
        "3.1": ["aten::scale", "aten::gone", "aten::same"],
        "3.2": ["aten::scale", "aten::fresh", "aten::same"],
    }


def test_an_error_in_one_release(run: Run, project: Path) -> None:
    text = OPS.replace('float s) -> Tensor\n  torch: "<3.2"', "float s) -> Tensor")
    text = text.replace(
        '- func: scale\n  torch: ">=3.2"\n  dispatch: {PrivateUse1: scale_scalar}\n', ""
    )
    (project / "ops.yaml").write_text(text)
    result = run("check", "--for-torch", "3.1,3.2", "--output-format", "concise")
    assert result.code == 1
    assert "error[TG316] with PyTorch 3.2: the schema of 'scale' differs" in result.stderr
    assert "PyTorch 3.2: 3 operators, 1 error\n" in result.stdout


@pytest.mark.parametrize(
    ("given", "code", "said"),
    [
        ("3.1,x", 2, "error[TG003] with PyTorch x: 'for-torch': 'x' is not a release"),
        ("3.1,3.3", 2, "error[TG011] with PyTorch 3.3: PyTorch 3.3 is not installed"),
    ],
)
def test_a_release_that_is_none(run: Run, project: Path, given: str, code: int, said: str) -> None:
    result = run("check", "--for-torch", given, "--output-format", "concise")
    assert result.code == code and said in result.stderr


def test_other_commands_take_one_release(run: Run, project: Path) -> None:
    result = run("lint", "--for-torch", "3.1,3.2")
    assert result.code == 2 and "`3.1,3.2` is not a release" in result.stderr


def test_what_is_served(run: Run, project: Path) -> None:
    """`coverage` counts the entries of the release that it is asked about."""

    def own(release: str) -> list[str]:
        found = run(
            "coverage", "--key", "PrivateUse1", "--native", release, "--output-format", "json"
        )
        operators = json.loads(found.stdout)["operators"]
        return [f"{o['name']} {o['by']}" for o in operators if o["verdict"] == "own"]

    assert own("3.1") == ["aten::scale scale_float", "aten::gone gone", "aten::same same"]
    assert own("3.2") == ["aten::scale scale_scalar", "aten::fresh fresh", "aten::same same"]


def test_upgrade_takes_the_entries_of_each_release(run: Run, project: Path) -> None:
    result = run("upgrade", "--from", "3.1", "--to", "3.2", "--output-format", "concise")
    assert (result.code, result.stderr) == (0, "")
    # Without their ranges, two entries would be wrong for one of the releases.
    text = OPS.replace(
        '- func: scale\n  torch: ">=3.2"\n  dispatch: {PrivateUse1: scale_scalar}\n', ""
    )
    (project / "ops.yaml").write_text(text.replace('  torch: "<3.2"\n', ""))
    result = run("upgrade", "--from", "3.1", "--to", "3.2", "--output-format", "concise")
    assert result.code == 1
    assert [line.split()[1] for line in result.stderr.splitlines()] == [
        "error[TG372]",
        "error[TG371]",
    ]


def test_a_kernel_for_a_release_that_lost_its_operator_again(run: Run, project: Path) -> None:
    """An entry that only the new release has is read there, so that what it serves is known."""
    (project / "ops.yaml").write_text(
        "- func: fresh\n  torch: '>=3.2'\n  dispatch: {PrivateUse1: f}\n"
    )
    result = run("upgrade", "--from", "3.1", "--to", "3.2", "--output-format", "json")
    assert result.code == 0
    assert "fresh" not in json.dumps(json.loads(result.stdout)["changes"])


@pytest.mark.parametrize("command", ["list ops", "table scale --key PrivateUse1"])
def test_what_does_not_apply_is_not_shown(run: Run, project: Path, command: str) -> None:
    (project / "torchgen_lite.toml").write_text(
        'schema = ["new.yaml", "ops.yaml"]\nnamespace = "own"\ntargets = ["cpp-torch"]\n'
    )
    (project / "new.yaml").write_text("[]\n")
    (project / "ops.yaml").write_text(
        '- func: scale(Tensor self, float s) -> Tensor\n  torch: "<3.2"\n  dispatch: {PrivateUse1: old}\n'
        '- func: scale(Tensor self, Scalar s) -> Tensor\n  torch: ">=3.2"\n  dispatch: {Meta: new}\n'
    )
    old = run(*command.split(), "--for-torch", "3.1").stdout
    new = run(*command.split(), "--for-torch", "3.2").stdout
    assert "PrivateUse1" in old and "Meta" not in old.replace("FuncTorch", "")
    assert old != new


def test_each_release_has_its_own_rules_of_autocast(run: Run, project: Path) -> None:
    """Those of CUDA are in a header, which wheels have, too; without it the rules are not known."""
    (project / "ops.yaml").write_text("backend: PrivateUse1\nautocast: like CUDA\n")
    check = ("check", "--for-torch", "3.1,3.2", "--output-format", "concise", "--quiet")
    assert [line.split()[1] for line in run(*check).stderr.splitlines()] == ["error[TG337]"] * 2
    for version, names in (("3.1.0", "same gone"), ("3.2.0", "same fresh scale")):
        listed = " \\\n".join(f"  _({name})" for name in names.split())
        with zipfile.ZipFile(project / f"torch-{version}-py3-none-any.whl", "a") as wheel:
            header = f"#define AT_FORALL_FP32(_) \\\n{listed}\n"
            wheel.writestr("torch/include/ATen/autocast_mode.h", header)
    result = run(*check)
    assert (result.code, result.stderr) == (0, "")
    assert result.stdout == "PyTorch 3.1: 2 operators\n\nPyTorch 3.2: 3 operators\n"
    # What only the list names is no kernel that a release leaves without its operator.
    result = run("upgrade", "--from", "3.1", "--to", "3.2", "--output-format", "concise")
    assert (result.code, result.stderr) == (0, "")
    # And it may still get one.
    configured = (project / "torchgen_lite.toml").read_text()
    both = configured.replace('"ops.yaml"', '"kernels.yaml", "ops.yaml"')
    (project / "torchgen_lite.toml").write_text(both)
    (project / "kernels.yaml").write_text("")
    result = run("add", "same", "--dispatch", "PrivateUse1")
    assert (result.code, result.stderr) == (0, "1 operator added to kernels.yaml\n")
