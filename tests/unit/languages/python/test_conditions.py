"""Conditions of kernels in Python."""

from __future__ import annotations

import pytest

from torchgen_lite.analysis.checks.selections import typed_condition
from torchgen_lite.formulas.parser import parse_formula
from torchgen_lite.languages.python.conditions import ConditionNames, condition
from torchgen_lite.schema import FunctionSchema

SCHEMA = FunctionSchema.parse(
    "f(Tensor x, Tensor? w, int n, int? k, int[] s, str mode, bool from, int max) -> Tensor"
)
NAMES = ConditionNames(
    {a.name: f"{a.name}_" if a.name == "from" else a.name for a in SCHEMA.arguments},
    "torch.{}".format,
    lambda *asked: None,
    "own",
    {"capability": "own.capability"},
)


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("x.dtype in {half, float}", "x.dtype == torch.float16 or x.dtype == torch.float32"),
        ("x.size(-1) % 8 == 0", "x.size(-1) % 8 == 0"),
        ("floor_div(n + 1, 2) * 3 > -n", "(n + 1) // 2 * 3 > -n"),
        ("n - floor_div(n, 2) > 0", "n - n // 2 > 0"),
        ("not w.defined() or w.dim() == 1", "not w is not None or w.dim() == 1"),
        ("default(k, 3) > 2", "(k if k is not None else 3) > 2"),
        ("from and (n > 1 or true)", "from_ and (n > 1 or True)"),
        ("from == (n > 1)", "from_ == (n > 1)"),
        ("len(s) == 2 and s[-1] == max(n, 1)", "len(s) == 2 and s[-1] == own.max(n, 1)"),
        ("x.shape == s", "tuple(x.shape) == tuple(s)"),
        ("x.shape != {2, n}", "tuple(x.shape) != tuple([2, n])"),
        ("mode == 'fast'", 'mode == "fast"'),
        ("capability(x) >= 90", "own.capability(x) >= 90"),
    ],
)
def test_a_condition(text: str, written: str) -> None:
    tree, found = parse_formula(text, is_condition=True)
    assert tree is not None and found == ()
    assert condition(typed_condition(tree, SCHEMA), NAMES) == written
