"""`examples/tinyarr`, copied to somewhere else: checked, tested, typed, built and run."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from tests.conftest import ROOT
from tests.shipping.test_wheels import build_wheel
from tests.torch_stubs.checkers import needs_pyright

EXAMPLE = ROOT / "examples" / "tinyarr"


def run(*arguments: str, cwd: Path, path: Path = ROOT) -> str:
    environment = {"PYTHONPATH": f"{path}:{ROOT}", "PATH": "/usr/bin:/bin"}
    command = [sys.executable, "-B", *arguments]
    done = subprocess.run(command, cwd=cwd, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture
def project(tmp_path: Path) -> Path:
    ignored = shutil.ignore_patterns("__pycache__", ".*_cache")
    return Path(shutil.copytree(EXAMPLE, tmp_path / "project", ignore=ignored))


def test_it_is_up_to_date_where_it_is_not_installed_and_passes_its_tests(project: Path) -> None:
    run("-m", "torchgen_lite", "check", cwd=project)
    run("-m", "torchgen_lite", "lint", "--deny-warnings", cwd=project)
    run("-m", "pytest", "-q", "-p", "no:cacheprovider", cwd=project)


def test_it_is_typed_and_tidy(project: Path, tmp_path: Path) -> None:
    run("-m", "mypy", "--cache-dir", str(tmp_path / "cache"), cwd=project)
    run("-m", "ruff", "check", "--no-cache", ".", cwd=project)


@pytest.mark.torch  # Where pyright is, too.
@needs_pyright
def test_pyright_accepts_it(project: Path) -> None:
    run("-m", "pyright", "--pythonpath", sys.executable, cwd=project)


def test_its_wheel_has_what_it_needs(project: Path, tmp_path: Path) -> None:
    site = tmp_path / "site"
    with zipfile.ZipFile(build_wheel(project, tmp_path)) as wheel:
        wheel.extractall(site)
        assert {"tinyarr/py.typed", "tinyarr/_ops/methods.pyi"} < set(wheel.namelist())
    program = "import tinyarr as t; print(t.__file__, t.mean(t.array([1.0, 2.0], 'sim')))"
    expected = f"{site / 'tinyarr' / '__init__.py'} array(1.5, device='sim')\n"
    assert run("-c", program, cwd=tmp_path, path=site) == expected


def test_the_page_shows_what_stands_in_the_example() -> None:
    page = (ROOT / "docs" / "python-target.md").read_text("utf-8")
    section = page.partition("## Your own library\n")[2].partition("\n## ")[0]
    blocks = re.findall(r"^```\w+\n(.*?)^```$", section, flags=re.DOTALL | re.MULTILINE)
    files = [EXAMPLE / "ops.yaml", EXAMPLE / "pyproject.toml", *EXAMPLE.glob("src/tinyarr/**/*.py")]
    texts = [path.read_text("utf-8") for path in files]
    assert len(blocks) == 8
    assert [block for block in blocks if not any(block in text for text in texts)] == []


def test_errors_and_commands_call_the_device_by_its_name(project: Path) -> None:
    why = [
        run("-m", "torchgen_lite", "why", "neg", key, cwd=project) for key in ("SIM", "PrivateUse1")
    ]
    assert "neg_sim" in why[0] and why[0] == why[1]
    schema = project / "ops.yaml"
    schema.write_text(schema.read_text("utf-8").replace("    SIM: neg_sim\n", ""), "utf-8")
    run("-m", "torchgen_lite", "generate", cwd=project)
    program = """
import tinyarr
try:
    -tinyarr.array([1.0], "sim")
except NotImplementedError as error:
    print(error)
"""
    said = run("-c", program, cwd=project, path=project / "src")
    assert said.startswith(
        "Could not run 'tinyarr::neg' with arguments from the 'SIM' backend: it has no kernel for this key"
    )
