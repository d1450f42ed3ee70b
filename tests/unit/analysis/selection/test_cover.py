"""Which rows are reached, and which inputs have none: planted faults, right lists, and random ones."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from torchgen_lite.analysis.selection.cover import cover, difference
from torchgen_lite.analysis.selection.explain import explain
from torchgen_lite.analysis.selection.inputs import (
    TensorInput,
    Value,
    dtype_named,
    noncontiguous,
)
from torchgen_lite.formulas.model import Expression
from torchgen_lite.formulas.parser import parse_formula
from torchgen_lite.loader.entry.entry import KernelRow
from torchgen_lite.schema import parse_schema

SCHEMA, _ = parse_schema(
    "f(Tensor x, Tensor? w, int n, int[] s, float e, bool b, str m, int? k, Scalar c, MemoryFormat? f, ScalarType? t)"
    " -> Tensor"
)


def recorded(tensor: TensorInput) -> TensorInput:
    """The tensor, which requires a gradient if it can have one."""
    dtype = tensor.dtype
    return replace(tensor, requires_grad=dtype.is_floating_point or dtype.is_complex)


def conditions(*texts: str) -> list[Expression | None]:
    return [parse_formula(text, is_condition=True)[0] if text else None for text in texts]


def rows_of(kernels: Sequence[str], conditions: Sequence[Expression | None]) -> list[KernelRow]:
    return list(map(KernelRow, kernels, conditions))


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


def test_what_is_not_decided_is_not_claimed() -> None:
    found = cover(conditions("x.size(0) * n < 64", "n * x.size(0) >= 64"), SCHEMA)
    assert (found.dead, found.gap, found.is_complete) == ((), None, False)


def test_a_difference_that_is_not_found_is_not_denied() -> None:
    names = ["small", "large"]
    before = rows_of(names, conditions("n * x.size(0) < 64", ""))
    after = rows_of(names, conditions("n * x.size(0) < 100000", ""))
    assert not difference(before, after, SCHEMA).is_whole
    same = difference(before, rows_of(names, conditions("64 > n * x.size(0)", "")), SCHEMA)
    assert (same.changed, same.is_whole) == ((), True)


@pytest.mark.parametrize(
    "row",
    [
        "default(k, 0) > 1000",
        "default(k, 7) == 7",
        "s == [1, 2]",
        "c % 2 == 1",
        "e % 2 == 1.5",
        "n % 1000 == 1 and n % 999 == 5",
        "f == channels_last",
        "default(t, half) == half",
        "x.numel() <= 1024 and x.size(-1) % 3 == 0",
        "1 % 0 == n",
    ],
)
def test_nothing_is_claimed_of_a_row_that_may_be_reached(row: str) -> None:
    found = cover(conditions(row, ""), SCHEMA)
    assert found.dead == ()


def test_dtypes_of_the_entry_are_all_there_are() -> None:
    rows = conditions("x.dtype == half", "x.dtype == float32")
    assert cover(rows, SCHEMA, ("float32", "half")).is_complete
    assert str(cover(rows, SCHEMA, ("float32", "double")).gap) == "float64[4, 4]"
    assert cover(rows, SCHEMA, ("float32", "double")).dead == (0,)


def test_a_difference_is_one_example_for_each_pair_of_kernels() -> None:
    before = rows_of(("small", "large"), conditions("n < 8", ""))
    after = rows_of(("small", "medium"), conditions("n < 16", "n < 32"))
    found = difference(before, after, SCHEMA)
    assert found.is_whole
    assert sorted((was, now, str(example)) for was, now, example in found.changed) == [
        ("large", "", "32"),
        ("large", "medium", "16"),
        ("large", "small", "8"),
    ]


# Every kind of term and of test that the language has, so that a claim about one is held against inputs.
_INTEGERS = st.sampled_from(
    [
        "x.size(0)",
        "x.size(-1)",
        "x.numel()",
        "x.stride(0)",
        "x.dim()",
        "n",
        "-n",
        "2 * n",
        "max(n, 3)",
        "default(k, 2)",
        "len(s)",
    ]
)
_NUMBERS = st.one_of(_INTEGERS, st.sampled_from(["e", "c", "s[0]", "n * x.size(0)"]))
_LITERALS = st.sampled_from(["-2", "0", "1", "2", "3", "5", "7", "1000", "2.5"])
_COMPARED = st.builds(
    "{} {} {}".format,
    _NUMBERS,
    st.sampled_from(["<", "<=", ">", ">=", "==", "!="]),
    st.one_of(_LITERALS, _NUMBERS),
)
_REMAINDERS = st.builds("{} % {}".format, _NUMBERS, st.sampled_from(["1", "2", "4", "999", "1000"]))
_QUOTIENTS = st.builds("floor_div({}, {})".format, _INTEGERS, st.sampled_from(["1", "3", "500"]))
_DIVIDED = st.builds(
    "{} {} {}".format,
    st.one_of(_REMAINDERS, _QUOTIENTS),
    st.sampled_from(["==", "!=", "<"]),
    st.sampled_from(["0", "1", "2", "3"]),
)
_OTHERS = st.sampled_from(
    [
        "b",
        "b == true",
        "x.is_contiguous()",
        "x.requires_grad",
        "w.defined()",
        "k.defined()",
        "x.is_aligned(4)",
        "x.is_complex()",
        "x.is_floating_point()",
        "x.dtype == half",
        "x.dtype != int64",
        "s == [1, 2]",
        "x.shape == [2, 3]",
        'm == "mean"',
        "f == channels_last",
        "f.defined()",
        "t == half",
        "default(t, half) == half",
        "default(t, x.dtype) == half",
        "n in {1, 2, 1000}",
        "(n > 2 ? n : 7) == 7",
    ]
)
_CONDITIONS = st.recursive(
    st.one_of(_COMPARED, _DIVIDED, _OTHERS),
    lambda inner: st.one_of(
        st.builds("({} and {})".format, inner, inner),
        st.builds("({} or {})".format, inner, inner),
        st.builds("not ({})".format, inner),
    ),
    max_leaves=3,
)
_PLAIN = st.builds(
    TensorInput,
    st.sampled_from(["half", "float32", "int64", "complex64"]).map(dtype_named),
    st.lists(st.sampled_from([0, 1, 2, 3, 4, 7, 1000]), max_size=3).map(tuple),
    address=st.integers(0, 8),
)
_TENSORS = st.one_of(_PLAIN, _PLAIN.map(noncontiguous), _PLAIN.map(recorded))
_VALUES = st.sampled_from([-3, -2, -1, 0, 1, 2, 3, 4, 5, 7, 8, 500, 999, 1000, 1001, 1998])
_REALS = st.one_of(_VALUES, st.sampled_from([1.5, 2.5, 3.5, 999.5]))
_INPUTS = st.fixed_dictionaries(
    {
        "x": _TENSORS,
        "w": st.one_of(st.none(), _TENSORS),
        "n": _VALUES,
        "s": st.lists(st.integers(0, 3), max_size=4).map(tuple),
        "e": _REALS,
        "b": st.booleans(),
        "m": st.sampled_from(["mean", "sum"]),
        "k": st.one_of(st.none(), _VALUES),
        "c": _REALS,
        "f": st.sampled_from([None, "channels_last", "contiguous_format"]),
        "t": st.sampled_from([None, dtype_named("half"), dtype_named("int64")]),
    }
)
_UNKNOWN = -1


def row_of(tried: list[Expression | None], given_input: dict[str, Value]) -> int | None:
    """The row of an input, or `_UNKNOWN` if a condition can't be computed for it."""
    for row, answer in enumerate(explain(rows_of([""] * len(tried), tried), given_input)):
        if answer.applies is None:
            return _UNKNOWN
        if answer.applies:
            return row
    return None


