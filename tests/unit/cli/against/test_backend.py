"""`review`, `breaking` and `table --against` of a project whose kernels are added to PyTorch's own operators."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.conftest import Result
from torchgen_lite.cli.tables import registrations
from torchgen_lite.diagnostics import Diagnostic
from torchgen_lite.loader.torch.files import find_torch_files

Run = Callable[..., Result]
KEPT = "- func: add.out\n  dispatch: {PrivateUse1: add_out}\n"
OLD = """\
- func: relu
  dispatch: {PrivateUse1: relu_mine}
- func: unfold
  dispatch: {PrivateUse1: unfold_mine}
- func: matmul
  dispatch: {PrivateUse1: matmul_mine}
"""
# By name, and as a schema without the fields that PyTorch's own entry has.
NEW = """\
- func: sqrt.out
  dispatch: {PrivateUse1: sqrt_out}
- func: sigmoid(Tensor self) -> Tensor
  dispatch: {PrivateUse1: sigmoid_mine}
"""
CONFIG = 'native = "torch"\ntargets = ["cpp-torch"]\n'


@pytest.fixture
def backend(project: Path) -> Path:
    pytest.importorskip("torch")
    for folder, schema in ((project, KEPT + NEW), (project / "old", KEPT + OLD)):
        folder.mkdir(exist_ok=True)
        (folder / "torchgen_lite.toml").write_text(CONFIG)
        (folder / "native_functions.yaml").write_text(schema)
    return project


@pytest.mark.torch
class TestChangedKernels:
    def test_breaking(self, run: Run, backend: Path) -> None:
        """No operator comes or goes. PyTorch composes `matmul`, which is served without the kernel, too."""
        result = run("breaking", "--against", "old", "--all", "--output-format", "json")
        found = json.loads(result.stdout)
        assert result.code == 1
        assert [(one["code"], one["message"]) for one in found["diagnostics"]] == [
            (
                "TG364",
                "`relu`: own -> fallback on the CPU, or missing if the backend has no fallback",
            ),
            (
                "TG364",
                "`unfold`: own -> wrong: a fallback copies, so what is written to the view is lost",
            ),
        ]
        places = [(one["path"], one["start"]["line"]) for one in found["diagnostics"]]
        assert places == [("old/native_functions.yaml", 4), ("old/native_functions.yaml", 6)]
        assert (found["added"], found["changed"]) == ([], [])

    def test_what_no_fallback_runs(self, run: Run, backend: Path) -> None:
        (backend / "native_functions.yaml").write_text(KEPT)
        (backend / "old/native_functions.yaml").write_text(
            KEPT + "- func: _fused_dropout\n  dispatch: {PrivateUse1: dropout_mine}\n"
        )
        result = run("breaking", "--against", "old", "--output-format", "concise")
        message = "own -> missing: the CPU, where a fallback runs it, has no kernel either"
        assert result.code == 1 and f"'_fused_dropout': {message}" in result.stderr

    def test_table(self, run: Run, backend: Path) -> None:
        result = run("table", "--against", "old", "--key", "PrivateUse1", "--key", "CPU")
        lines = result.stdout.splitlines()
        assert lines[0] == "2 operators lose their PrivateUse1 kernel: aten::relu, aten::unfold"
        assert lines[1] == "aten::sqrt.out: PrivateUse1: missing -> kernel: structured sqrt_out"
        # PyTorch serves it by `sigmoid.out` until then.
        by_default = "aten::sigmoid: PrivateUse1: CompositeExplicitAutogradNonFunctional `Register"
        assert lines[2].startswith(by_default) and lines[2].endswith(" -> kernel `sigmoid_mine`")
        composed = (
            "aten::matmul: PrivateUse1: kernel `matmul_mine` -> CompositeImplicitAutograd `Register"
        )
        assert lines[3].startswith(composed) and len(lines) == 4

    def test_review(self, run: Run, backend: Path) -> None:
        run("generate")
        page = run("review", "--against", "old").stdout
        assert "| breaking | 2 breaking changes |" in page
        assert (
            "`relu`: own -&gt; fallback on the CPU" in page and "`unfold`: own -&gt; wrong" in page
        )
        assert "is new" not in page and "gone" not in page and "was removed" not in page
        assert "| aten::relu | PrivateUse1 | kernel `relu_mine` | missing |" in page

    def test_a_release_that_is_not_installed(
        self, run: Run, backend: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """What the files register is compared all the same, and the run says so."""
        absent = Diagnostic("TG011", "PyTorch is of another release")
        monkeypatch.setattr(registrations, "find_torch_files", lambda: (None, (absent,)))
        result = run("table", "--against", "old")
        note = "of its operators, only what the files register is known"
        assert result.stderr.splitlines()[0] == f"PyTorch is of another release; {note}"
        assert "AutogradPrivateUse1" not in result.stdout
        assert run("breaking", "--against", "old", "-q").code == 1

    def test_pytorch_itself(self, run: Run, backend: Path) -> None:
        """`--torch` compares PyTorch's files, and operators that the new one derives are its own."""
        files, _ = find_torch_files()
        assert files is not None
        text = files.native_functions.read_text()
        (backend / "old.yaml").write_text(text + "\n- func: gone(Tensor self) -> Tensor\n")
        found = {}
        for native in ("torch", ""):
            settings = ("--config", f'native = "{native}"', "--output-format", "json")
            result = run("breaking", "--torch", "--against", "old.yaml", *settings)
            found[native] = json.loads(result.stdout)["diagnostics"]
        assert [one["message"] for one in found[""]] == ["operator `gone` was removed"]
        assert found["torch"] == found[""]
