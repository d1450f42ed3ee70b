"""The layout of statements, for one case per rule of black and for any other: black agrees."""

from __future__ import annotations

import black
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from tests.unit.emit.layout.cases import read_cases
from torchgen_lite.emit.layout.python import join_lines, lay_out_statement

# Tells black that a comma may follow `*args`, as it may in every Python that runs generated code.
HEAD = "from __future__ import annotations\n\n"


def laid_out(statement: str, indent: int) -> list[str]:
    return lay_out_statement(statement, indent).split("\n")


def black_lines(statement: str, mode: black.Mode) -> list[str]:
    """Black's lines for a statement. A block gets a body, and a decorator a function."""
    body = {":": "\n    pass", "@": "\ndef f(): ..."}
    below = body.get(statement[-1]) or body.get(statement[0]) or ""
    text = black.format_str(f"{HEAD}{statement}{below}\n", mode=mode).removeprefix(HEAD)
    lines = text.strip("\n").split("\n")
    return lines[: -below.count("\n")] if below else lines


@pytest.mark.parametrize(("statement", "lines"), read_cases("python_cases.txt", "# "))
def test_statement(statement: str, lines: list[str]) -> None:
    assert laid_out(statement, 0) == lines
    assert black_lines(statement, black.Mode()) == lines
    assert laid_out(join_lines(lines), 0) == lines


def test_indentation_counts() -> None:
    call = "function(argument_of_the_call, another_argument_of_the_call, the_last_argument)"
    assert laid_out(call, 8) == [f"        {call}"]
    assert laid_out(call, 12) == [
        "            function(",
        "                argument_of_the_call, another_argument_of_the_call, the_last_argument",
        "            )",
    ]


def test_nested_deeply() -> None:
    statement, deeper = (f"value = {'f(a, ' * depth}b{')' * depth}" for depth in (64, 65))
    assert laid_out(statement, 0) == black_lines(statement, black.Mode())
    assert laid_out(deeper, 0) == [deeper]


@pytest.mark.parametrize("length", [60, *range(77, 85)])
@pytest.mark.parametrize("count", [1, 2, 3, 6, 7])
def test_lengths(length: int, count: int) -> None:
    items = ", ".join(f"argument{i}" for i in range(count))
    for name in ("x", "kernel = _handle_" + "a" * 55 + ".resolve"):
        call = f"{name.ljust(length, 'z')}({items})"
        assert laid_out(call, 0) == black_lines(call, black.Mode())


@pytest.mark.parametrize("text", ["f(a", "f(a]", "a)", "x = 'open", "f(a)  # comment", "€"])
def test_what_is_no_statement_stays(text: str) -> None:
    assert laid_out(text, 0) == [text]


NAMES = st.sampled_from(
    ["a", "self", "gradient", "_state", "torch.ops.aten", "kernel_of_the_operator", "weight" * 5]
)
LEAVES = st.one_of(
    NAMES, NAMES, st.sampled_from(["1", "2.5", '"text, (text)"', "()", "[]", "(a,)"])
)


def joined(template: str, *parts: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    """The template, filled with a text from each strategy."""
    return st.tuples(*parts).map(lambda texts: template.format(*texts))


def listed(items: st.SearchStrategy[str], least: int = 0) -> st.SearchStrategy[str]:
    return st.lists(items, min_size=least, max_size=5).map(", ".join)


def larger(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    """Expressions that are valid anywhere, made of smaller ones."""
    operators = st.sampled_from("+ - * / @ // | and or == < in".split() + ["not in"])
    named = st.sampled_from(["{}", "{}", "key={}", "*{}"])
    arguments = listed(st.tuples(named, inner).map(lambda pair: pair[0].format(pair[1])))
    return st.one_of(
        joined("{}({})", NAMES, arguments.filter(lambda text: "=" not in text or "*" not in text)),
        joined("{}.{}({})", NAMES, NAMES, listed(inner)),
        joined("{}.method({}).other()", NAMES, listed(inner, 1)),
        joined("{}[{}]", NAMES, listed(inner, 1)),
        joined("({})", listed(inner, 2).filter(lambda text: "," in text)),
        joined("[{}]", listed(inner)),
        joined("{{{}: {}, {}: {}}}", inner, inner, NAMES, inner),
        joined("({} {} {})", inner, operators, inner),
        joined("({} {} {} {} {})", inner, operators, inner, operators, inner),
        joined("(not {})", inner),
        joined("f(-{}, {} if {} else {})", inner, inner, inner, inner),
        joined("({} if {} else {})", inner, inner, inner),
        joined("[{} for a, b, c in {} if {}]", inner, inner, inner),
        joined("f({} for a in {})", inner, inner),
        joined("f(lambda a, *b: {}, {})", inner, inner),
    )


EXPRESSIONS = st.recursive(LEAVES, larger, max_leaves=12)
TYPES = st.sampled_from(
    [
        "int",
        "Tensor | None",
        "tuple[Tensor, ...]",
        "dict[str, tuple[Tensor, Tensor]] | Tensor | None",
    ]
)
PARAMETERS = st.one_of(
    joined("{}: {}", st.sampled_from(["x", "gradient", "weight" * 4]), TYPES),
    joined("{}: {} = {}", st.sampled_from(["y", "alpha", "bias" * 6]), TYPES, LEAVES),
)
SIGNATURES = st.lists(PARAMETERS, max_size=6, unique_by=lambda text: text.partition(":")[0])
STATEMENTS = st.one_of(
    EXPRESSIONS,
    joined("{} = {}", NAMES, EXPRESSIONS),
    joined("a, {} = {}", NAMES, EXPRESSIONS),
    joined("{}[{}] = {}", NAMES, EXPRESSIONS, EXPRESSIONS),
    joined("a = {} = {}", NAMES, EXPRESSIONS),
    joined("a: {} = {}", TYPES, EXPRESSIONS),
    joined("{} += {}", NAMES, EXPRESSIONS),
    joined("return {}", EXPRESSIONS),
    joined("return {}, {}", EXPRESSIONS, EXPRESSIONS),
    joined("raise {}", EXPRESSIONS),
    joined("assert {}", EXPRESSIONS),
    joined("assert {}, {}", EXPRESSIONS, EXPRESSIONS),
    joined("del {}[{}], {}", NAMES, EXPRESSIONS, NAMES),
    joined("if {}:", EXPRESSIONS),
    joined("for a, b in {}:", EXPRESSIONS),
    joined("while {}:", EXPRESSIONS),
    joined("with {}({}):", NAMES, EXPRESSIONS),
    joined("def function(*, {}) -> {}:", SIGNATURES.filter(bool).map(", ".join), TYPES),
    joined("def {}(self, /) -> {}:", st.sampled_from(["f", "function" * 8]), TYPES),
    joined("class Node({}):", listed(NAMES, 1)),
)


@given(STATEMENTS)
def test_any_statement(statement: str) -> None:
    try:
        compile(statement + (" ..." if statement.endswith(":") else ""), "statement", "exec")
    except SyntaxError:
        assume(False)
    # Layout gets what templates write: black's spaces and brackets, all on one line.
    mode = black.Mode(line_length=100_000, magic_trailing_comma=False)
    (line,) = black_lines(statement, mode)
    assert laid_out(line, 0) == black_lines(line, black.Mode())
