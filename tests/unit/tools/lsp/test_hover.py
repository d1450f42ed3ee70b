"""Hover shows what is registered once everything that one package loads is there."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.together import OPERATORS, ORDERS, write_together
from torchgen_lite.diagnostics import Source
from torchgen_lite_tools.lsp.analysis import analyze
from torchgen_lite_tools.lsp.hover import hover
from torchgen_lite_tools.lsp.places import find_place


@pytest.mark.parametrize("targets", ORDERS, ids=", ".join)
def test_an_operator_of_two_targets(tmp_path: Path, targets: tuple[str, ...]) -> None:
    path = write_together(tmp_path, targets) / "ops.yaml"
    analysis = analyze(path, {path: OPERATORS})
    assert analysis is not None
    source = Source("ops.yaml", OPERATORS)
    said = hover(analysis, find_place(source, OPERATORS.index("demo::auto"))) or ""
    assert "a fake: what is returned when only shapes are known" in said
    assert "`torch.library` records the call" in said
    assert "not-implemented" not in said


@pytest.mark.parametrize(
    ("target", "options"),
    [("cpp-runtime", 'tensor = "my::Tensor"'), ("cpp-torch-stable", "")],
)
def test_a_kernel_beside_a_type_that_cpp_lacks(tmp_path: Path, target: str, options: str) -> None:
    """Half of `Storage? s` typed, and the server answered nothing about any kernel: the target needed the type."""
    path = tmp_path / "ops.yaml"
    text = (
        "- func: my::whole(Tensor x) -> Tensor\n  dispatch: {CPU: whole_cpu}\n"
        "- func: my::typeless(Tensor x, Storage s) -> Tensor\n  dispatch: {CPU: typeless_cpu}\n"
    )
    path.write_text(text)
    (tmp_path / "torchgen_lite.toml").write_text(
        f'schema = ["ops.yaml"]\ntargets = ["{target}"]\n[target.{target}]\nnamespace = "my"\n{options}\n'
    )
    analysis = analyze(path, {path: text})
    assert analysis is not None
    source = Source("ops.yaml", text)
    whole = hover(analysis, find_place(source, text.index("whole_cpu"))) or ""
    assert "whole_cpu(" in whole and "CPU of my::whole" in whole
    typeless = hover(analysis, find_place(source, text.index("typeless_cpu"))) or ""
    assert "```cpp\ntypeless_cpu\n```" in typeless and "CPU of my::typeless" in typeless
