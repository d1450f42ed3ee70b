"""The examples in the `--help` of each command run."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.conftest import ROOT, Result
from torchgen_lite.cli.app import COMMANDS

Run = Callable[..., Result]

OLD = """\
- func: add.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor
  dispatch:
    CPU: add_cpu
- func: mylib::rms_norm(Tensor x, Tensor weight) -> Tensor
  dispatch:
    CUDA: [{when: x.size(-1) <= 8192, kernel: rms_norm_small}, rms_norm_any]
"""
LIBRARY = """\
import torch
torch.library.define("mylib::muladd", "(Tensor a, Tensor b, float c) -> Tensor")


def muladd(a, b, c):
    return a * b + c


torch.library.impl("mylib::muladd", "CPU", muladd)
"""
PYTORCH = """\
- func: empty.memory_format(SymInt[] size) -> Tensor
- func: _copy_from(Tensor self, Tensor dst, bool non_blocking=False) -> Tensor
  dispatch: {}
- func: mm.out(Tensor self, Tensor mat2, *, Tensor(a!) out) -> Tensor(a!)
  dispatch:
    CPU: mm_out
- func: add.Tensor(Tensor self, Tensor other, *, Scalar alpha=2) -> Tensor
  tags: [core]
  dispatch:
    CPU: add
"""
# Exit codes for a project with stale outputs and a change that breaks callers.
EXIT_CODES = {"check": 1, "diff": 1, "breaking": 1, "review": 1}


def examples(run: Run, command: str) -> list[str]:
    """The example commands in the help of a command; for a group, those of its commands."""
    names = [[command, "export"], [command, "check"]] if command == "templates" else [[command]]
    found = []
    for words in names:
        text = run(*words, "--help").stdout
        lines = re.findall(r"^ +(torchgen-lite .*)$", text, re.M)
        assert lines, words
        assert all(line.startswith(f"torchgen-lite {' '.join(words)}") for line in lines)
        found += lines
    return found


@pytest.fixture
def stale(run: Run, project: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A generated project under git that has changed since `main` and `v1.0`."""
    path = project / "native_functions.yaml"
    path.write_text(OLD)
    (project / "old").mkdir()
    (project / "old/native_functions.yaml").write_text(OLD)
    assert run("generate").code == 0
    identity = ("-c", "user.name=n", "-c", "user.email=e", "-c", "commit.gpgsign=false")
    for line in ("init -q -b main", "add .", "commit -qm one", "tag v1.0"):
        subprocess.run(["git", *identity, *line.split()], cwd=project, check=True)
    for name in ("a", "b"):
        (project / name).mkdir()
        (project / name / "torchgen_lite.toml").write_text("")
        (project / name / "native_functions.yaml").write_text(OLD)
    path.write_text(OLD.replace("alpha=1", "alpha=2"))
    (project / "more.yaml").write_text("- func: more(Tensor self) -> Tensor\n")
    monkeypatch.setenv("HOME", str(project))
    return project


def execute(run: Run, line: str) -> Result:
    """Run a command line as a shell would, with the syntax that the examples use."""
    for part in line.split(" && "):
        command, _, file = part.partition(" > ")
        command, _, pipe = command.partition(" | ")
        result = run(*shlex.split(command)[1:])
        if file:
            path = Path(file).expanduser()
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(result.stdout)
        if pipe:
            subprocess.run(shlex.split(pipe), input=result.stdout.encode(), check=True)
    return result


def give_pytorch(project: Path) -> None:
    """A small PyTorch, wheels of two releases, and a backend's file."""
    (project / "pytorch.yaml").write_text(PYTORCH)
    config = project / "torchgen_lite.toml"
    config.write_text('native = "pytorch.yaml"\n' + config.read_text())
    (project / "xla_native_functions.yaml").write_text(
        "backend: XLA\ncpp_namespace: xla\nsupported: [mm.out]\n"
    )
    give_wheels(project, "2.9.1", "2.10.0")


def give_wheels(project: Path, *versions: str) -> None:
    for version in versions:
        with zipfile.ZipFile(project / f"torch-{version}-py3-none-any.whl", "w") as wheel:
            wheel.writestr("torchgen/packaged/ATen/native/native_functions.yaml", PYTORCH)


@pytest.mark.parametrize("command", COMMANDS)
def test_examples_of_help(run: Run, stale: Path, command: str) -> None:
    if ".backends." in COMMANDS[command][0]:
        give_pytorch(stale)
    elif command == "check":
        give_wheels(stale, "2.9.1", "2.11.0", "2.13.0")
    elif command == "audit":
        (stale / "dist").mkdir()
        with zipfile.ZipFile(stale / "dist/mylib-1.1-py3-none-any.whl", "w") as wheel:
            wheel.writestr("mylib/__init__.py", "")
    elif command == "adopt":
        (stale / "torchgen_lite.toml").unlink()
    for folder in ("csrc", "mylib"):
        (stale / folder).mkdir()
    (stale / "mylib/ops.py").write_text("")
    (stale / "csrc/ops.cpp").write_text('TORCH_LIBRARY(mylib, m) { m.def("f() -> ()"); }')
    for line in examples(run, command):
        # The language server is tested in `tests/unit/tools/lsp`.
        # Nor is there a library that could be built or loaded: that is in `tests/adopt/test_trial.py`.
        is_run = any(word in line for word in ("--torch", "--module", "--load", "train.py"))
        if not is_run and command != "lsp":
            result = execute(run, line)
            is_view = (command == "diff" and "--against" in line) or "--for-torch" in line
            assert result.code == (0 if is_view else EXIT_CODES.get(command, 0)), (line, result)
            assert "error[TG0" not in result.stderr, line
    if command == "diff":
        assert run("check").code == 0, "git has applied the patch"


@pytest.mark.torch
@pytest.mark.usefixtures("forked_python")
@pytest.mark.parametrize("command", ["generate", "why", "import"])
def test_examples_of_help_with_torch(run: Run, stale: Path, command: str) -> None:
    (stale / "mylib.py").write_text(LIBRARY)
    (stale / "csrc").mkdir()
    lines = [one for one in examples(run, command) if "--torch" in one or "--module" in one]
    assert lines
    for line in lines:
        words = [sys.executable, "-m", "torchgen_lite", *shlex.split(line)[1:]]
        environment = {**os.environ, "PYTHONPATH": str(ROOT)}
        assert subprocess.run(words, env=environment, capture_output=True).returncode == 0, line
