"""Python literals."""

from __future__ import annotations

import doctest

import pytest

from torchgen_lite.languages import text
from torchgen_lite.languages.python import names as python_names


@pytest.mark.parametrize("module", [text, python_names])
def test_examples_in_docstrings(module: object) -> None:
    assert doctest.testmod(module).failed == 0  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("add", '"add"'),
        ("it's", '"it\'s"'),
        ('say "x"', "'say \"x\"'"),
        ("'\"", '"\'\\""'),
        ('\'""', "'\\'\"\"'"),
        ("a\\b", '"a\\\\b"'),
        ("a\nb", '"a\\nb"'),
        ("\x00\x7f", '"\\x00\\x7f"'),
        ("é", '"é"'),
    ],
)
def test_quote(value: str, expected: str) -> None:
    assert text.quote(value) == expected
    assert eval(expected) == value


@pytest.mark.parametrize(
    "value", ["plain", 'ends in "', 'has """ inside', "back\\slash", 'both " and \\', "tab\t"]
)
def test_docstring(value: str) -> None:
    literal = text.docstring(value)
    assert eval(literal).strip(" ") == value.strip(" ")


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (None, "None"),
        (True, "True"),
        (1, "1"),
        (-1, "-1"),
        (1e-05, "1e-05"),
        (float("inf"), "1e999"),
        (float("-inf"), "-1e999"),
        (1j, "1.0j"),
        ("mean", '"mean"'),
        ([0, 1], "(0, 1)"),
        ([0], "(0,)"),
        ([], "()"),
        ([[1], "a"], '((1,), "a")'),
    ],
)
def test_literal(value: object, expected: str) -> None:
    assert text.literal(value) == expected
