"""The operators of a library for libtorch."""

from __future__ import annotations

from collections.abc import Sequence

from torchgen_lite.analysis import operators as resolved
from torchgen_lite.targets.cpp import model
from torchgen_lite.targets.cpp.conditions import condition
from torchgen_lite.targets.cpp.model import Operator
from torchgen_lite.targets.cpp_torch import types

# The namespaces and types that the declarations of typed calls spell.
_SPELLED = frozenset({"at", "c10", "detail", "int64_t", "ops", "torch"})


def build_operators(facts: Sequence[resolved.Operator], shards: int) -> tuple[Operator, ...]:
    """The operators in source order."""
    return model.build_operators(
        facts, shards, lambda one: types.signature(one.function), condition, _SPELLED
    )
