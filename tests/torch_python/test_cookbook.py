"""docs/cookbook.md: all recipes in one file, with the tests that are generated from their samples."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import ROOT

pytestmark = pytest.mark.torch
PAGE = (ROOT / "docs" / "cookbook.md").read_text()
CONFIG = """\
schema = ["ops.yaml"]
output-dir = "."
targets = ["torch-python"]

[target.torch-python]
package = "cookbook_ops"
folder = "."
tests = "tests"
kernels = ["kernels"]
fakes = ["kernels"]
formulas = ["kernels"]
"""


def blocks(language: str) -> str:
    return "\n\n".join(re.findall(rf"^```{language}\n(.*?)^```", PAGE, flags=re.S | re.M))


def test_every_recipe_works(tmp_path: Path) -> None:
    (tmp_path / "ops.yaml").write_text(blocks("yaml"))
    head = "from __future__ import annotations\n\nimport torch\nfrom torch import Tensor\n\n\n"
    (tmp_path / "kernels.py").write_text(head + blocks("python"))
    (tmp_path / "torchgen_lite.toml").write_text(CONFIG)
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join((str(ROOT), str(tmp_path)))}
    environment.pop("PYTEST_ADDOPTS", None)
    for command in (
        ("torchgen_lite", "generate", "--deny-warnings"),
        ("pytest", "-q", "-p", "no:cacheprovider", "-c", os.devnull, "tests"),
    ):
        done = subprocess.run(
            [sys.executable, "-m", *command],
            cwd=tmp_path,
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        assert done.returncode == 0, done.stdout
    assert " passed" in done.stdout
