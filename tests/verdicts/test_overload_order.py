"""What `torch.ops` takes for an argument of each type is what PyTorch takes."""

from __future__ import annotations

from typing import Any

import pytest

from torchgen_lite.analysis.comparison.values import values_by_type


@pytest.mark.torch
def test_the_values_that_a_type_takes_are_those_that_pytorch_takes() -> None:
    import torch

    values = {
        "Tensor": torch.ones(()),
        "float": 1.5,
        "int": 1,
        "bool": True,
        "complex": 1j,
        "str": "a",
        "Device": torch.device("cpu"),
        "Generator": torch.Generator(),
    }
    # PyTorch's functions have no types.
    make: Any = torch.library.Library
    library: Any = make("tgl_order", "DEF")
    for type_, (expected, _) in values_by_type().items():
        library.define(f"take_{type_}({type_} x) -> ()")
        library.impl(f"take_{type_}", lambda x: None, "CompositeExplicitAutograd")
        operator = getattr(torch.ops.tgl_order, f"take_{type_}")
        taken = set()
        for kind, value in values.items():
            try:
                operator(value)
            except (RuntimeError, TypeError):
                continue
            taken.add(kind)
        assert taken == expected, type_
