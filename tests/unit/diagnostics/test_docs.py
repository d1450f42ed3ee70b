"""The pages that are made from tables, held against them."""

from __future__ import annotations

import os
from pathlib import Path

from torchgen_lite.diagnostics import CODES
from torchgen_lite.diagnostics.codes import render_codes_page
from torchgen_lite.loader.fields import FIELDS

DOCS = Path(__file__).parents[3] / "docs"


def test_the_page_of_codes_is_the_table_of_codes() -> None:
    path = DOCS / "diagnostics.md"
    if os.environ.get("UPDATE_EXPECT"):
        path.write_text(render_codes_page(), "utf-8")
    assert path.read_text("utf-8") == render_codes_page()


def test_codes_are_in_their_groups() -> None:
    assert all(name == code.code and len(name) == 5 for name, code in CODES.items())
    assert {name[2] for name in CODES} == {"0", "1", "2", "3", "4", "5", "9"}


def test_every_field_is_documented() -> None:
    text = (DOCS / "schema.md").read_text("utf-8")
    assert [name for name in FIELDS if f"`{name}`" not in text] == []
