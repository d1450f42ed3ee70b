"""`reference:` of samples: the one expression that an expression for each result becomes, and mistakes in these."""

from __future__ import annotations

from pathlib import Path

import pytest

from torchgen_lite.analysis.program import build_program
from torchgen_lite.diagnostics import Source
from torchgen_lite.loader.config.project import Config
from torchgen_lite.loader.entry.samples import Reference
from torchgen_lite.loader.formats.fmt import format_text
from torchgen_lite.loader.formats.native_functions import load_native_functions


def entry(schema: str, *lines: str) -> str:
    rest = "".join(f"      {line}\n" for line in lines)
    return f"- func: my::{schema}\n  dispatch:\n    CPU: f\n  samples:\n    calls: []\n    reference:\n{rest}"


def read(text: str) -> Reference:
    (function,), found = load_native_functions([Source("ops.yaml", text)])
    assert not found and function.samples is not None and function.samples.reference is not None
    return function.samples.reference


@pytest.mark.parametrize(
    ("schema", "lines", "text"),
    [
        (
            "f(Tensor x, float eps) -> (Tensor out, Tensor rstd)",
            ["rstd: r.squeeze(-1)", "let: {r: (x.mean() + eps).rsqrt()}", "out: x * r"],
            "(r := (x.mean() + eps).rsqrt(), (x * r, r.squeeze(-1)))[-1]",
        ),
        # Values are in the order in which they are written, unless one uses a later one.
        (
            "f(Tensor x) -> Tensor",
            ["let: {a: c + 1, b: x * 2, c: x if x.dim() else 0.5}", "result: b * a + (b, c)[1]"],
            "(c := x if x.dim() else 0.5, a := c + 1, b := x * 2, b * a + (b, c)[1])[-1]",
        ),
        ("f(Tensor x) -> Tensor", ["result: x * 2"], "x * 2"),
        ("f(Tensor x) -> Tensor", ["let: {half: 0.5}", "result: half"], "(half := 0.5, half)[-1]"),
        ("f(Tensor x) -> (Tensor, Tensor)", ["result1: x", "result0: -x"], "(-x, x)"),
        # The names are those of formulas.
        (
            "f(Tensor x, Tensor result) -> (Tensor x, Tensor)",
            ["x_return: result", "result1: x"],
            "(result, x)",
        ),
        (
            "f_(Tensor(a!) self, Tensor b) -> Tensor(a!)",
            ["let: {b2: b * b}", "result: self + b2"],
            "(b2 := b * b, self + b2)[-1]",
        ),
    ],
)
def test_it_becomes_one_expression(schema: str, lines: list[str], text: str) -> None:
    assert read(entry(schema, *lines)).text == text


def test_every_part_has_its_place() -> None:
    lines = ["let:", "  r: |", "    x.abs(", "      ) + 1", "out: x * (r - 1)", "rstd: r"]
    found = read(entry("f(Tensor x) -> (Tensor out, Tensor rstd)", *lines))
    places = [(name, span.line, span.text) for name, span in found.names]
    assert places == [("x", 9, "x"), ("x", 11, "x"), ("r", 11, "r"), ("r", 12, "r")]
    name, tree, place = found.let[0]
    shown = found.places.get(tree)
    assert (name, place.line, shown and shown.text) == ("r", 8, "x.abs(\n            ) + 1")


TWO = "f(Tensor x) -> (Tensor out, Tensor rstd)"
ONE = "f(Tensor x) -> Tensor"


