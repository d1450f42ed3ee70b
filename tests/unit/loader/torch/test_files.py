"""The installed PyTorch is used, whatever the current folder contains."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from torchgen_lite.loader.torch.files import (
    find_torch_files,
    import_torch,
    load_installed_torch,
)

TORCH = """
class Schema:
    name = "fake::f"
    overload_name = ""

    def __str__(self):
        return "fake::f(Tensor x) -> Tensor"

class _C:
    _dispatch_get_all_op_names = lambda: ["fake::f"]
    _jit_get_all_schemas = lambda: [Schema()]
"""


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a PyTorch, which comes first on the path; another PyTorch is installed."""
    installed, here = tmp_path / "installed", tmp_path / "here"
    for root, text in ((installed, TORCH), (here, "open('ran', 'w').close()\n" + TORCH)):
        native = root / "torchgen/packaged/ATen/native"
        native.mkdir(parents=True)
        (root / "torchgen/__init__.py").write_text("")
        (native / "native_functions.yaml").write_text("")
        (native / "tags.yaml").write_text("")
        (root / "torch").mkdir()
        (root / "torch/__init__.py").write_text(text)
        (root / "torch/one.pyi").write_text(root.name)
    monkeypatch.chdir(here)
    monkeypatch.setattr(sys, "path", ["", str(here), str(installed), *sys.path])
    monkeypatch.delitem(sys.modules, "torch", raising=False)
    return here


def test_its_files_are_those_of_the_installed_one(here: Path) -> None:
    files, found = find_torch_files()
    assert found == ()
    assert files is not None
    assert files.tags.is_relative_to(here.parent / "installed")


def test_its_operators_are_those_of_the_installed_one(here: Path) -> None:
    installed, found = load_installed_torch()
    assert found == ()
    assert installed is not None
    assert [str(schema) for schema in installed.operators] == ["fake::f(Tensor x) -> Tensor"]
    assert installed.stubs == (("one.pyi", "installed"),)
    assert not (here / "ran").exists()


def test_the_installed_one_is_imported(here: Path) -> None:
    before = [*sys.path]
    torch = import_torch()
    del sys.modules["torch"]
    assert Path(torch.__file__).is_relative_to(here.parent / "installed")
    assert sys.path == before
    assert not (here / "ran").exists()
