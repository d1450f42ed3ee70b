"""Deriving and exporting never raise, whatever is declared."""

from __future__ import annotations

import json

from hypothesis import given
from hypothesis import strategies as st

from tests.properties.test_schema_parser import schemas
from torchgen_lite.analysis.resolve import Resolved
from torchgen_lite.languages.export import export_operator
from torchgen_lite.loader.entry.entry import DispatchEntry, NativeFunction
from torchgen_lite.schema import FunctionSchema

NAMES = st.sampled_from(["f.out", "f", "add.Tensor_out"])
VARIANTS = st.sampled_from([("function",), ("method",), ("function", "method")])
DISPATCH = st.sampled_from([(), (DispatchEntry("CPU", "k"),), (DispatchEntry("CPU", "ns::k"),)])


@st.composite
def functions(draw: st.DrawFn) -> NativeFunction:
    """An entry whose fields may contradict each other."""
    schema = FunctionSchema.parse(draw(schemas()))
    return NativeFunction(
        schema,
        schema.namespace or "aten",
        dispatch=draw(DISPATCH),
        variants=draw(VARIANTS),
        structured=draw(st.booleans()),
        structured_delegate=draw(st.none() | NAMES),
        autogen=tuple(draw(st.lists(NAMES, max_size=2))),
        tags=tuple(draw(st.lists(st.sampled_from(["core", "inplace_view"]), max_size=2))),
        manual_cpp_binding=draw(st.booleans()),
    )


@given(st.lists(functions(), max_size=5))
def test_no_declaration_raises(declared: list[NativeFunction]) -> None:
    resolved = Resolved(tuple(declared), ("out", "inplace"))
    assert [operator.function for operator in resolved.declared] == declared
    derived = [operator.name for operator in resolved.operators if operator.is_derived]
    assert len(derived) == len(set(derived)) == len(resolved.operators) - len(declared)
    assert set(derived).isdisjoint([f.name for f in declared])
    for operator in resolved.operators:
        assert json.dumps(export_operator(operator, {}))


@given(st.lists(functions(), max_size=5))
def test_what_is_derived_derives_nothing_more(declared: list[NativeFunction]) -> None:
    once = Resolved(tuple(declared)).operators
    again = Resolved(tuple([operator.function for operator in once]))
    assert not any(operator.is_derived for operator in again.operators)
