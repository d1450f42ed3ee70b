"""docs/differences.md lists every exception to the comparison with torchgen."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.torchgen import exceptions
from tests.torchgen.exceptions import Disagreement

DOCUMENT = Path(__file__).parents[2] / "docs" / "differences.md"
FOUND = {name: value for name, value in vars(exceptions).items() if isinstance(value, Disagreement)}


@pytest.mark.parametrize("name", FOUND)
def test_documented(name: str) -> None:
    _, _, section = DOCUMENT.read_text(encoding="utf-8").partition("\n## Signatures\n")
    for operator in FOUND[name].names:
        assert f"`{operator.removeprefix('aten::')}`" in section
