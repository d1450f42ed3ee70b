"""The examples in docstrings, and conditions of entries."""

from __future__ import annotations

import doctest
import random
from pathlib import Path

import pytest

from tests.cpp.compiling import check_syntax, needs_compiler
from torchgen_lite.languages.cpp import kernels
from torchgen_lite.loader.entry import guards
from torchgen_lite.loader.entry.guards import read_guard
from torchgen_lite.loader.versions import contains, parse_range, parse_version
from torchgen_lite.targets.cpp import conditions


@pytest.mark.parametrize("module", [conditions, guards, kernels])
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
    # All but two operators are those of Python, and C++ divides integers.
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
        ("#ifdef\tA", "defined(A)"),
        ("#if defined A and not B", "defined A and not B"),
        ("#if A && (B or C)", "(A && (B or C))"),
        ("#if TORCH(2, 6) >= 0x20L ? A : -B", "(TORCH(2, 6) >= 0x20L ? A : -B)"),
        (
            '#if __has_include("x.h") && __has_include(<y/z.h>)',
            '__has_include("x.h") && __has_include(<y/z.h>)',
        ),
    ],
)
def test_guards(guard: str, expected: str) -> None:
    assert read_guard(guard) == expected


@pytest.mark.parametrize(
    "condition",
    (
        "' | A ? | A B | A) || (B | (A | 1(2) | (A)(B) | A ++B | A -> B | A = B | 08 | 1.5 | 0x1e+5 | 1lL | and | "
        'defined | defined(and) | A, B | A /* | A */ | "a" | A \\ | A\rint x; | A\x0b+ B | A \x85 | \xe9 | $ | @'
    ).split(" | "),
)
def test_text_that_is_no_condition(condition: str) -> None:
    assert read_guard(f"#if {condition}") is None


@needs_compiler
def test_the_preprocessor_takes_every_guard(tmp_path: Path) -> None:
    """Random brackets, operators and operands: g++ accepts every condition that we read as a guard."""
    chooser, found = random.Random(0), []
    parts = "A B(1) defined(C) 0x1fu 017 ( ( ) ) ! - + ~ && || == <= << < & | ^ * ? : , and not ' \"".split()
    for _ in range(20_000):
        text = " ".join(chooser.choices(parts, k=chooser.randint(1, 8)))
        condition = read_guard(f"#if {text}")
        # `A` is not a function-like macro.
        if condition is not None and "A (" not in condition:
            found.append(condition)
    assert len(found) > 100
    text = "#define B(x) x\n#define A 1\n" + "".join(f"#if {c}\n#endif\n" for c in found)
    (tmp_path / "guards.cpp").write_text(text)
    assert check_syntax(tmp_path, "guards.cpp").messages == ""
