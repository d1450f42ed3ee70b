"""The operators of a library for libtorch."""

from __future__ import annotations

from collections.abc import Sequence

from torchgen_lite.loader.entry import NativeFunction
from torchgen_lite.targets.cpp.conditions import condition
from torchgen_lite.targets.cpp.model import Operator, build_operator
from torchgen_lite.targets.cpp_torch import types


def build_operators(functions: Sequence[NativeFunction], shards: int) -> tuple[Operator, ...]:
    """The operators in source order; the first namespace is the home."""
    home = functions[0].namespace if functions else ""
    return tuple(
        [
            build_operator(function, home, shards, types.signature(function), condition(function))
            for function in functions
        ]
    )
