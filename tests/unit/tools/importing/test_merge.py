"""Merge the definitions in the registry with those in the text."""

from __future__ import annotations

from torchgen_lite_tools.importing.library import Definition, Library
from torchgen_lite_tools.importing.merge import put_together


def test_every_definition_of_the_text_has_the_schema_of_the_registry() -> None:
    f, g = "a::f(Tensor x) -> Tensor", "a::g() -> ()"
    registry = Library(definitions=[Definition("a::f", f, ("core",)), Definition("a::g", g, ())])
    written = Definition("a::f", "a::f(Tensor  x) -> Tensor", ())
    found = put_together(registry, Library(definitions=[written, written])).definitions
    assert [(one.schema, one.tags) for one in found] == [(f, ("core",)), (f, ("core",)), (g, ())]
