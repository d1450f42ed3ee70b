"""What a call reads from an argument, by its type."""

from __future__ import annotations

import pytest

from torchgen_lite.schema import FunctionSchema
from torchgen_lite.schema.dispatch_kind import DispatchKind, dispatch_kind


@pytest.mark.parametrize(
    ("type_", "kind", "letter"),
    [
        ("Tensor", DispatchKind.tensor, "T"),
        ("Tensor(a!)", DispatchKind.tensor, "T"),
        ("Tensor?", DispatchKind.optional_tensor, "O"),
        ("Tensor[]", DispatchKind.tensor_list, "L"),
        ("Tensor?[]", DispatchKind.optional_tensor_list, "P"),
        ("Generator", DispatchKind.generator, "G"),
        ("Generator?", DispatchKind.generator, "G"),
        ("Tensor[]?", DispatchKind.nothing, "-"),
        ("Generator[]", DispatchKind.nothing, "-"),
        ("int", DispatchKind.nothing, "-"),
    ],
)
def test_an_argument_carries_keys_by_its_type(type_: str, kind: DispatchKind, letter: str) -> None:
    (argument,) = FunctionSchema.parse(f"f({type_} x) -> ()").arguments
    assert dispatch_kind(argument.type) is kind
    assert kind.value == letter


def test_kinds_say_what_they_hold() -> None:
    assert [kind.value for kind in DispatchKind if kind.has_tensors] == ["T", "O", "L", "P"]
    assert [kind.value for kind in DispatchKind if kind.is_list] == ["L", "P"]
