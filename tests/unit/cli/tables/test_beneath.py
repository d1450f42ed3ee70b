"""`table` and `why` of a project whose kernels are added to PyTorch's own operators."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.conftest import ROOT, Result
from torchgen_lite.cli.tables import registrations
from torchgen_lite.diagnostics import Diagnostic

Run = Callable[..., Result]
OVER = "registrations of target `cpp-torch`, over those of PyTorch\n"


@pytest.fixture
def backend(project: Path) -> Path:
    (project / "torchgen_lite.toml").write_text('native = "torch"\ntargets = ["cpp-torch"]\n')
    (project / "native_functions.yaml").write_text(
        "- func: relu\n  dispatch: {PrivateUse1: relu_mine}\n"
        "- func: add.out\n  dispatch: {PrivateUse1: add_out}\n"
        "- func: mine::f(Tensor x) -> Tensor\n  dispatch: {PrivateUse1: f_mine}\n"
    )
    return project


@pytest.mark.torch
@pytest.mark.usefixtures("forked_python")
class TestOverPyTorch:
    def test_why(self, run: Run, backend: Path) -> None:
        pytest.importorskip("torch")
        result = run("why", "relu", "PrivateUse1", "AutogradPrivateUse1")
        assert (result.code, result.stderr) == (0, OVER)
        verdicts = [line for line in result.stdout.splitlines() if line.startswith("  => ")]
        assert verdicts[0].startswith("  => autograd kernel (PyTorch's): VariableType_")
        assert verdicts[0].endswith(", registered at Autograd")
        assert verdicts[1:] == ["  => kernel (yours): relu_mine"]

    def test_why_of_an_operator_that_the_file_does_not_name(self, run: Run, backend: Path) -> None:
        pytest.importorskip("torch")
        asked = ("why", "view_as_real", "PrivateUse1")
        result = run(*asked)
        assert result.code == 0
        assert "  => kernel (PyTorch's): ADInplaceOrViewType_" in result.stdout
        assert result.stdout.endswith(
            "end: no kernel serves this key: the call raises NotImplementedError, unless your code registers a "
            "fallback for PrivateUse1, which no schema file says (`--fallback PrivateUse1`)\n"
        )
        told = run(*asked, "--fallback", "PrivateUse1").stdout
        assert "  => backend fallback (yours): the fallback of your backend\n" in told
        # A kernel in the same slot comes first.
        told = run("why", "relu", "PrivateUse1", "--fallback", "PrivateUse1").stdout
        assert "  => kernel (yours): relu_mine\n" in told

    def test_the_export(self, run: Run, backend: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        pytest.importorskip("torch")
        asked = ("list", "ops", "--output-format", "json")
        relu, out, mine = json.loads(run(*asked).stdout)["ops"]
        assert relu["registered"] == {"PrivateUse1": "written"}
        theirs = relu["registered_by_pytorch"]
        assert theirs["Autograd"].startswith("VariableType_") and "PrivateUse1" not in theirs
        assert out["registered_by_pytorch"].keys() >= {"CPU", "Meta"}
        assert mine["registered_by_pytorch"] == {}
        absent = Diagnostic("TG011", "PyTorch is of another release")
        monkeypatch.setattr(registrations, "find_torch_files", lambda: (None, (absent,)))
        unknown = run(*asked)
        assert json.loads(unknown.stdout)["ops"][0]["registered_by_pytorch"] == {}
        note = "of its operators, only what the files register is known"
        assert unknown.stderr == f"PyTorch is of another release; {note}\n"

    def test_whose_cells_are(self, run: Run, backend: Path) -> None:
        pytest.importorskip("torch")
        asked = ("table", "add.out", "--output-format", "json", "--key")
        slots = json.loads(run(*asked, "PrivateUse1", "--key", "CPU", "--key", "HPU").stdout)
        whose = {one["key"]: one.get("whose") for one in slots["operators"][0]["slots"]}
        assert whose == {"CPU": "PyTorch's", "HPU": None, "PrivateUse1": "yours"}
        # An operator that PyTorch derives, for every backend.
        lines = run("table", "isnan.out", "--key", "PrivateUse1").stdout.splitlines()
        assert lines[1:2] == ["  PyTorch's"]
        assert lines[2].startswith("    PrivateUse1  CompositeExplicitAutograd  RegisterComposite")

    def test_pages_have_the_operators_of_the_file(self, run: Run, backend: Path) -> None:
        pytest.importorskip("torch")
        result = run("table", "--html", "all.html")
        assert result == Result(0, "", OVER + "3 operators written to all.html\n")
        assert "VariableType_" in (backend / "all.html").read_text()

    def test_an_operator_that_nobody_has(self, run: Run, backend: Path) -> None:
        pytest.importorskip("torch")
        result = run("why", "view_as_rea", "CPU")
        assert result.code == 2 and "did you mean `view_as_real`?" in result.stderr
        result = run("why", "relu", "CPU", "--fallback", "PrivateUse9")
        assert result.code == 2 and "unknown dispatch key `PrivateUse9`" in result.stderr

    def test_another_release(self, run: Run, backend: Path) -> None:
        """Only the installed PyTorch can be asked what it registers."""
        pytest.importorskip("torch")
        (backend / "theirs.yaml").write_text(
            "- func: relu(Tensor self) -> Tensor\n- func: add.out(Tensor self, Tensor other, *, "
            "Scalar alpha=1, Tensor(a!) out) -> Tensor(a!)\n"
        )
        result = run("why", "relu", "CPU", "--config", 'native = "theirs.yaml"')
        assert (result.code, result.stdout) == (2, "")
        assert "the kernels of PyTorch in `theirs.yaml` are not known" in result.stderr
        result = run("table", "relu", "--for-torch", "2.1")
        assert (result.code, result.stdout) == (2, "")
        assert "the kernels of PyTorch 2.1 are not known: " in result.stderr

    def test_modules_of_the_project_are_found(self, backend: Path) -> None:
        """In any folder, and where nobody has set PYTHONPATH to the project."""
        pytest.importorskip("torch")
        package, packages = backend / "src" / "backend_of_mine", {}
        package.mkdir(parents=True)
        (package / "__init__.py").write_text("""\