@given(st.lists(_CONDITIONS, min_size=1, max_size=3), st.lists(_INPUTS, min_size=20, max_size=20))
def test_no_input_contradicts_what_is_said(rows: list[str], inputs: list[dict[str, Value]]) -> None:
    tried = conditions(*rows)
    found = cover(tried, SCHEMA)
    for given_input in inputs:
        row = row_of(tried, given_input)
        assert row not in found.dead
        assert row is not None or not found.is_complete
    if found.gap is not None:
        assert row_of(tried, {**inputs[0], **found.gap.values}) is None


@settings(max_examples=50)
@given(
    st.lists(_CONDITIONS, min_size=1, max_size=2),
    st.lists(_CONDITIONS, min_size=1, max_size=2),
    st.lists(_INPUTS, min_size=20, max_size=20),
)
def test_no_input_changes_its_kernel_without_a_word(
    old: list[str], new: list[str], inputs: list[dict[str, Value]]
) -> None:
    before, after = conditions(*old), conditions(*new)
    names = ["first", "second"]
    found = difference(rows_of(names, before), rows_of(names, after), SCHEMA)
    said = {(was, now) for was, now, _ in found.changed}
    for given_input in inputs:
        rows = row_of(before, given_input), row_of(after, given_input)
        if _UNKNOWN in rows or rows[0] == rows[1]:
            continue
        kernels = tuple(["" if row is None else names[row] for row in rows])
        assert kernels in said or not found.is_whole


def test_an_example_is_read_again() -> None:
    tensor = TensorInput(dtype_named("half"), (4, 12))
    assert str(tensor) == "float16[4, 12]"
    assert str(replace(noncontiguous(tensor), requires_grad=True, address=8)) == (
        "float16[4, 12] noncontiguous requires_grad address=8"
    )
