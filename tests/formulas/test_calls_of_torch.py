"""What PyTorch's own lists of inputs call, a formula may call, but for what the page of formulas says."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence

import pytest

from tests.formulas.test_calls_alike import generated

pytestmark = pytest.mark.torch

# What docs/autograd.md refuses: a number that is a truth in C++, and several arguments that are one list there.
IN_THE_FILE = {"argsort": "TG344"}
OF_THE_TARGET = dict.fromkeys(("block_diag", "broadcast_tensors", "cartesian_prod"), "TG323")
SCALARS = {bool: "bool", int: "int", float: "float"}


def kind_of(value: object) -> str | None:
    """The type of a schema for a value of a call; None if these entries have none for it."""
    import torch

    if isinstance(value, torch.Tensor):
        return "Tensor"
    if isinstance(value, (list, tuple)):
        kinds = {kind_of(item) for item in value}
        kind = kinds.pop() if len(kinds) == 1 else None
        return f"{kind}[]" if kind in {"Tensor", *SCALARS.values()} else None
    return SCALARS.get(type(value))


def calls() -> Iterator[tuple[str, tuple[str, ...]]]:
    """The functions of `torch` with the kinds of positional arguments that their samples have."""
    import torch
    from torch.testing._internal.common_methods_invocations import op_db

    from tests.conformance.samples import samples

    for info in op_db:
        if getattr(torch, info.name, None) is not info.op:
            continue
        for sample in samples(info, torch.float32):
            kinds = [kind_of(value) for value in (sample.input, *sample.args)]
            if not sample.kwargs and None not in kinds:
                yield info.name, tuple(map(str, kinds))


def entry(index: int, name: str, kinds: tuple[str, ...]) -> str:
    """An operator whose formula makes the call with arguments of its own."""
    declared = "".join(f", {kind} a{i}" for i, kind in enumerate(kinds))
    given = ", ".join(f"a{i}" for i in range(len(kinds)))
    others = "".join(
        f"    a{i}: not_differentiable\n"
        for i, kind in enumerate(kinds)
        if kind.startswith("Tensor")
    )
    return (
        f"- func: lib::op_{index}(Tensor x{declared}) -> Tensor\n"
        "  dispatch: {CPU: f}\n"
        "  fake: {like: x}\n"
        f"  derivatives:\n    x: grad * {name}({given})\n{others}"
    )


def refused(found: Sequence[tuple[str, tuple[str, ...]]]) -> dict[str, str]:
    """The functions whose calls are errors, with the codes."""
    text = "".join(entry(index, *call) for index, call in enumerate(found))
    errors = {}
    for diagnostic in generated(text, "torch-python").diagnostics:
        if diagnostic.severity == "error":
            assert diagnostic.operator is not None
            index = int(diagnostic.operator.rpartition("_")[2])
            errors[found[index][0]] = diagnostic.code
    return errors


def test_no_other_call_of_a_sample_is_refused() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = sorted(set(calls()))
    public = [call for call in found if not call[0].startswith("_")]
    # The target looks at no call while the file itself has errors.
    assert refused(public) == IN_THE_FILE
    others = [call for call in public if call[0] not in IN_THE_FILE]
    assert len(others) > 300
    assert refused(others) == OF_THE_TARGET
