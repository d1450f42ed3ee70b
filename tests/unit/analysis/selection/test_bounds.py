"""What tests try of each fact that conditions ask for."""

from __future__ import annotations

import pytest

from torchgen_lite.analysis.selection.bounds import bounds_of
from torchgen_lite.formulas.parser import parse_formula
from torchgen_lite.schema import FunctionSchema

SCHEMA = FunctionSchema.parse(
    "f(Tensor x, Tensor? w, int n, int[] s, str mode, float eps, bool b) -> Tensor"
)


def _tried(*conditions: str, dtypes: tuple[str, ...] = ()) -> dict[str, str]:
    trees = [parse_formula(text, is_condition=True)[0] for text in conditions]
    found = bounds_of([tree for tree in trees if tree is not None], SCHEMA, dtypes)
    return {
        f"{fact.argument} {fact.kind}{'' if fact.at is None else fact.at}": " ".join(
            map(str, values)
        )
        for fact, values in found.items()
    }


@pytest.mark.parametrize(
    ("condition", "tried"),
    [
        ("x.size(-1) <= 8192", {"x size-1": "1 8191 8192 8193"}),
        ("x.size(-1) % 8 == 3", {"x size-1": "1 3"}),
        ("floor_div(x.size(0), 4) == 2", {"x size0": "1 7 8 9 11 12 13 15 16 17"}),
        ("x.dtype in {half, bfloat16}", {"x dtype": "float16 bfloat16 float32"}),
        ("x.dtype == float32", {"x dtype": "float32 float64"}),
        ("x.is_complex()", {"x dtype": "complex64 float32"}),
        (
            "x.is_contiguous() && x.requires_grad",
            {"x contiguous": "True False", "x requires_grad": "True False"},
        ),
        ("w.defined() and w.dim() == 1", {"w defined": "True False", "w dim": "0 1 2"}),
        ("n > -2", {"n value": "-3 -2 -1 1"}),
        ("mode == 'fast' and b", {"mode value": "fast other", "b value": "True False"}),
        ("len(s) == 2 and s[1] < 4", {"s length": "1 2 3", "s item1": "1 3 4 5"}),
        ("x.is_aligned(16)", {"x address": "True False"}),
        ("capability(x) >= 90", {}),
        ("x.shape == s", {}),
    ],
)
def test_both_sides_of_each_bound_are_tried(condition: str, tried: dict[str, str]) -> None:
    assert _tried(condition) == tried


def test_all_conditions_count_and_an_entry_has_its_dtypes() -> None:
    found = _tried("x.dtype == half and x.size(0) < 4", "x.size(0) < 9", dtypes=("float64", "half"))
    assert found == {"x dtype": "float16 float64", "x size0": "1 3 4 5 8 9 10"}


def test_what_several_facts_decide_is_tried_at_the_numbers_that_are_written() -> None:
    tried = _tried("x.size(0) * x.size(1) <= 64")["x size0"].split()
    assert {"63", "64", "65"} <= {*tried}
