"""Patches and checkouts, tested with git itself."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.conftest import ROOT, Result

Run = Callable[..., Result]


def git(folder: Path, *arguments: str, input: bytes | None = None) -> str:
    names = ("-c", "user.name=n", "-c", "user.email=e")
    command = ["git", *names, *arguments]
    done = subprocess.run(command, cwd=folder, input=input, check=True, capture_output=True)
    return (done.stdout + done.stderr).decode()


def diff(folder: Path, *arguments: str) -> bytes:
    """The output of `diff` in a pipe."""
    done = subprocess.run(
        [sys.executable, "-m", "torchgen_lite", "diff", "-q", *arguments],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(ROOT), "PYTHONIOENCODING": "ascii"},
        capture_output=True,
    )
    assert done.returncode == 1
    return done.stdout


@pytest.fixture
def nested(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project in a subfolder of a repository; git has to quote the folder's name."""
    folder = tmp_path / 'sub "folder"\té'
    folder.mkdir()
    git(tmp_path, "init", "-q", "-b", "main")
    (folder / "torchgen_lite.toml").write_text('[target.python]\npackage = "ops"\n')
    (folder / "native_functions.yaml").write_text("- func: relu(Tensor self) -> Tensor\n")
    monkeypatch.chdir(folder)
    return folder


def change(folder: Path) -> None:
    (folder / "native_functions.yaml").write_text("- func: gelu(Tensor self) -> Tensor\n")


def test_a_patch_applies_in_a_subfolder(run: Run, nested: Path) -> None:
    run("generate")
    (nested / "generated/python/ops/ops.py").open("ab").write(b"# \xff\n")
    (nested / "generated/python/ops/methods.py").unlink()
    change(nested)
    patch = diff(nested)
    assert git(nested, "apply", "-v", input=patch).count("Applied patch") > 5
    assert run("check").code == 0


def test_a_patch_applies_at_the_root_of_the_repository(run: Run, nested: Path) -> None:
    run("generate")
    change(nested)
    patch = diff(nested.parent, "--config", str(nested / "torchgen_lite.toml"))
    git(nested.parent, "apply", input=patch)
    assert run("check").code == 0


def test_files_outside_the_folder_are_pointed_out(run: Run, nested: Path) -> None:
    said = run("diff", "--output-dir", "../out").stderr
    assert "`git apply` skips files outside the folder it runs in" in said
    git(nested.parent, "apply", input=diff(nested, "--output-dir", "../out"))
    assert run("check", "--output-dir", "../out").code == 0


def test_a_patch_of_fmt_applies_in_a_subfolder(run: Run, nested: Path) -> None:
    path = nested / "native_functions.yaml"
    path.write_text("- func: relu(Tensor self) -> Tensor\n  variants:   function,method\n")
    git(nested, "apply", input=run("fmt", "--diff").stdout.encode())
    assert run("fmt", "--check").code == 0


@pytest.mark.parametrize("target", ["python", "torch-stubs"])
def test_line_ends_of_a_checkout_change_nothing(run: Run, nested: Path, target: str) -> None:
    (nested / "torchgen_lite.toml").write_text(f'targets = ["{target}"]\n')
    run("generate")
    git(nested, "config", "core.autocrlf", "true")
    git(nested, "add", ".")
    git(nested, "commit", "-qm", "all")
    git(nested, "rm", "-rq", "generated", "native_functions.yaml")
    git(nested, "reset", "-q", "--hard")
    [typed] = (nested / "generated").rglob("py.typed")
    texts = [p.read_bytes() for p in (nested / "generated").rglob("*.py*") if p != typed]
    assert texts and all(b"\r\n" in text for text in texts)
    assert run("check").code == run("fmt", "--check").code == 0
    assert run("generate").stderr.endswith(" files unchanged in generated\n")
    change(nested)
    git(nested, "apply", "--whitespace=nowarn", input=diff(nested))
    assert run("check").code == 0
    git(nested, "add", ".")
    git(nested, "commit", "-qm", "changed")
    assert git(nested, "status", "--short") == ""
