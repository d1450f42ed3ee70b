"""The pages written from tables, compared with these tables."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.expected import expect
from tests.pages import fields_page
from torchgen_lite.loader.entry.fields import FIELDS

DOCS = Path(__file__).parents[3] / "docs"


@pytest.mark.parametrize(("heading", "ours"), [("of PyTorch", False), ("of this project", True)])
def test_the_tables_of_fields_are_what_is_declared(heading: str, ours: bool) -> None:
    path = DOCS / "schema.md"
    text = path.read_text("utf-8")
    page = fields_page([field for field in FIELDS.values() if field.ours == ours])
    written = re.sub(
        rf"(## Fields {heading}\n\n)(?:\|.*\n)+",
        lambda match: match[1] + page,
        text,
    )
    expect(path, written)


def test_retired_fields_are_documented() -> None:
    text = (DOCS / "schema.md").read_text("utf-8")
    assert [name for name in FIELDS if f"`{name}`" not in text] == []
