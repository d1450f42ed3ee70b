"""A reader meets one idea a line: what an expression computes on the way has a line and a name of its own."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
MODULES = sorted((ROOT / "torchgen_lite").rglob("*.py"))
COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
LOOPS = (ast.For, ast.AsyncFor, ast.comprehension)


def count_of(node: ast.AST, kind: type[ast.AST] | tuple[type[ast.AST], ...]) -> int:
    """How many nodes of a kind are inside of this one."""
    return sum(isinstance(inner, kind) for inner in ast.walk(node) if inner is not node)


def wrong_with(node: ast.AST) -> str:
    """What of a node is to be taken apart; empty if there is nothing."""
    if isinstance(node, COMPREHENSIONS) and count_of(node, COMPREHENSIONS):
        return "a comprehension in a comprehension"
    if isinstance(node, ast.IfExp):
        parts = (node.test, node.body, node.orelse)
        if any(isinstance(part, ast.IfExp) for part in parts):
            return "a conditional in a conditional"
    if isinstance(node, ast.Starred) and isinstance(node.value, ast.IfExp):
        return "a conditional behind a star"
    if isinstance(node, LOOPS) and isinstance(node.iter, ast.IfExp):
        return "a loop over a conditional"
    if isinstance(node, FUNCTIONS) and count_of(node, ast.NamedExpr) > 1:
        return "two assignments in expressions"
    return ""


def faults(text: str) -> Iterator[tuple[int, str]]:
    for node in ast.walk(ast.parse(text)):
        fault = wrong_with(node)
        if fault:
            # The `for` of a comprehension has no line of its own.
            place = node.iter if isinstance(node, ast.comprehension) else node
            yield getattr(place, "lineno", 0), fault


def test_no_expression_says_two_things_at_once() -> None:
    assert len(MODULES) > 400
    found = []
    for path in MODULES:
        for line, fault in faults(path.read_text()):
            found.append(f"{path.relative_to(ROOT).as_posix()}:{line}: {fault}")
    assert found == []


@pytest.mark.parametrize(
    "text, expected",
    [
        ("a = [[y for y in x] for x in z]", ["a comprehension in a comprehension"]),
        ("a = [x for x in f(y for y in z)]", ["a comprehension in a comprehension"]),
        ("a = b if c else d if e else f", ["a conditional in a conditional"]),
        ("a = [*(b if c else d)]", ["a conditional behind a star"]),
        ("for a in b if c else ():\n    pass", ["a loop over a conditional"]),
        ("a = [x for x in (b if c else d)]", ["a loop over a conditional"]),
        ("for a in b or f(c if d else e):\n    pass", []),
        ("def f():\n    return (a := b) + (c := d)", ["two assignments in expressions"]),
        ("a = [x for x in y if x]\nb = c if d else f(e)\nwhile e := f():\n    pass", []),
    ],
)
def test_what_is_found(text: str, expected: list[str]) -> None:
    assert [fault for _, fault in faults(text)] == expected