import torch
library = torch.library.Library("aten", "IMPL")
library.impl("relu", lambda x: x, "PrivateUse1")
""")
        for command in ("why", "table", "coverage"):
            asked = ["relu", "PrivateUse1", "--torch"] if command == "why" else ["relu", "--torch"]
            asked = ["--key", "PrivateUse1"] if command == "coverage" else asked
            packages[command] = subprocess.run(
                [sys.executable, "-m", "torchgen_lite", command, *asked]
                + ["--import", "backend_of_mine", "--config", "torchgen_lite.toml"],
                capture_output=True,
                text=True,
                env={**os.environ, "PYTHONPATH": str(ROOT)},
            )
        assert [one.stderr for one in packages.values()] == ["", "", ""]
        assert "  => kernel: registered at " in packages["why"].stdout
        assert "backend_of_mine/__init__.py:2" in packages["table"].stdout
        assert "own           1 " in packages["coverage"].stdout


def test_what_needs_pytorch_is_refused_without_it(
    run: Run, backend: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Neither what PyTorch has nor what it lacks is known; operators of one's own need none."""
    (backend / "torchgen_lite.toml").write_text('targets = ["cpp-torch"]\n')
    schema = "- func: relu(Tensor self) -> Tensor\n  dispatch: {PrivateUse1: relu_mine}\n"
    own = "- func: mine::f(Tensor x) -> Tensor\n  dispatch: {PrivateUse1: f_mine}\n"
    (backend / "native_functions.yaml").write_text(schema + own)
    absent = Diagnostic("TG011", "PyTorch's native_functions.yaml was not found")
    monkeypatch.setattr(registrations, "find_torch_files", lambda: (None, (absent,)))
    for asked in (["why", "relu", "CPU"], ["table", "relu"], ["table", "--html", "all.html"]):
        result = run(*asked)
        assert (result.code, result.stdout) == (2, ""), asked
        assert result.stderr.startswith("error[TG011]: "), asked
    result = run("why", "f", "PrivateUse1")
    assert (result.code, result.stderr) == (0, "registrations of target `cpp-torch`\n")
    assert "  => kernel: f_mine\n" in result.stdout
