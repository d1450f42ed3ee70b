"""Merge the definitions in the registry with those in the text."""

from __future__ import annotations

from collections import Counter
from dataclasses import fields
from typing import Any

import pytest

from torchgen_lite_tools.importing.library import Definition, Library
from torchgen_lite_tools.importing.merge import put_together


def test_every_definition_of_the_text_has_the_schema_of_the_registry() -> None:
    f, g = "a::f(Tensor x) -> Tensor", "a::g() -> ()"
    registry = Library(definitions=[Definition("a::f", f, ("core",)), Definition("a::g", g, ())])
    written = Definition("a::f", "a::f(Tensor  x) -> Tensor", ())
    found = put_together(registry, Library(definitions=[written, written])).definitions
    assert [(one.schema, one.tags) for one in found] == [(f, ("core",)), (f, ("core",)), (g, ())]


@pytest.mark.parametrize(
    ("registered", "written", "merged"),
    [
        ("(Tensor _0, int _1) -> Tensor _0", "(Tensor x, int n) -> Tensor", 1),
        ("(Tensor _0, int _1) -> Tensor _0", "(Tensor x, float n) -> Tensor", 0),
        ("(Tensor _0, int _1) -> Tensor _0", "(Tensor x) -> Tensor", 0),
        ("(Tensor x, int _1) -> Tensor", "(Tensor x, int n) -> Tensor", 0),
    ],
)
def test_arguments_that_have_names_only_in_the_text(
    registered: str, written: str, merged: int
) -> None:
    schemas = [f"a::f{registered}", f"a::f{written}"]
    both = (Library(definitions=[Definition("a::f", one)]) for one in schemas)
    assert put_together(*both).definitions[0].schema == schemas[merged]


def test_what_only_the_text_knows_is_kept() -> None:
    """Every field that is not merged is the text's."""
    merged = {"definitions", "implementations", "extras", "diagnostics", "modules", "statements"}
    known: dict[str, Any] = {
        "files": 3,
        "binders": {"a.cpp": "pybind11"},
        "proposed": Counter({"a.cpp": 2}),
        "read": [],
        "inferred": ["a::f"],
        "python": {"a.py": (1, 0)},
        "refused": {"a::g"},
        "stable": {"a::h"},
        "converted": {"a::i"},
    }
    assert known.keys() | merged == {one.name for one in fields(Library)}
    both = put_together(Library(), Library(**known))
    assert {name: getattr(both, name) for name in known} == known
