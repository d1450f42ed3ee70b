"""The framework of docs/python-target.md whose tensors are NumPy's arrays runs, and its calls are typed."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.blocks import PAGES, blocks
from tests.conftest import Result

USE = """\
import mylib
import numpy

print(mylib.scale(numpy.array([1.0, 2.0]), 3.0).tolist())
"""


@pytest.mark.tools
def test_arrays_of_numpy_are_tensors(
    run: Callable[..., Result], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert run("init", "--target", "python", "mylib").code == 0
    [framework] = (b for b in blocks(PAGES["python-target"], "python") if "numpy.ndarray" in b)
    (tmp_path / "mylib/tensor.py").write_text(framework)
    (tmp_path / "ops.yaml").write_text(
        "- func: mylib::scale(Tensor self, float factor) -> Tensor\n  dispatch: {CPU: scale}\n"
    )
    (tmp_path / "mylib/kernels.py").write_text(
        "from mylib.tensor import Tensor\n\n\n"
        "def scale(self: Tensor, factor: float) -> Tensor:\n    return self * factor\n"
    )
    (tmp_path / "use.py").write_text(USE)
    generated = run("generate")
    assert generated.code == 0, generated.stderr
    done = subprocess.run([sys.executable, "use.py"], capture_output=True, text=True, check=True)
    assert done.stdout == "[3.0, 6.0]\n"
    [settings] = (b for b in blocks(PAGES["python-target"], "toml") if "mypy" in b)
    (tmp_path / "pyproject.toml").write_text(settings)
    command = [sys.executable, "-m", "mypy", "--strict", "use.py"]
    checked = subprocess.run(command, capture_output=True, text=True, check=False)
    assert checked.returncode == 0, checked.stdout
    (tmp_path / "use.py").write_text(USE.replace("3.0", "None"))
    checked = subprocess.run(command, capture_output=True, text=True, check=False)
    assert 'expected "float"' in checked.stdout
