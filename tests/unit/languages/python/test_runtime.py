"""One operator as Python text."""

from __future__ import annotations

import pytest

from torchgen_lite.languages.python import names as python_names
from torchgen_lite.languages.python import runtime as python
from torchgen_lite.languages.python.signature import (
    ImportedName,
    imported_names,
    imports,
    returned,
    unshadowed,
)
from torchgen_lite.schema import FunctionSchema


def parameters(schema: str) -> list[str]:
    return [*map(str, python.parameters(FunctionSchema.parse(schema)))]


@pytest.mark.parametrize(
    ("type_", "expected"),
    [
        ("Tensor", "Tensor"),
        ("Tensor(a!)", "Tensor"),
        ("Tensor?", "Tensor | None"),
        ("Tensor[]", "Sequence[Tensor]"),
        ("Tensor?[]", "Sequence[Tensor | None]"),
        ("Tensor[]?", "Sequence[Tensor] | None"),
        ("Scalar", "Number"),
        ("Scalar[]", "Sequence[Number]"),
        ("int", "int"),
        ("SymInt", "int"),
        ("SymInt[]", "Sequence[int]"),
        ("int[2]", "int | Sequence[int]"),
        ("int[1]?", "int | Sequence[int] | None"),
        ("bool[3]", "bool | Sequence[bool]"),
        ("Tensor[2]", "Sequence[Tensor]"),
        ("str", "str"),
        ("float", "float"),
        ("ScalarType?", "dtype | None"),
        ("Layout", "layout"),
        ("Device", "device"),
        ("MemoryFormat", "memory_format"),
        ("Generator?", "Generator | None"),
        ("Dimname[]", "Sequence[str]"),
        ("Any", "Any"),
        ("Dict(str, Tensor)", "dict[str, Tensor]"),
        ("__torch__.torch.classes.c10d.ProcessGroup", "Any"),
    ],
)
def test_argument_type(type_: str, expected: str) -> None:
    assert parameters(f"f({type_} x) -> ()") == [f"x: {expected}"]


@pytest.mark.parametrize(
    ("returns", "expected"),
    [
        ("()", "None"),
        ("Tensor", "Tensor"),
        ("Tensor(a)[]", "list[Tensor]"),
        ("(Tensor, int)", "tuple[Tensor, int]"),
        ("Tensor?", "Tensor | None"),
        ("SymBool", "bool"),
    ],
)
def test_returns(returns: str, expected: str) -> None:
    schema = FunctionSchema.parse(f"f(Tensor x) -> {returns}")
    assert str(returned(python.returns(schema.returns))) == expected


def test_parameters() -> None:
    assert parameters("add.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor") == [
        "self: Tensor",
        "other: Tensor",
        "*",
        "alpha: Number = 1",
    ]


def test_keywords_get_an_underscore() -> None:
    schema = "random_.from(Tensor(a!) self, int from, int? to, *, Generator? generator=None) -> ()"
    assert parameters(schema)[1] == "from_: int"
    assert python.forwarded(FunctionSchema.parse(schema)) == [
        "self",
        "from_",
        "to",
        "generator=generator",
    ]


def test_a_default_before_a_required_argument_is_left_out() -> None:
    assert parameters("f(int a=1, *, int b=2) -> ()") == ["a: int = 1", "*", "b: int = 2"]
    assert parameters("f(int a=1, Tensor b, int c=3) -> ()") == [
        "a: int",
        "b: Tensor",
        "c: int = 3",
    ]


@pytest.mark.parametrize(
    ("argument", "expected"),
    [
        ("int[] x=[0,1]", "x: Sequence[int] = (0, 1)"),
        ("int[2] x=1", "x: int | Sequence[int] = (1, 1)"),
        ("str x='mean'", 'x: str = "mean"'),
        ("float x=1e-05", "x: float = 1e-05"),
        ("int x=Mean", "x: int = 1"),
        ("MemoryFormat x=contiguous_format", "x: memory_format = contiguous_format"),
        ("Tensor? x=None", "x: Tensor | None = None"),
        ("bool x=False", "x: bool = False"),
    ],
)
def test_defaults(argument: str, expected: str) -> None:
    assert parameters(f"f({argument}) -> ()") == [expected]


def test_shadowed_types_are_renamed() -> None:
    taken = python.parameters(FunctionSchema.parse("f(float float=1.0, *, int[] y) -> ()"))
    hidden = unshadowed(taken, frozenset({"float", "int"}))
    assert [*map(str, hidden)] == ["float: _float = 1.0", "*", "y: Sequence[_int]"]
    assert unshadowed(taken, frozenset()) is taken


def test_imports_of_hidden_types_have_an_underscore() -> None:
    modules = {"int": "builtins", "float": "builtins", "Tensor": "arrays", "device": "arrays"}
    names = imported_names(
        ["int", "float", "Tensor", "device", "None"], frozenset({"float", "device"})
    )
    found = imports({*names, ImportedName("Tensor", "_Tensor")}, modules)
    assert [(one.module, ", ".join(map(str, one.names))) for one in found] == [
        ("builtins", "float as _float"),
        ("arrays", "Tensor, Tensor as _Tensor, device as _device"),
    ]


def test_names() -> None:
    assert python_names.overload_attribute("from") == "from_"
    assert python_names.overload_attribute("") == "default"