@pytest.mark.parametrize(
    ("schema", "lines", "found"),
    [
        (TWO, ["otu: x", "rstd: x"], ["TG335 7:7 unknown result `otu` (did you mean `out`?)"]),
        (
            TWO,
            ["out: x", "rstd: x", "both: x"],
            ["TG335 9:7 unknown result `both` (one of `out`, `rstd`, `let`)"],
        ),
        (
            TWO,
            ["rstd: x"],
            ["TG335 7:7 the reference gives no `out` (give each result an expression)"],
        ),
        (TWO, ["out: x", "rstd: x", "out: x"], ["TG105 9:7 `out` is written twice"]),
        (ONE, ["result0: x"], ["TG335 7:7 unknown result `result0` (did you mean `result`?)"]),
        ("f(Tensor(a!) x) -> ()", ["x: x"], ["TG335 7:7 unknown result `x` (one of `let`)"]),
        (
            ONE,
            [
                "let: {a: x, sum: x, result: x, x: x, grads: x}",
                "result: a + sum + result + x + grads",
            ],
            [
                "TG385 7:19 `sum` means something else in this entry (choose another name)",
                "TG385 7:27 `result` means something else in this entry (choose another name)",
                "TG385 7:38 `x` means something else in this entry (choose another name)",
                "TG385 7:41 `x` needs itself: `x` -> `x`",
                "TG385 7:44 `grads` means something else in this entry (choose another name)",
            ],
        ),
        (
            ONE,
            ["let: {a: b + 1, b: a * x}", "result: a"],
            ["TG385 7:26 `a` needs itself: `a` -> `b` -> `a`"],
        ),
        (
            ONE,
            ["let: {a: x, b: a}", "result: x"],
            [
                "TG386 7:13 no result uses `a` (leave it out)",
                "TG386 7:19 no result uses `b` (leave it out)",
            ],
        ),
        (
            ONE,
            ["let: {weight: x}", "result: wieght * weight"],
            ["TG335 8:15 unknown name `wieght` in a reference (did you mean `weight`?)"],
        ),
        (
            ONE,
            ["let: {a: y}", "result: a"],
            [
                "TG335 7:16 unknown name `y` in a reference (functions are written `torch.exp(x)` or `exp(x)`)"
            ],
        ),
        (
            ONE,
            [*["let:"], *[f"  v{n}: v{n + 1}" for n in range(17)], "  v17: x", "result: v0"],
            ["TG110 23:14 `v16` is below 16 other values of `let`"],
        ),
        (
            ONE,
            ["let: x", "result: x"],
            ["TG106 7:12 `let` takes a mapping from names to expressions, not a single value"],
        ),
        (
            ONE,
            ["let: {r-1: x, a b: x, None: x}", "result: x"],
            [
                "TG385 7:13 `r-1` is not a name",
                "TG385 7:21 `a b` is not a name",
                "TG385 7:29 `None` is not a name",
            ],
        ),
        (
            ONE,
            ["result: [x]"],
            ["TG106 7:15 `result` takes an expression, not a list (put it in quotes)"],
        ),
        (
            ONE,
            ["result: x +"],
            ["TG335 7:15 `x +` is not an expression of Python (invalid syntax)"],
        ),
        (
            ONE,
            ["let: {a: x.__class__}", "result: a"],
            ["TG335 7:16 a reference cannot use private names: `__class__`"],
        ),
    ],
)
def test_mistakes_in_it(schema: str, lines: list[str], found: list[str]) -> None:
    source = Source("ops.yaml", entry(schema, *lines))
    functions, mistakes = load_native_functions([source])
    program = build_program(functions, Config(Path()), diagnostics=mistakes, sources=[source])
    said = []
    for one in program.diagnostics:
        assert one.label is not None
        line, column = one.label.span.source.line_column(one.label.span.start)
        hint = f" ({one.help})" if one.help else ""
        said.append(f"{one.code} {line}:{column} {one.message}{hint}")
    assert said == found


@pytest.mark.parametrize("reference", ["x +", "{out: x}", "[x]"])
def test_one_with_mistakes_is_not_missed(reference: str) -> None:
    """By what needs a reference."""
    text = (
        "- func: my::f(Tensor x) -> Tensor\n  dispatch: {CPU: f, Meta: reference}\n"
        f"  derivatives: auto\n  samples: {{calls: [], reference: {reference}}}\n"
    )
    source = Source("ops.yaml", text)
    functions, mistakes = load_native_functions([source])
    program = build_program(functions, Config(Path()), diagnostics=mistakes, sources=[source])
    assert len(mistakes) == len(program.diagnostics) == 1


def test_fmt_keeps_it() -> None:
    """Lines move, and names keep what they stand for."""
    lines = ["rstd: r", "let:", "  # Why.", "  r: x.abs()", "out: x"]
    text = entry("f(Tensor x) -> (Tensor out, Tensor rstd)", *lines)
    wide = text.replace("\n    ", "\n      ")
    assert format_text(wide)[0] == format_text(text)[0] == text
