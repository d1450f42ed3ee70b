"""What README shows is what the programs print."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
# Programs are run as after the README's installation, wherever the tests run from.
ENVIRONMENT = {**os.environ, "PYTHONPATH": f"{ROOT}{os.pathsep}{ROOT / 'generated' / 'python'}"}
README = (ROOT / "README.md").read_text()


def blocks(language: str) -> list[str]:
    fences = re.findall(r"^```(\w*)\n(.*?)^```", README, flags=re.S | re.M)
    return [text for name, text in fences if name == language]


def test_the_tour_prints_what_readme_shows() -> None:
    done = subprocess.run(
        [sys.executable, "examples/tour.py"],
        cwd=ROOT,
        env=ENVIRONMENT,
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.strip() + "\n" in blocks("")


def test_consoles_show_what_commands_print() -> None:
    for block in blocks("console"):
        command, _, shown = block.partition("\n")
        done = subprocess.run(
            [sys.executable, "-m", "torchgen_lite", *command.split()[2:]],
            cwd=ROOT,
            env=ENVIRONMENT,
            capture_output=True,
            text=True,
            check=True,
        )
        assert done.stdout + done.stderr == shown


def test_a_call_that_no_kernel_serves_raises_what_readme_shows() -> None:
    done = subprocess.run(
        [
            sys.executable,
            "-c",
            "import torchgen_lite.reference as tl\ntl.exp(tl.tensor([1.0]).to_sparse())",
        ],
        env=ENVIRONMENT,
        capture_output=True,
        text=True,
    )
    _, _, message = done.stderr.partition("Could not run")
    shortened = message.replace(str(ROOT / "generated" / "python"), "...")
    assert "Could not run" + shortened in blocks("")


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """README's own project, written from README's blocks, with its bindings generated."""
    schema, kernels, config = (
        next(block for block in blocks(language) if block.startswith(f"# {name}"))
        for language, name in (
            ("yaml", "ops.yaml"),
            ("python", "my_kernels.py"),
            ("toml", "torchgen_lite.toml"),
        )
    )
    (tmp_path / "ops.yaml").write_text(schema)
    (tmp_path / "my_kernels.py").write_text(kernels)
    (tmp_path / "torchgen_lite.toml").write_text(config)
    generate = [sys.executable, "-m", "torchgen_lite", "generate"]
    subprocess.run(generate, cwd=tmp_path, env=ENVIRONMENT, check=True)
    return tmp_path


def run(folder: Path, program: str) -> str:
    done = subprocess.run(
        [sys.executable, "-c", f"import sys; sys.path[:0] = ['.', 'generated/python']\n{program}"],
        cwd=folder,
        env=ENVIRONMENT,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_the_project_of_readme_runs(project: Path) -> None:
    printed = run(
        project,
        "import my_ops, torchgen_lite.reference as tl\n"
        "x = tl.tensor([-1.0, 2.0])\n"
        "print(my_ops.clamp_below(x, 0.5))\n"
        "print(my_ops.clamp_below(x.to('meta')).shape)\n",
    )
    assert printed == "tensor([0.5000, 2.0000])\nSize([2])\n"


def test_a_type_checker_reads_its_stubs(project: Path) -> None:
    (project / "use.py").write_text(
        "import my_ops\nimport torchgen_lite.reference as tl\n\n"
        'my_ops.clamp_below(tl.ones([2]), "half")\n'
    )
    done = subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", "use.py"],
        cwd=project,
        env={**ENVIRONMENT, "MYPYPATH": f"generated/python:{ENVIRONMENT['PYTHONPATH']}"},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 1
    shown = next(line for line in done.stdout.splitlines() if line.startswith("use.py:4"))
    assert shown in README


def test_mistakes_are_shown_as_readme_shows_them(project: Path) -> None:
    schema = project / "ops.yaml"
    schema.write_text(schema.read_text().replace("float", "flaot").replace("CPU:", "CPUU:"))
    done = subprocess.run(
        [sys.executable, "-m", "torchgen_lite", "check"],
        cwd=project,
        env=ENVIRONMENT,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 1
    assert done.stderr in blocks("")
