"""Python signatures: for the argument parser and for stubs."""

from __future__ import annotations

import pytest

from tests.unit.languages_torch import OPTIONS, entry
from torchgen_lite.languages.python import torch_pyi, torch_python

ZEROS = f"zeros(SymInt[] size, *, {OPTIONS}) -> Tensor"
FACTORY = "dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=False, bool? requires_grad=False"


@pytest.mark.parametrize(
    ("schema", "expected"),
    [
        (
            "add.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor",
            "add(Tensor input, Tensor other, *, Scalar alpha=1)",
        ),
        (
            "f(Tensor self, float eps=1e-05, bool b=True, str s='x', Tensor? w=None) -> Tensor",
            'f(Tensor input, double eps=1e-05, bool b=True, c10::string_view s="x", Tensor? w=None)',
        ),
        (
            "f.out(Tensor self, *, Tensor(a!) out0, Tensor(b!) out1) -> (Tensor(a!), Tensor(b!))",
            "f(Tensor input, *, TensorList[2] out=None)",
        ),
        (
            "f(Tensor[] self, int[2]? k=None, Scalar[] s=[], bool[3] m=[True, True, True]) -> ()",
            "f(TensorList self, IntArrayRef[2]? k=None, ScalarList s=None,"
            " ::std::array<bool,3> m={True, True, True})",
        ),
        (ZEROS, f"zeros(SymIntArrayRef size, *, ScalarType? {FACTORY})"),
        ("new_x(Tensor self) -> Tensor", f"new_x(Tensor input, *, ScalarType? {FACTORY})"),
        ("make(int n) -> Tensor", f"make(int64_t n, *, ScalarType? {FACTORY})"),
    ],
)
def test_argument_parser(schema: str, expected: str) -> None:
    assert str(torch_python.signature(entry(schema))) == expected


def test_method_and_ints() -> None:
    function = entry("f(Tensor self, SymInt n, SymInt[1] k) -> Tensor")
    method = torch_python.signature(function, "method")
    assert str(method) == "f(SymInt n, SymIntArrayRef[1] k)"
    assert torch_python.signature_text(method, "int") == "f(SymInt n, IntArrayRef[1] k)"


def test_dummy_factories_take_no_options() -> None:
    function = entry("make(int n) -> Tensor", category_override="dummy")
    assert str(torch_python.signature(function)) == "make(int64_t n)"


@pytest.mark.parametrize(
    ("schema", "expected"),
    [
        ("relu(Tensor self) -> Tensor", "def relu(input: Tensor) -> Tensor: ..."),
        (
            "random_.from(Tensor(a!) self, int from, int? to) -> Tensor(a!)",
            "def random_(input: Tensor, from_: _int, to: _int | None) -> Tensor: ...",
        ),
        (
            "f.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)",
            "def f(input: Tensor, *, out: Tensor | None = None) -> Tensor: ...",
        ),
        (
            "f(Tensor[] x, Tensor?[] y, int[2] k=[0, 1]) -> Tensor[]",
            "def f(x: tuple[Tensor, ...] | list[Tensor], "
            "y: tuple[Tensor | None, ...] | list[Tensor | None] | None, "
            "k: _int | _size = (0, 1)) -> tuple[Tensor, ...]: ...",
        ),
        ("max(Tensor self) -> (Tensor values, Tensor indices)", None),
        ("f(Device d) -> Device", "def f(d: DeviceLikeType | None) -> _device: ..."),
        ("f(SymInt[1] n) -> ()", None),
        ("f(Any x) -> SymBool", "def f(x: Any) -> _bool: ..."),
    ],
)
def test_stubs(schema: str, expected: str | None) -> None:
    special = {
        "max": "def max(input: Tensor) -> torch.return_types.max: ...",
        "f": "def f(n: _int | SymInt | Sequence[_int | SymInt]) -> None: ...",
    }
    if expected is None:
        expected = special[schema.split("(")[0]]
    assert torch_pyi.signature_text(torch_python.signature(entry(schema))) == expected


def test_every_stub_of_an_entry() -> None:
    both = entry("expand(Tensor self, SymInt[] size) -> Tensor", variants="function, method")
    assert torch_pyi.signatures(both) == (
        "def expand(input: Tensor, size: Sequence[_int | SymInt]) -> Tensor: ...",
        "def expand(self, size: Sequence[_int | SymInt]) -> Tensor: ...",
        "def expand(self, *size: _int | SymInt) -> Tensor: ...",
    )


def test_several_results() -> None:
    named = torch_python.signature(entry("max(Tensor self) -> (Tensor values, int n)"))
    assert str(torch_pyi.returns_type(named)) == "torch.return_types.max"
    unnamed = torch_python.signature(entry("max(Tensor self) -> (Tensor, int n)"))
    assert str(torch_pyi.returns_type(unnamed)) == "tuple[Tensor, _int]"
