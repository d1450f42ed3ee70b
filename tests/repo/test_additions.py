"""A field, an option and a command are added to a copy of the package as ARCHITECTURE.md says, and are there."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
Run = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture(scope="module")
def package(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the package with one more field, option of the configuration, option of a target, and command."""
    copy = tmp_path_factory.mktemp("copy") / "torchgen_lite"
    shutil.copytree(ROOT / "torchgen_lite", copy, ignore=shutil.ignore_patterns("__pycache__"))
    _insert(
        copy / "loader/entry/entry.py",
        "    vmap: str | None = ",
        "    fragile: str | None = None\n",
    )
    _insert(
        copy / "loader/entry/fields.py",
        '    Field("variants",',
        '    _ours("fragile", "how to carry it", TEXT),\n',
    )
    _insert(
        copy / "loader/config/project.py",
        "    output_dir: str = ",
        '    motto: str = option("What the project stands for.", TEXT, "")\n',
    )
    _insert(
        copy / "targets/torch_python/options.py",
        "    final: bool = ",
        '    warmth: bool = option("Kind words in comments.", FLAG, False)\n',
    )
    _insert(copy / "cli/app.txt", "lint ", "greet       greet      Say hello.\n")
    (copy / "cli/greet.py").write_text(
        "import click\n"
        "from torchgen_lite.cli.session import Session, command\n\n\n"
        '@command("greet")\n'
        "def greet_command(session: Session) -> int:\n"
        '    """Say hello."""\n'
        '    click.echo("hello")\n'
        "    return 0\n"
    )
    return copy


def _insert(path: Path, before: str, line: str) -> None:
    """A line in front of the only one that begins in this way."""
    text = path.read_text("utf-8")
    assert text.count(f"\n{before}") == 1, path
    path.write_text(text.replace(f"\n{before}", f"\n{line}{before}"), "utf-8")


@pytest.fixture
def run(package: Path, tmp_path: Path) -> Run:
    """Runs a command of the copy in an empty folder."""

    def call(*words: str) -> subprocess.CompletedProcess[str]:
        environment = {**os.environ, "PYTHONPATH": str(package.parent)}
        command = [sys.executable, "-m", "torchgen_lite", *words]
        return subprocess.run(
            command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False
        )

    return call


def test_a_field(run: Run, tmp_path: Path) -> None:
    """The JSON Schema describes it, `fmt` has a place for it, `lint` takes text and nothing else."""
    schema: Any = json.loads(run("schema").stdout)
    description = schema["definitions"]["entry"]["properties"]["fragile"]["description"]
    assert description == "how to carry it An extension of torchgen-lite."
    path = tmp_path / "ops.yaml"
    path.write_text("- fragile: with care\n  func: toy::f(Tensor x) -> Tensor\n  vmap: g\n")
    assert run("fmt", "ops.yaml").returncode == 0
    assert path.read_text() == (
        "- func: toy::f(Tensor x) -> Tensor\n  fragile: with care\n  vmap: g\n"
    )
    path.write_text("- func: toy::f(Tensor x) -> Tensor\n  fragile: [with, care]\n")
    assert "TG106" in run("lint", "--schema", "ops.yaml").stderr


def test_options(run: Run, tmp_path: Path) -> None:
    """The JSON Schema has their texts, and their values are checked."""
    schema: Any = json.loads(run("schema", "--of", "config").stdout)
    text = json.dumps(schema)
    assert "What the project stands for." in text
    assert "Kind words in comments." in text
    (tmp_path / "native_functions.yaml").write_text("- func: toy::f(Tensor x) -> Tensor\n")
    configuration = tmp_path / "torchgen_lite.toml"
    configuration.write_text(
        'motto = "on"\ntargets = ["torch-python"]\n[target.torch-python]\nwarmth = true\n'
    )
    assert run("lint").returncode == 0
    configuration.write_text('targets = ["torch-python"]\n[target.torch-python]\nwarmth = 1\n')
    assert "`warmth` takes true or false" in run("lint").stderr


def test_a_command(run: Run) -> None:
    assert run("greet").stdout == "hello\n"
    assert "Say hello." in run("--help").stdout
