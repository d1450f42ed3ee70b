"""The pages written from tables, compared with these tables."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

from torchgen_lite.diagnostics import CODES
from torchgen_lite.diagnostics.codes import EVERY, render_codes_page
from torchgen_lite.loader.fields import FIELDS, fields_page

PACKAGE = Path(__file__).parents[3] / "torchgen_lite"
DOCS = Path(__file__).parents[3] / "docs"


def test_the_page_of_codes_is_the_table_of_codes() -> None:
    path = DOCS / "diagnostics.md"
    if os.environ.get("UPDATE_EXPECT"):
        path.write_text(render_codes_page(), "utf-8")
    assert path.read_text("utf-8") == render_codes_page()


def test_no_two_codes_have_one_number() -> None:
    assert len(EVERY) == len(CODES)


def test_the_codes_of_the_table_are_those_that_are_used() -> None:
    texts = [p.read_text("utf-8") for p in PACKAGE.rglob("*.py") if not p.name.startswith("codes")]
    assert {code for text in texts for code in re.findall(r'"(TG\d{3})"', text)} == set(CODES)


def test_codes_are_in_their_groups() -> None:
    assert all(name == code.code and len(name) == 5 for name, code in CODES.items())
    assert {name[2] for name in CODES} == {"0", "1", "2", "3", "4", "5", "6", "9"}


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
    if os.environ.get("UPDATE_EXPECT"):
        path.write_text(written, "utf-8")
    assert path.read_text("utf-8") == written


def test_retired_fields_are_documented() -> None:
    text = (DOCS / "schema.md").read_text("utf-8")
    assert [name for name in FIELDS if f"`{name}`" not in text] == []
