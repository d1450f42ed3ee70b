"""How far a kernel for one schema can serve another."""

from __future__ import annotations

from typing import Any

import pytest

from torchgen_lite.analysis.implementing import Rank, compare_kernels
from torchgen_lite.loader.entry.entry import NativeFunction
from torchgen_lite.schema import FunctionSchema


@pytest.mark.parametrize(
    ("old", "new", "rank"),
    [
        ("f(Tensor a) -> Tensor", "f(Tensor a) -> Tensor", Rank.same),
        ("f(Tensor a) -> Tensor", "f(Tensor b) -> Tensor", Rank.names),
        ("f(Tensor(a) a) -> Tensor", "f(Tensor a) -> Tensor", Rank.names),
        ("f(Tensor a) -> Tensor", "f(Tensor(a!) a) -> Tensor", Rank.aborts),
        ("f(Tensor? a) -> Tensor", "f(Tensor(a!)? a) -> Tensor", Rank.aborts),
        ("f(Tensor[] a) -> ()", "f(Tensor(a!)[] a) -> ()", Rank.names),
        ("f(Tensor a) -> int", "f(Tensor a) -> SymInt", Rank.aborts),
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
    functions = [NativeFunction(FunctionSchema.parse(text), "aten") for text in (old, new)]
    assert compare_kernels(*functions).rank is rank
    assert compare_kernels(*reversed(functions)).rank is rank


@pytest.mark.parametrize(
    ("schema", "change", "rank"),
    [
        ("cat(Tensor[] tensors) -> Tensor", {"structured_delegate": "cat.out"}, Rank.aborts),
        ("cat(Tensor[] tensors) -> Tensor", {"is_part_of_structured": True}, Rank.aborts),
        ("add(Tensor self) -> Tensor", {"structured_delegate": "add.out"}, Rank.same),
        (
            "f_(Tensor(a!) self) -> Tensor(a!)",
            {"use_const_ref_for_mutable_tensors": True},
            Rank.aborts,
        ),
        ("f(Tensor self) -> Tensor", {"use_const_ref_for_mutable_tensors": True}, Rank.same),
    ],
)
def test_entries_with_one_schema(schema: str, change: dict[str, Any], rank: Rank) -> None:
    function = NativeFunction(FunctionSchema.parse(schema), "aten")
    assert compare_kernels(function, function._replace(**change)).rank is rank
