"""Operators that PyTorch does not have, and what their author may have meant (TG315)."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.conftest import Result

NATIVE = """\
- func: add.Tensor(Tensor self, Tensor other) -> Tensor
- func: relu(Tensor self) -> Tensor
"""
OTHER = "- func: mis::other(Tensor x) -> Tensor\n  dispatch: {CPU: other, Meta: other}\n"


@pytest.mark.parametrize(
    ("name", "help_"),
    [
        ("mis.sqdiff", "write `mis::sqdiff`: a dot comes before the name of an overload"),
        ("mylib.sqdiff", "write `mylib::sqdiff`: a dot comes before the name of an overload"),
        ("ad.Tensor", "did you mean `add.Tensor`?"),
        ("add.Tensr", "did you mean `add.Tensor`?"),
        (
            "add.Mine",
            "give your own operators a namespace: `mylib::add.Mine`, or `namespace` in the configuration",
        ),
        (
            "sqdiff",
            "give your own operators a namespace: `mylib::sqdiff`, or `namespace` in the configuration",
        ),
    ],
)
def test_what_was_meant(name: str, help_: str, run: Callable[..., Result], project: Path) -> None:
    (project / "torchgen_lite.toml").write_text('native = "pytorch.yaml"\n')
    (project / "pytorch.yaml").write_text(NATIVE)
    entry = f"- func: {name}(Tensor x) -> Tensor\n  dispatch: {{CPU: f, Meta: f}}\n"
    (project / "native_functions.yaml").write_text(OTHER + entry)
    said = run("lint").stderr
    assert f"PyTorch has no operator `{name}`" in said
    assert f"  = help: {help_}\n" in said
