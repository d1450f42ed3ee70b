"""The operators of a library for libtorch."""

from __future__ import annotations

from collections.abc import Sequence

from torchgen_lite.loader.entry import NativeFunction
from torchgen_lite.targets.cpp.conditions import condition
from torchgen_lite.targets.cpp.model import MEMBERS, Operator, build_operator, with_free_names
from torchgen_lite.targets.cpp_torch import types

# The namespaces and types that the declarations of typed calls spell.
_SPELLED = frozenset({"at", "c10", "detail", "int64_t", "ops", "torch"})


def build_operators(functions: Sequence[NativeFunction], shards: int) -> tuple[Operator, ...]:
    """The operators in source order; the first namespace is the home."""
    home = functions[0].namespace if functions else ""
    operators = [
        build_operator(function, home, shards, types.signature(function), condition(function))
        for function in functions
    ]
    return with_free_names(operators, MEMBERS | _SPELLED)
