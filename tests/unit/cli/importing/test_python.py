"""`import` of modules: which package a function belongs to."""

from __future__ import annotations

from pathlib import Path
from types import FunctionType

from torchgen_lite.loader.importing.python_recorder import author_of, is_within


def function_of(path: Path) -> FunctionType:
    names: dict[str, FunctionType] = {}
    exec(compile("def f(): pass", path, "exec"), names)
    return names["f"]


def test_a_folder_beside_pytorch_is_not_pytorch(tmp_path: Path) -> None:
    home = str(tmp_path / "torch")
    theirs, ours = function_of(tmp_path / "torch/a.py"), function_of(tmp_path / "torchx/a.py")
    assert is_within(theirs, home)
    assert not is_within(ours, home)
    assert author_of(theirs, home) is None
    assert author_of(ours, home) is ours
