"""One operator as `torch.ops` calls it."""

from __future__ import annotations

import pytest

from torchgen_lite.languages.python import torch_ops
from torchgen_lite.schema import FunctionSchema


@pytest.mark.parametrize(
    ("schema", "parameters", "returns"),
    [
        ("f() -> ()", "_op, /", "None"),
        (
            "f.Tensor(Tensor self, Tensor? other=None, *, Scalar alpha=1) -> Tensor",
            "_op, /, self: Tensor, other: Tensor | None = None, *, alpha: Number | complex = 1",
            "Tensor",
        ),
        (
            "f(Tensor[] xs, int[2] size=1, bool[3] mask=[True, False, True]) -> (Tensor, int[])",
            "_op, /, xs: Sequence[Tensor], size: int | Sequence[int] = 1, "
            "mask: Sequence[bool] = (True, False, True)",
            "tuple[Tensor, list[int]]",
        ),
        (
            "f(SymInt n, Device? device=None, *, MemoryFormat format=contiguous_format) -> Device",
            "_op, /, n: int | SymInt, device: device | str | None = None, *, format: memory_format = ...",
            "device",
        ),
        # Arguments named like Python keywords are passed by position, or by `**`.
        (
            "f(Tensor self, int from, int to=2, *, int lambda=1) -> Tensor",
            "_op, self: Tensor, from_: int, /, to: int = 2, **kwargs: Any",
            "Tensor",
        ),
        (
            "f(int kwargs, *, int lambda=1) -> Tensor",
            "_op, /, kwargs: int, **kwargs_: Any",
            "Tensor",
        ),
        ("f(int args, ...) -> ...", "_op, /, args: int, *args_: Any", "Any"),
        # No required positional parameter may follow one with a default.
        ("f(int a=1, int b) -> int", "_op, /, a: int = 1, b: int = ...", "int"),
        # PyTorch's parser accepts the same name twice.
        ("f(float x, float x) -> float", "_op, /, x: float, x_: float", "float"),
        ("f(...) -> ...", "_op, /, *args: Any", "Any"),
        (
            "f(Dict(str, Tensor) d, __torch__.torch.classes.a.B b, Future(t) c, (int, Tensor) e) -> t",
            "_op, /, d: dict[str, Tensor], b: ScriptObject, c: Any, e: tuple[int, Tensor]",
            "Any",
        ),
    ],
)
def test_signature(schema: str, parameters: str, returns: str) -> None:
    parsed = FunctionSchema.parse(schema)
    assert ", ".join(map(str, torch_ops.parameters(parsed))) == parameters
    assert str(torch_ops.returns_type(parsed)) == returns


def test_overload_attribute() -> None:
    assert torch_ops.overload_attribute(FunctionSchema.parse("add.Tensor() -> ()")) == "Tensor"
    assert torch_ops.overload_attribute(FunctionSchema.parse("add() -> ()")) == "default"
