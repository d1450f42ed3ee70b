"""Conditions of kernels in C++: what is printed, and what a library cannot test."""

from __future__ import annotations

import pytest

from torchgen_lite.analysis.checks.selections import typed_condition
from torchgen_lite.formulas.parser import parse_formula
from torchgen_lite.formulas.tree import Typed
from torchgen_lite.languages.cpp.condition import (
    Library,
    refusal,
    stable_library,
    torch_library,
    types_of,
    unsayable,
    write,
)
from torchgen_lite.schema import FunctionSchema

SCHEMA = FunctionSchema.parse(
    "f(Tensor x, Tensor? w, int n, int? k, int[] s, int[]? r, Scalar a, str mode, MemoryFormat? memory_format) -> Tensor"
)
TORCH = torch_library("my", SCHEMA)
STABLE = stable_library("my", SCHEMA)
FRAMEWORK = Library(
    "target `toy`",
    "::my::selection",
    "toy::Error",
    {"dim": ".rank", "size": "toy::size", "dtype": ".dtype"},
    {"half": "toy::f16"}.get,
    types_of(SCHEMA),
    checks_places=False,
)


def typed(text: str) -> Typed:
    tree, found = parse_formula(text, is_condition=True)
    assert tree is not None, found
    return typed_condition(tree, SCHEMA)


@pytest.mark.parametrize(
    ("condition", "printed"),
    [
        ("x.dtype == half", "x.scalar_type() == at::ScalarType::Half"),
        (
            "memory_format.defined() and memory_format == channels_last",
            "memory_format.has_value() && *memory_format == at::MemoryFormat::ChannelsLast",
        ),
        ("x.size(-1) % 8 == 0", "x.sym_size(-1) % 8 == 0"),
        ("n % 8 == 0", "::my::selection::remainder(n, 8) == 0"),
        ("x.numel() % n == 0", "::my::selection::remainder(x.sym_numel(), n) == 0"),
        ("x.size(n) > 0", "x.sym_size(::my::selection::whole(n)) > 0"),
        ("x.shape[0] == len(x.shape)", "x.sym_size(0) == int64_t(x.sym_sizes().size())"),
        ("x.stride()[1] == 1", "x.sym_stride(1) == 1"),
        (
            "x.shape == [1, n]",
            "::my::selection::equal(x.sym_sizes(), std::initializer_list<c10::SymInt>{1, n})",
        ),
        ("x.shape != s", "!::my::selection::equal(x.sym_sizes(), s)"),
        ("not w.defined() or n == 1", "!(w.has_value() && w->defined()) || n == 1"),
        ("w.defined() and w.dim() == 1", "w.has_value() && w->defined() && w->dim() == 1"),
        ("k.defined() and k > 2", "k.has_value() && *k > 2"),
        ("default(k, 2) == n", "(k.has_value() ? *k : 2) == n"),
        ("r.defined() and r[0] == n", "r.has_value() && ::my::selection::item(*r, 0) == n"),
        (
            "max(n, 1, x.dim()) > floor_div(n, 2)",
            "::my::selection::max(::my::selection::max(n, 1), x.dim())"
            " > ::my::selection::floor_div(n, 2)",
        ),
        ("a == 1 and a > 0.5", "::my::selection::same(a, 1) && a.toDouble() > 0.5"),
        ("1 != a", "!::my::selection::same(a, 1)"),
        ("a == -1 and n == a", "::my::selection::same(a, -1) && n == a.toDouble()"),
        ("a == x.size(0)", "a.toDouble() == x.sym_size(0)"),
        (
            "n / 2.0 > 0.5",
            "::my::selection::divide(::my::selection::real(n), ::my::selection::real(2.0)) > 0.5",
        ),
        ("65536 * 65536 > n", "int64_t(65536) * 65536 > n"),
        ("mode == 'it\"s'", 'mode == "it\\"s"'),
        ("+n > -n", "n > -n"),
        ("(n > 1 ? n : x.dim()) > 1", "(n > 1 ? n : x.dim()) > 1"),
        ("x.is_aligned(16)", "::my::selection::is_aligned(x, 16)"),
        ("true", "true"),
    ],
)
def test_a_condition_for_libtorch(condition: str, printed: str) -> None:
    assert [*unsayable(typed(condition), TORCH)] == []
    assert write(typed(condition), TORCH) == printed


