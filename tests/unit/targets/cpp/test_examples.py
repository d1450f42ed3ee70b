"""The examples in docstrings, and conditions of entries."""

from __future__ import annotations

import doctest

import pytest

from torchgen_lite.loader.versions import contains, parse_range, parse_version
from torchgen_lite.targets.cpp import conditions, kernels


@pytest.mark.parametrize("module", [conditions, kernels])
def test_examples_in_docstrings(module: object) -> None:
    assert doctest.testmod(module).failed == 0  # type: ignore[arg-type]


VERSIONS = ["1.13.1", "2.5.1", "2.6.0", "2.6.1", "2.7.0", "2.9.1", "2.13.0", "3.0.0"]
RANGES = [
    ">=2.6",
    "<=2.6",
    ">2.6",
    "<2.9",
    "==2.6",
    "==2.6.*",
    "!=2.6.*",
    "!=2.6.1",
    "~=2.6",
    "~=2.6.0",
]


@pytest.mark.parametrize("text", [*RANGES, ">=2.6,<2.9,!=2.7.*"])
def test_a_condition_is_true_where_the_range_contains_the_version(text: str) -> None:
    clauses = parse_range(text)
    assert clauses is not None
    expression = " && ".join(conditions.clause_expression(clause) for clause in clauses)
    # The operators are those of Python but for two, and C++ divides whole numbers.
    python = expression.replace("&&", "and").replace(" / ", " // ")
    for version in VERSIONS:
        major, minor, patch = parse_version(version)
        number = major * 10000 + minor * 100 + patch
        found = eval(python, {conditions.VERSION_MACRO: number})
        assert found is contains(clauses, (major, minor, patch)), version


@pytest.mark.parametrize(
    ("guard", "expected"),
    [
        ("#if USE_CUDA", "USE_CUDA"),
        ("#if A || B // or so", "(A || B)"),
        ("#ifdef  A", "defined(A)"),
        ("#ifndef A", "!defined(A)"),
    ],
)
def test_guards(guard: str, expected: str) -> None:
    assert conditions.guard_expression(guard) == expected
