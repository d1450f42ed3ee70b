"""Which rows are reached, and which inputs have none: planted faults, right lists, and random ones."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from torchgen_lite.analysis.selection.cover import chosen, cover, difference
from torchgen_lite.analysis.selection.inputs import (
    TensorInput,
    Unknown,
    Value,
    dtype_named,
    noncontiguous,
    reading,
)
from torchgen_lite.formulas.model import Expression
from torchgen_lite.formulas.parser import parse_formula
from torchgen_lite.schema import parse_schema

SCHEMA, _ = parse_schema("f(Tensor x, Tensor? w, int n, int[] s, float e, bool b, str m) -> Tensor")


def conditions(*texts: str) -> list[Expression | None]:
    return [parse_formula(text, is_condition=True)[0] if text else None for text in texts]


@pytest.mark.parametrize(
    ("rows", "example"),
    [
        (("x.dtype == float32",), "float16[4, 4]"),
        (("x.dtype == half and x.size(-1) % 8 == 0", "x.dtype != float16"), "float16[4, 1]"),
        (("x.size(0) < 8", "x.size(0) > 8"), "float32[8, 4]"),
        (("x.size(0) > 0",), "float32[0, 4]"),
        (("n < 8", "n > 9"), "8"),
        (("n % 2 == 0", "n % 6 == 1", "n % 6 == 3"), "5"),
        (("floor_div(n, 4) < 2", "n > 8"), "8"),
        (("w.defined() and w.size(0) == 2", "not w.defined()"), "float32[1, 4]"),
        (("x.is_contiguous() or x.size(-1) < 64",), "float32[4, 64] noncontiguous"),
        (("x.is_aligned(16)", "not x.is_aligned(8)"), "float32[4, 4] address=8"),
        (("x.dim() == 2", "x.dim() > 3", "x.dim() < 2"), "float32[4, 4, 4]"),
        (("not x.requires_grad",), "float32[4, 4] requires_grad"),
        (("x.is_floating_point()", "x.is_complex()"), "int64[4, 4]"),
        (("e > 0.5", "e < 0.5"), "0.5"),
        (("b and n > 0", "not b"), "n = -1, b = True"),
        (('m == "mean"', 'm == "sum"'), '"other"'),
        (("len(s) == 2",), "[1]"),
        (("n < x.size(0)", "n > x.size(0)"), "x = float32[1, 4], n = 1"),
        (("x.size(0) == 3 * 4", "x.size(0) != 12 and x.size(1) == 2"), "float32[1, 1]"),
        (("capability(x) >= 90", "capability(x) < 80"), "float32[4, 4] capability=80"),
    ],
)
def test_a_gap_has_an_example(rows: tuple[str, ...], example: str) -> None:
    found = cover(conditions(*rows), SCHEMA)
    assert (str(found.gap), found.is_complete, found.dead) == (example, False, ())


@pytest.mark.parametrize(
    ("rows", "dead"),
    [
        (("n < 8", "n < 4", ""), (1,)),
        (("", "n < 4"), (1,)),
        (("x.dtype == half", "x.dtype == float16", ""), (1,)),
        (("n % 4 == 0", "n % 8 == 4", ""), (1,)),
        (("n < 0 and n > 0", ""), (0,)),
        (("x.size(0) < 0", ""), (0,)),
        (("n < 4", "n >= 4", ""), (2,)),
        (("n < x.size(0)", "n >= x.size(0)", "n == 3", ""), (2, 3)),
        (("b or not b", "n == 1", ""), (1, 2)),
        (("x.is_aligned(4)", "x.is_aligned(8)", ""), (1,)),
        (("x.dtype in {half, float32} and x.dtype == int64", ""), (0,)),
        (("x.is_complex() and x.is_floating_point()", ""), (0,)),
        (("n % 3 == 3", ""), (0,)),
    ],
)
def test_a_dead_row_is_found(rows: tuple[str, ...], dead: tuple[int, ...]) -> None:
    assert cover(conditions(*rows), SCHEMA).dead == dead


@pytest.mark.parametrize(
    "rows",
    [
        ("x.dtype in {half, bfloat16} and x.size(-1) % 8 == 0", "x.size(-1) <= 8192", ""),
        ("n < 8", "n >= 8"),
        ("n % 2 == 0", "n % 2 == 1"),
        ("n < x.size(0)", "x.size(0) <= n"),
        ("x.is_contiguous()", "not x.is_contiguous()"),
        ("not w.defined()", "w.dim() == 1", "w.dim() != 1"),
        ("x.size(0) * x.size(1) < 64", ""),
        ("floor_div(n, 16) < 2", "n >= 32"),
        ("2 * n + 1 < 33", "n > 15"),
        ("e <= 0.5", "e > 0.5"),
        ("x.is_aligned(16)", "x.is_aligned(8)", ""),
        ("len(s) == 2 and s[0] == 1", "len(s) == 2", ""),
        ('m == "mean"', 'm != "mean"'),
        ("x.is_floating_point()", "not x.is_floating_point()"),
        ("b", "not b and n > 0", "not b and n <= 0"),
        ("x.dim() == 2 and x.size(1) <= 8", "x.dim() == 2 and x.size(1) > 8", "x.dim() != 2"),
        ("x.requires_grad and x.dtype == float64", "x.dtype != float64", ""),
        ("capability(x) >= 90", "capability(x) >= 80", ""),
        ("n in {1, 2, 4}", "n not in {1, 2, 4}"),
        ("max(n, 4) == 4", ""),
    ],
)
def test_nothing_is_said_of_right_rows(rows: tuple[str, ...]) -> None:
    found = cover(conditions(*rows), SCHEMA)
    assert (found.dead, found.gap, found.is_complete) == ((), None, True)
    assert set(found.reached) == set(range(len(rows)))


def test_what_is_not_decided_is_not_claimed() -> None:
    found = cover(conditions("x.size(0) * n < 64", "n * x.size(0) >= 64"), SCHEMA)
    assert (found.dead, found.gap, found.is_complete) == ((), None, False)
    assert set(found.reached) == {0, 1}


def test_dtypes_of_the_entry_are_all_there_are() -> None:
    rows = conditions("x.dtype == half", "x.dtype == float32")
    assert cover(rows, SCHEMA, ("float32", "half")).is_complete
    assert str(cover(rows, SCHEMA, ("float32", "double")).gap) == "float64[4, 4]"
    assert cover(rows, SCHEMA, ("float32", "double")).dead == (0,)


def test_a_difference_is_one_example_for_each_pair_of_kernels() -> None:
    before = conditions("n < 8", "")
    after = conditions("n < 16", "n < 32")
    found = difference(before, after, (("small", "large"), ("small", "medium")), SCHEMA)
    assert sorted((was, now, str(example)) for was, now, example in found) == [
        ("large", "", "32"),
        ("large", "medium", "16"),
        ("large", "small", "8"),
    ]


_NUMBERS = st.sampled_from(["x.size(0)", "x.size(-1)", "n", "x.dim()", "len(s)"])
_COMPARED = st.builds(
    "{} {} {}".format,
    _NUMBERS,
    st.sampled_from(["<", "<=", ">", ">=", "==", "!="]),
    st.one_of(st.integers(-2, 6).map(str), _NUMBERS),
)
_DIVIDED = st.builds("{} % {} == {}".format, _NUMBERS, st.integers(1, 4), st.integers(0, 3))
_FLAGS = st.sampled_from(
    [
        "b",
        "x.is_contiguous()",
        "x.requires_grad",
        "w.defined()",
        "x.is_aligned(4)",
        "x.is_complex()",
    ]
)
_DTYPES = st.builds(
    "x.dtype {} {}".format, st.sampled_from(["==", "!="]), st.sampled_from(["half", "int64"])
)
_CONDITIONS = st.recursive(
    st.one_of(_COMPARED, _DIVIDED, _FLAGS, _DTYPES),
    lambda inner: st.one_of(
        st.builds("({} and {})".format, inner, inner),
        st.builds("({} or {})".format, inner, inner),
        st.builds("not ({})".format, inner),
    ),
    max_leaves=4,
)
_SIZES = st.lists(st.integers(0, 7), max_size=3).map(tuple)
_PLAIN = st.builds(
    TensorInput,
    st.sampled_from(["half", "float32", "int64", "complex64"]).map(dtype_named),
    _SIZES,
    requires_grad=st.booleans(),
    address=st.integers(0, 8),
)
_TENSORS = st.one_of(_PLAIN, _PLAIN.map(noncontiguous))
_INPUTS = st.fixed_dictionaries(
    {
        "x": _TENSORS,
        "w": st.one_of(st.none(), _TENSORS),
        "n": st.integers(-4, 9),
        "s": st.lists(st.integers(0, 3), max_size=4).map(tuple),
        "b": st.booleans(),
    }
)


@given(st.lists(_CONDITIONS, min_size=1, max_size=3), st.lists(_INPUTS, min_size=20, max_size=20))
def test_no_input_contradicts_what_is_said(rows: list[str], inputs: list[dict[str, Value]]) -> None:
    tried = conditions(*rows)
    found = cover(tried, SCHEMA)
    for one in inputs:
        try:
            row = chosen(tried, reading(one))
        except Unknown:
            continue
        assert row not in found.dead
        assert row is not None or not found.is_complete
    for row, example in found.reached.items():
        assert chosen(tried, reading({**inputs[0], **example.values})) == row
    if found.gap is not None:
        assert chosen(tried, reading({**inputs[0], **found.gap.values})) is None


def test_an_example_is_read_again() -> None:
    tensor = TensorInput(dtype_named("half"), (4, 12))
    assert str(tensor) == "float16[4, 12]"
    assert str(replace(noncontiguous(tensor), requires_grad=True, address=8)) == (
        "float16[4, 12] noncontiguous requires_grad address=8"
    )
