"""Generated Python is already in black's style, so black would change nothing."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from pathlib import Path

import black
import pytest

import torchgen_lite
from tests.conftest import ROOT

pytestmark = pytest.mark.tools


@pytest.fixture(autouse=True)
def _no_collection() -> Iterator[None]:
    """Black's trees are large; collecting garbage takes a third of its time."""
    gc.disable()
    yield
    gc.enable()


def reformatted(path: str, text: str) -> str:
    mode = black.Mode(is_pyi=path.endswith(".pyi"))
    try:
        return black.format_file_contents(text, fast=True, mode=mode)
    except black.report.NothingChanged:
        return text


def assert_stable(path: str, text: str) -> None:
    bare = text.replace("# fmt: off\n", "", 1).replace("# ruff: noqa\n", "", 1)
    assert bare != text and "fmt: off" not in bare
    assert reformatted(path, bare) == bare


@pytest.fixture(scope="module")
def own() -> dict[str, str]:
    return torchgen_lite.generate(torchgen_lite.load(root=ROOT))


def test_every_file_of_our_own_package(own: dict[str, str]) -> None:
    for path, text in own.items():
        if path.endswith((".py", ".pyi")):
            assert_stable(path, text)


@pytest.mark.parametrize(
    "yaml",
    [
        "",
        "- func: f() -> ()\n",
        "- func: f_(Tensor(a!) self) -> Tensor(a!)\n  variants: method\n",
        "- func: f(Tensor x) -> Tensor\n- func: g(Tensor self) -> Tensor\n  variants: method\n",
        f"- func: f(*, int {'a' * 60}=1) -> ({', '.join(['Tensor'] * 20)})\n",
    ],
)
def test_small_packages(tmp_path: Path, yaml: str) -> None:
    (tmp_path / "native_functions.yaml").write_text(yaml)
    for path, text in torchgen_lite.generate(torchgen_lite.load(root=tmp_path)).items():
        if path.endswith((".py", ".pyi")):
            assert_stable(path, text)
            compile(text, path, "exec")


@pytest.mark.torch
def test_a_sample_of_pytorchs_package() -> None:
    """black needs half a minute for the whole package; these files have every kind and the longest names."""
    files = torchgen_lite.generate(torchgen_lite.load(torch=True))
    suffixes = ("_0.py", "_12.py", "/methods.pyi", "/functions.py", "/__init__.py", "/methods.py")
    sample = {path: text for path, text in files.items() if path.endswith(suffixes)}
    assert len(sample) == 6
    for path, text in sample.items():
        assert_stable(path, text)


@pytest.mark.parametrize(
    "project", ["examples/torch_backend", "examples/torch_ops", "tests/torch_python/project"]
)
def test_packages_for_pytorch(project: str) -> None:
    program = torchgen_lite.load(root=ROOT / project)
    for path, text in torchgen_lite.generate(program, targets=["torch-python"]).items():
        if path.endswith(".py"):
            assert_stable(path, text)
