"""What a library registers, held against its entries; what compilers and autograd can do; and the next version."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import Result
from tests.torch_python.generated import write_package
from tests.unit.tools.auditing.test_artefact import wheel
from torchgen_lite.diagnostics import Diagnostic

pytestmark = [pytest.mark.torch, pytest.mark.usefixtures("forked_python")]
Run = Callable[..., Result]
CONFIG = 'schema = ["ops.yaml"]\ntargets = ["torch-python"]\n[target.torch-python]\npackage = "ops"\nkernels = ["ops_kernels"]\n'
ENTRIES = """\
- func: lib::with_fake(Tensor x) -> Tensor
  dispatch: {CPU: kernel}
  fake: {like: x}
- func: lib::without(Tensor x) -> Tensor
  dispatch: {CPU: kernel, CUDA: kernel}
- func: lib::differentiable(Tensor x) -> Tensor
  dispatch: {CPU: kernel}
  fake: {like: x}
  derivatives: {x: grad}
- func: lib::composed(Tensor x) -> Tensor
  dispatch: {CompositeImplicitAutograd: kernel}
- func: lib::writes(Tensor(a!) x) -> ()
  dispatch: {CPU: kernel}
"""


@pytest.fixture
def built(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project, with the wheel of its package."""
    pytest.importorskip("torch")
    monkeypatch.chdir(tmp_path)
    Path("ops.yaml").write_text(ENTRIES)
    Path("torchgen_lite.toml").write_text(CONFIG)
    Path("ops_kernels.py").write_text("def kernel(x):\n    return x.clone()\n")
    write_package(tmp_path)
    folder = tmp_path / "generated" / "torch-python"
    files = {one.relative_to(folder).as_posix(): one.read_text() for one in folder.rglob("*.py")}
    return wheel(
        tmp_path / "ops.whl", {**files, "ops_kernels.py": Path("ops_kernels.py").read_text()}
    )


def _answer(run: Run, *arguments: str) -> tuple[int, Any]:
    done = run("audit", *arguments, "--output-format", "json")
    return done.code, json.loads(done.stdout)


def test_what_compile_and_backward_can_do(built: Path, run: Run) -> None:
    code, answer = _answer(run, "ops.whl", "--load")
    assert (code, answer["diagnostics"]) == (0, [])
    found = {
        name: (one["compiles"], one["differentiates"]) for name, one in answer["operators"].items()
    }
    assert found == {
        "lib::composed": ("composed", "composed"),
        "lib::differentiable": ("fake", "formulas"),
        "lib::with_fake": ("fake", "refused"),
        "lib::without": ("no", "refused"),
        "lib::writes": ("fake", "refused"),
    }


def _problems(run: Run, entries: str, *arguments: str) -> list[str]:
    Path("ops.yaml").write_text(entries)
    code, answer = _answer(run, "ops.whl", "--load", *arguments)
    messages = [one["message"] for one in answer["diagnostics"]]
    assert code == (1 if messages else 0)
    return messages


def test_registrations_that_differ(built: Path, run: Run) -> None:
    assert _problems(run, ENTRIES.replace("composed(Tensor x)", "composed(Tensor x, int n)")) == [
        "`lib::composed` is registered as `lib::composed(Tensor x) -> Tensor`, "
        "and its entry says `composed(Tensor x, int n) -> Tensor`"
    ]
    assert _problems(run, ENTRIES.replace("with_fake", "of_another_name")) == [
        "`lib::of_another_name` has an entry, and the library does not register it",
        "`lib::with_fake` is registered, and no entry declares it",
    ]
    assert _problems(
        run, ENTRIES.replace("{CompositeImplicitAutograd: kernel}", "{CPU: kernel}")
    ) == [
        "`lib::composed` has no kernel for CPU, and its entry asks for one",
        "`lib::composed` has a kernel for CompositeImplicitAutograd, and its entry asks for none",
    ]


def test_a_device_that_the_library_was_built_without(built: Path, run: Run) -> None:
    """No operator has a kernel for the device, so the build had none to register."""
    entries = ENTRIES.replace(
        "{CPU: kernel, CUDA: kernel}", "{CPU: kernel, CUDA: kernel, MPS: kernel}"
    )
    Path("ops.yaml").write_text(entries)
    code, answer = _answer(run, "ops.whl", "--load")
    assert (code, answer["unseen"][1:]) == (0, ["kernels for MPS: the library was built without"])
    assert _problems(
        run, ENTRIES.replace("{CPU: kernel}\n  fake", "{CUDA: kernel}\n  fake", 1)
    ) == [
        "`lib::with_fake` has no kernel for CUDA, and its entry asks for one",
        "`lib::with_fake` has a kernel for CPU, and its entry asks for none",
    ]


def test_a_namespace_that_the_build_has_given(built: Path, run: Run) -> None:
    entries = ENTRIES.replace("lib::", "file::")
    assert len(_problems(run, entries)) == 10
    assert _problems(run, entries, "--namespace", "lib") == []


def test_what_cannot_be_loaded(built: Path, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    wheel(built, {"ops/__init__.py": "raise SystemExit(3)"})
    done = run("audit", "ops.whl", "--load")
    assert (done.code, "TG012" in done.stderr) == (2, True)
    # Without PyTorch, the rest is looked at.
    monkeypatch.setattr(
        "torchgen_lite_tools.auditing.registry.ask_torch",
        lambda *arguments, **more: Diagnostic("TG011", "PyTorch is not installed"),
    )
    done = run("audit", "ops.whl", "--load")
    assert (done.code, "not looked at: registrations: PyTorch is not installed" in done.stdout) == (
        0,
        True,
    )


@pytest.mark.parametrize(
    ("before", "part"),
    [
        (ENTRIES, "patch"),
        (ENTRIES.partition("- func: lib::composed")[0], "minor"),
        (ENTRIES.replace("with_fake(Tensor x)", "with_fake(Tensor x, int n=1)"), "major"),
    ],
)
def test_the_next_version(built: Path, run: Run, before: str, part: str) -> None:
    Path("before.yaml").write_text(before)
    code, answer = _answer(run, "ops.whl", "--since", "before.yaml")
    assert (code, answer["bump"]["part"]) == (0, part)
    assert f"version: {part}, " in run("audit", "ops.whl", "--since", "before.yaml").stdout
    assert run("audit", "ops.whl", "--since", "nowhere").code == 2
