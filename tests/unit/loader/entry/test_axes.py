"""The line of `axes:` as it is read, and as it is completed with the schema."""

from __future__ import annotations

import pytest

from torchgen_lite.analysis.resolve import Resolved
from torchgen_lite.diagnostics import Source
from torchgen_lite.loader.entry.axes import Axed, Axes, Axis
from torchgen_lite.loader.formats.native_functions import load_native_functions


def read(entry: str) -> Axes | None:
    functions, found = load_native_functions([Source("ops.yaml", entry)])
    assert not found
    return Resolved(functions).declared[0].axes


def shown(line: Axes | None) -> str:
    """The line as it would be written with every name."""
    sides = (line.tensors, line.results) if line is not None else ()
    return " -> ".join(
        ", ".join(f"{one.name}[{', '.join(map(str, one.axes))}]" for one in side) for side in sides
    )


def test_a_line_is_read_with_places() -> None:
    entry = "- func: my::mm(Tensor a, Tensor b) -> Tensor\n  axes: >-\n    a[m, k+],\n    b[k+,n] -> [*c]\n"
    functions, found = load_native_functions([Source("ops.yaml", entry)])
    line = functions[0].axes
    assert not found and line is not None
    m, k, n = Axis("m"), Axis("k", "+"), Axis("n")
    assert line == Axes((Axed("a", (m, k)), Axed("b", (k, n))), (Axed("", (Axis("*c"),)),))
    spans = [one.span for one in (*line.tensors, line.tensors[1].axes[1], line.results[0].axes[0])]
    assert [span and span.text for span in spans] == ["a[m, k+]", "b[k+,n]", "n", "*c"]


@pytest.mark.parametrize(
    ("schema", "axes", "completed"),
    [
        ("f(Tensor x) -> Tensor", "x[*b] -> [*b]", "x[*b] -> result[*b]"),
        ("f(Tensor x) -> (Tensor, Tensor v)", "x[n] -> v[n], result0[n]", "x[n] -> result0[n], v[n]"),
        ("f(Tensor x, Tensor y) -> Tensor", "y[n], x[n] -> [n]", "x[n], y[n] -> result[n]"),
        ("f_(Tensor(a!) self) -> Tensor(a!)", "self[*b] -> [*b]", "self[*b] -> self[*b]"),
        ("f(Tensor(a!) y, Tensor x) -> ()", "x[*b] -> [*b]", "y[*b], x[*b] -> y[*b]"),
        ("f(Tensor(a!) y, Tensor x) -> ()", "y[*b], x[*b] -> y[*b]", "y[*b], x[*b] -> y[*b]"),
        ("f(Tensor x, Tensor(a!) s) -> Tensor", "x[n!], s[] -> [n!]", "x[n!], s[] -> result[n!], s[]"),
        ("f.out(Tensor x, *, Tensor(a!) out) -> Tensor(a!)", "x[n] -> [n]", "x[n], out[n] -> out[n]"),
        ("f(Tensor[] xs, Tensor? w) -> Tensor[]", "xs[*b], w[*b] -> [*b]", "xs[*b], w[*b] -> result[*b]"),
    ],
)  # fmt: skip
def test_a_line_is_completed_with_the_schema(schema: str, axes: str, completed: str) -> None:
    assert (
        shown(read(f"- func: my::{schema}\n  dispatch: {{CPU: k}}\n  axes: {axes}\n")) == completed
    )


@pytest.mark.parametrize(
    ("schema", "implied"),
    [
        ("my::f(Tensor x, Tensor? y, int n) -> Tensor", "x[*b], y[*b] -> result[*b]"),
        ("my::f_(Tensor(a!) self, Tensor x) -> Tensor(a!)", "self[*b], x[*b] -> self[*b]"),
        ("my::f(Tensor[] xs) -> Tensor[]", ""),
        ("my::f(int n) -> Tensor", ""),
        ("my::f(Tensor(a) x) -> Tensor(a)", ""),
        ("my::f(Tensor x) -> int", ""),
        ("f(Tensor x) -> Tensor", ""),
    ],
)
def test_pointwise_implies_a_line(schema: str, implied: str) -> None:
    entry = f"- func: {schema}\n  dispatch: {{CPU: k}}\n  tags: pointwise\n"
    assert shown(read(entry)) == implied
    assert shown(read(entry.replace("  dispatch: {CPU: k}\n", ""))) == ""
