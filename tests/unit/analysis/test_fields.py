"""Each field of ours is checked in an entry that has no other."""

from __future__ import annotations

from pathlib import Path

import pytest

from torchgen_lite import load
from torchgen_lite.analysis.checks.fields import CHECKS
from torchgen_lite.loader.entry.fields import FIELDS

# For each field a schema, and a value that it cannot have.
WRONG = {
    "fake": ("(Tensor x) -> Tensor", "{like: y}", "TG332"),
    "flops": ("(Tensor x) -> Tensor", "y.numel()", "TG332"),
    "samples": ("(Tensor x) -> Tensor", '["(ones(2), 3)"]', "TG336"),
    "decompose": ("(Tensor x) -> Tensor", "inductor", "TG387"),
    "checkpoint": ("(Tensor(a!) x) -> ()", "save", "TG387"),
    "triton": ("(Tensor(a) x) -> Tensor(a)", "CPU", "TG387"),
    "axes": ("(Tensor x) -> Tensor", "'y[n] -> [n]'", "TG349"),
    "vmap": ("(Tensor x) -> int", "loop", "TG397"),
    "autocast": ("(int n) -> int", "float32", "TG337"),
}


def test_every_field_with_a_check_is_here() -> None:
    """Formulas are checked together."""
    assert WRONG.keys() == {field for field, _ in CHECKS}
    checked = {field.attribute for field in FIELDS.values() if field.is_checked}
    assert checked == {*WRONG, "derivatives"}


@pytest.mark.parametrize("field", sorted(WRONG))
def test_a_field_is_checked_alone(field: str, tmp_path: Path) -> None:
    schema, value, code = WRONG[field]
    entry = f"- func: my::f{schema}\n  dispatch:\n    CPU: f\n  {field}: {value}\n"
    (tmp_path / "ops.yaml").write_text(entry)
    found = load(tmp_path / "ops.yaml", root=tmp_path).diagnostics
    assert [diagnostic.code for diagnostic in found] == [code], found
