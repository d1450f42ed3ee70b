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
