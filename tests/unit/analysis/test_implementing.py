"""What a kernel for one schema is worth for another."""

from __future__ import annotations

import pytest

from torchgen_lite.analysis.implementing import Rank, compare_kernels
from torchgen_lite.schema import FunctionSchema


@pytest.mark.parametrize(
    ("old", "new", "rank"),
    [
        ("f(Tensor a) -> Tensor", "f(Tensor a) -> Tensor", Rank.same),
        ("f(Tensor a) -> Tensor", "f(Tensor b) -> Tensor", Rank.names),
        ("f(Tensor a) -> Tensor", "f(Tensor(a!) a) -> Tensor", Rank.names),
        ("f(int[2] a) -> Tensor", "f(int[] a) -> Tensor", Rank.names),
        ("f(int[1]? a) -> Tensor", "f(SymInt[]? a) -> Tensor", Rank.symint),
        ("f(bool[2] a) -> Tensor", "f(bool[3] a) -> Tensor", Rank.aborts),
        ("f(int a) -> Tensor", "f(int? a) -> Tensor", Rank.aborts),
        ("f(Dict(str, int) a) -> ()", "f(Dict(str, Tensor) a) -> ()", Rank.aborts),
        ("f(Tensor(a!) a) -> Tensor", "f(Tensor(a!) a) -> Tensor(a!)", Rank.aborts),
        ("f(Tensor a) -> Tensor", "f(Tensor a, int b=0) -> Tensor", Rank.aborts),
    ],
)
def test_what_a_kernel_is_worth(old: str, new: str, rank: Rank) -> None:
    schemas = FunctionSchema.parse(old), FunctionSchema.parse(new)
    assert compare_kernels(*schemas).rank is rank
    assert compare_kernels(*reversed(schemas)).rank is rank
