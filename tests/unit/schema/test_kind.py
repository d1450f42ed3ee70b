"""The kinds of operators: where they write their results."""

from __future__ import annotations

import pytest

from torchgen_lite.schema import FunctionSchema


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("relu(Tensor self) -> Tensor", "functional"),
        ("relu_(Tensor(a!) self) -> Tensor(a!)", "inplace"),
        ("__iadd__.Tensor(Tensor(a!) self, Tensor other) -> Tensor(a!)", "inplace"),
        ("__and__.Tensor(Tensor self, Tensor other) -> Tensor", "functional"),
        ("relu.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)", "out"),
        ("f.out(Tensor self, *, Tensor(a!) out, Tensor(b!) _scratch_x) -> Tensor(a!)", "scratch"),
        ("f(Tensor self, Tensor(a!) stats) -> Tensor", "mutable"),
        # torchgen calls this operator functional, since it ignores `self`.
        ("foo(Tensor(a!) self) -> Tensor(a!)", "mutable"),
        ("view(Tensor(a) self) -> Tensor(a)", "functional"),
    ],
)
def test_kind(text: str, kind: str) -> None:
    assert str(FunctionSchema.parse(text).kind()) == kind
