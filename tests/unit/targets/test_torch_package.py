"""The package for PyTorch's whole file can be imported, registers everything, and gives clear errors."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

import torchgen_lite
from tests.conftest import ROOT

pytestmark = pytest.mark.torch

PROGRAM = """
import inspect
import aten_ops
from torchgen_lite.runtime import DispatchKey, DispatchKeySet, MissingKernelError

class T:
    _dispatch_keyset = DispatchKeySet(DispatchKey.CPU)

x = T()
overloads = unclear = 0
for packet in vars(aten_ops.ops.aten).values():
    for name, stub in vars(packet).items():
        if not callable(stub) or not hasattr(stub, "redispatch") or name == "redispatch":
            continue
        overloads += 1
        arguments, keywords = [], {}
        for parameter in inspect.signature(stub).parameters.values():
            kind = str(parameter.annotation)
            value = x if kind.startswith("Tensor") else [x] if kind.startswith("Sequence[Tensor") else 1
            if parameter.kind is parameter.KEYWORD_ONLY:
                keywords[parameter.name] = value
            else:
                arguments.append(value)
        try:
            stub(*arguments, **keywords)
        except (MissingKernelError, TypeError) as error:
            # Generators are given a number here, which is refused by name.
            unclear += "aten::" not in str(error)
        else:
            unclear += 1
print(len(list(aten_ops.dispatcher.operators())), overloads, unclear)
"""


@pytest.fixture(scope="module")
def package(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("torch")
    program = torchgen_lite.load(torch=True)
    for path, text in torchgen_lite.generate(program).items():
        file = root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    return root / "python"


def test_every_stub_gives_the_dispatchers_error(package: Path) -> None:
    result = subprocess.run(
        [sys.executable, "-c", PROGRAM],
        env={"PYTHONPATH": f"{package}{os.pathsep}{ROOT}"},
        capture_output=True,
        text=True,
        check=True,
    )
    count = len(torchgen_lite.load(torch=True).functions)
    assert count > 2500
    assert result.stdout == f"{count} {count} 0\n"


def test_files_can_be_opened_in_an_editor(package: Path) -> None:
    assert max(len(p.read_text().splitlines()) for p in package.rglob("*.py")) < 40_000


def test_the_package_is_strictly_typed(package: Path, tmp_path: Path) -> None:
    command = [sys.executable, "-m", "mypy", "--strict", "--cache-dir", str(tmp_path)]
    result = subprocess.run(
        [*command, "--config-file", os.devnull, "-p", "aten_ops"],
        env={**os.environ, "MYPYPATH": f"{package}{os.pathsep}{ROOT}"},
        cwd=tmp_path,
        capture_output=True,
        text=True,
    )
    # The runtime has its own test; this one is about generated code.
    found = [line for line in result.stdout.splitlines() if "aten_ops" in line]
    assert "checked" in result.stdout or "Success" in result.stdout, result.stderr
    assert found == []
