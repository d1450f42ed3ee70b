"""What a condition is for an input that `why --input` describes: what Python says."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from tests.cpp.conditions import CONDITIONS, ITEMSIZES, Condition, Facts, calls, said
from torchgen_lite.analysis.selection.inputs import (
    TensorInput,
    Unknown,
    Value,
    dtype_named,
    reading,
    tensor_from,
    value_of,
)
from torchgen_lite.formulas.parser import parse_formula

CALLS = [*calls(700)]


def _described(value: Any) -> Value:
    if isinstance(value, (list, tuple)):
        return tuple(value)
    if isinstance(value, Facts):
        return TensorInput(
            dtype_named(value.dtype),
            tuple(value.shape),
            tuple(value.strides),
            value.requires_grad,
            address=value.offset * ITEMSIZES[value.dtype],
            offset=value.offset,
        )
    return value  # type: ignore[no-any-return]


def _input(call: dict[str, Any]) -> dict[str, Value]:
    values = {name: _described(value) for name, value in call.items()}
    if call["dtype"] is not None:
        values["dtype"] = dtype_named(call["dtype"])
    return values


@pytest.mark.parametrize("condition", CONDITIONS, ids=lambda one: one.text)
def test_a_condition_is_what_python_says(condition: Condition) -> None:
    """-1 is an error there, and not known here."""
    tree, found = parse_formula(condition.text, is_condition=True)
    assert tree is not None and found == ()
    for call in CALLS:
        try:
            answer = int(bool(value_of(tree, reading(_input(call)))))
        except Unknown:
            answer = -1
        assert answer == said(condition, call), call


def test_a_tensor_is_what_its_text_says() -> None:
    for call in CALLS:
        described = _described(call["x"])
        assert isinstance(described, TensorInput)
        again = tensor_from(str(described))
        assert again.steps == described.steps
        assert replace(again, strides=described.strides) == described


@pytest.mark.parametrize("name", ["qint8", "quint8", "qint32", "int8", "bool", "complex64"])
def test_what_is_not_of_floating_point(name: str) -> None:
    assert not dtype_named(name).is_floating_point
