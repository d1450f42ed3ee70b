"""From an empty folder to a call of one's own operator, by doing what the messages say."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.conftest import ROOT, Result

Run = Callable[..., Result]

ENTRY = """\

- func: tiny::add(Tensor self, Tensor other, *, flaot by=1.0) -> Tensor
  dispatch:
    CPU: add_cpu
    Meta: add_meta
"""
BODY = "    return Tensor([a + by * b for a, b in zip(self.data, other.data)])\n"
CALL = "import tiny, tiny._ops as o; T = tiny.Tensor; print(o.add(T([1.0]), T([2.0]), by=3.0).data)"


def python(folder: Path, *arguments: str, path: Path) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join((str(ROOT), str(path)))}
    command = [sys.executable, *arguments]
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True)


def test_the_first_five_minutes(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    project, elsewhere = tmp_path / "project", tmp_path / "elsewhere"
    for folder in (project, elsewhere):
        folder.mkdir()
    monkeypatch.chdir(project)
    assert run("init", "--layout", "src", "tiny").code == 0
    schema, kernels = project / "ops.yaml", project / "src" / "tiny" / "kernels.py"
    schema.write_text(schema.read_text() + ENTRY)

    # The message says what was meant, and where.
    reported = run("generate", "--output-format", "json")
    assert reported.code == 1
    (mistake,) = json.loads(reported.stdout)["diagnostics"]
    assert mistake["help"] == "did you mean `float`?"
    schema.write_text(schema.read_text().replace("flaot", "float"))

    missing = run("generate")
    assert missing.code == 1 and missing.stderr.count("error[TG302]") == 2
    assert "`torchgen-lite kernels --missing`" in missing.stderr
    assert run("kernels", "--missing").stderr == "add_cpu, add_meta  added to src/tiny/kernels.py\n"
    assert run("generate").code == 0
    assert run("lint", "--deny-warnings").code == 0
    begun = python(elsewhere, "-c", CALL, path=project / "src")
    assert begun.stderr.endswith("NotImplementedError: add_cpu\n")

    text = kernels.read_text()
    kernels.write_text(text.replace('    raise NotImplementedError("add_cpu")\n', BODY))
    called = python(elsewhere, "-c", CALL, path=project / "src")
    assert (called.stdout, called.stderr) == ("[7.0]\n", "")

    # Nothing of the project is on the path.
    checked = python(elsewhere, "-m", "torchgen_lite", "check", str(project), path=elsewhere)
    assert checked.returncode == 0, checked.stderr