@pytest.mark.parametrize(
    ("condition", "printed"),
    [
        ("x.size(-1) > n", "x.size(-1) > n"),
        ("x.shape == s", "::my::selection::equal(x.sizes(), s)"),
        ("x.is_complex()", "::my::selection::is_complex(x)"),
        ("x.dtype == half", "x.scalar_type() == torch::headeronly::ScalarType::Half"),
    ],
)
def test_a_condition_for_the_stable_abi(condition: str, printed: str) -> None:
    assert [*unsayable(typed(condition), STABLE)] == []
    assert write(typed(condition), STABLE) == printed


@pytest.mark.parametrize(
    ("condition", "printed"),
    [
        ("x.size(-1) > n", "toy::size(x, ::my::selection::place(-1, x.rank())) > n"),
        ("x.shape[0] > n", "toy::size(x, ::my::selection::place(0, x.rank())) > n"),
        ("x.ndim == 2 and x.dtype == half", "x.rank() == 2 && x.dtype() == toy::f16"),
        ("w.defined() and w.dtype == half", "w.has_value() && w->dtype() == toy::f16"),
        ("w.defined() and w.size(0) == 1", "w.has_value() && toy::size(*w, PLACE) == 1"),
    ],
)
def test_a_condition_for_a_framework(condition: str, printed: str) -> None:
    assert [*unsayable(typed(condition), FRAMEWORK)] == []
    place = "::my::selection::place(0, w->rank())"
    assert write(typed(condition), FRAMEWORK) == printed.replace("PLACE", place)


@pytest.mark.parametrize(
    ("library", "condition", "problem", "place"),
    [
        (TORCH, "capability(x) >= 90", "target `cpp-torch` cannot ask what a device is capable of", "capability(x)"),
        (TORCH, "1.5 % n > 1", "`%` of floats is another one in C++", "1.5 % n"),
        (TORCH, "len([1, n]) == 2", "a list in brackets can only be compared in C++", "{1, n}"),
        (TORCH, "default(r, x.shape) == s", "all sizes can only be compared in C++", "x.shape"),
        (TORCH, "(n > 0 ? x.shape : s) == s", "all sizes can only be compared in C++", "x.shape"),
        (TORCH, "r == r", "values of this kind that may be None are not compared in C++", "r == r"),
        (STABLE, "x.requires_grad", "target `cpp-torch-stable` cannot ask a tensor for its `requires_grad`", "x.requires_grad"),
        (FRAMEWORK, "x.numel() > 1", "target `toy` cannot ask a tensor for its `numel`", "x.numel()"),
        (FRAMEWORK, "len(x.shape) > 1", "target `toy` cannot ask a tensor for its `shape`", "x.shape"),
        (FRAMEWORK, "x.stride(0) > 1", "target `toy` cannot ask a tensor for its `stride`", "x.stride(0)"),
        (FRAMEWORK, "x.dtype == float", "target `toy` has no C++ for `float`", "float"),
    ],
)  # fmt: skip
def test_what_a_library_cannot_test(
    library: Library, condition: str, problem: str, place: str
) -> None:
    found = [(str(node), said) for node, said, _ in unsayable(typed(condition), library)]
    assert found == [(place, problem)]


def test_what_is_thrown_where_no_kernel_takes_a_call() -> None:
    thrown = '("my::f CPU", {"x", "n"}, x, n))'
    assert refusal("my::f CPU", ["x", "n"], TORCH) == (
        f"::my::selection::Uncovered(::my::selection::uncovered{thrown}"
    )
    sizes = "[&](int64_t _place) { return toy::size(x, _place); }"
    assert refusal("my::f CPU", ["x"], FRAMEWORK) == (
        'toy::Error(::my::selection::uncovered("my::f CPU", {"x"}, '
        f"::my::selection::sizes(x.rank(), {sizes})))"
    )
