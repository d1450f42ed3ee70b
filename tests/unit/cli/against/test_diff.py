"""`diff --against`: the generated code of two versions of a project."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.conftest import Result
from tests.unit.cli.against.conftest import NEW, OLD, git

Run = Callable[..., Result]


def test_the_patch_takes_one_version_to_the_other(run: Run, changed: Path) -> None:
    """The files on disk are those of `main`, so the patch applies."""
    result = run("diff", "--against", "main")
    assert result.code == 0
    assert result.stderr.endswith(
        " files changed against main\nfor more: torchgen-lite explain TG111\n"
    )
    subprocess.run(["git", "apply"], input=result.stdout.encode(), cwd=changed, check=True)
    assert run("check").code == 0
    # The generated files on disk do not matter.
    assert run("diff", "--against", "main") == result


def test_nothing_changes_against_itself(run: Run, changed: Path) -> None:
    (changed / "native_functions.yaml").write_text(OLD)
    assert run("diff", "--against", "main") == Result(0, "", "no file changed against main\n")


def test_templates_are_those_of_each_side(run: Run, changed: Path) -> None:
    config = changed / "torchgen_lite.toml"
    config.write_text('template-dirs = ["mine"]\n' + config.read_text())
    run("templates", "export", "python/package.py.j2", "--output-dir", "mine")
    git(changed, "add", ".")
    git(changed, "commit", "-qm", "mine")
    template = changed / "mine/python/package.py.j2"
    template.write_text(template.read_text() + "\n# The end.\n")
    patch = run("diff", "--against", "HEAD").stdout
    assert [line for line in patch.splitlines() if line[:1] == "+" and line[:3] != "+++"][
        -1
    ] == "+# The end."
    assert patch.count("diff --git") == 1


def test_each_side_reads_what_its_configuration_names(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Schema files and PyTorch's file may be outside the project's folder, and may move into it."""
    project = tmp_path / "project"
    project.mkdir()
    monkeypatch.chdir(project)
    outside = tmp_path / "common"
    outside.mkdir()
    (outside / "ops.yaml").write_text("- func: lib::f(Tensor self) -> Tensor\n")
    (outside / "native_functions.yaml").write_text("- func: abs(Tensor self) -> Tensor\n")
    config = 'schema = ["../common/ops.yaml"]\nnative = "../common/native_functions.yaml"\n'
    (project / "torchgen_lite.toml").write_text(config)
    git(tmp_path, "init", "-q", "-b", "main")
    git(tmp_path, "add", ".")
    git(tmp_path, "commit", "-qm", "one")
    for file in outside.iterdir():
        file.rename(project / file.name)
    (project / "torchgen_lite.toml").write_text(config.replace("../common/", ""))
    assert run("diff", "--against", "main") == Result(0, "", "no file changed against main\n")


def test_json(run: Run, changed: Path) -> None:
    data = json.loads(run("diff", "--against", "main", "--output-format", "json").stdout)
    assert {file["status"] for file in data["files"]} == {"changed"}
    assert all(file["diff"] for file in data["files"])


def test_wrong_versions(run: Run, changed: Path) -> None:
    assert run("diff", "--against", "nonsense").code == 2
    (changed / "native_functions.yaml").write_text(NEW.replace("Tensor self", "Tensr self"))
    assert run("diff", "--against", "main").code == 1
