"""The operators of a library under the stable ABI, and the release that one of them needs."""

from __future__ import annotations

from collections.abc import Sequence

from torchgen_lite.dialects.cpp import stable
from torchgen_lite.dialects.cpp.stable import FIRST_RELEASE, Release
from torchgen_lite.loader.entry import NativeFunction
from torchgen_lite.targets.cpp.conditions import condition
from torchgen_lite.targets.cpp.model import (
    MEMBERS,
    Operator,
    build_operator,
    shard_count,
    with_free_names,
)

# The namespaces and types that the declarations of typed calls spell.
_SPELLED = frozenset({"detail", "int64_t", "ops", "torch"})


def build_operators(functions: Sequence[NativeFunction], shards: int) -> tuple[Operator, ...]:
    """The operators in source order; the first namespace is the home."""
    home = functions[0].namespace if functions else ""
    count = shard_count(functions, shards)
    operators = [
        build_operator(
            function,
            home,
            count,
            stable.signature(function, function.func.base_name),
            condition(function),
        )
        for function in functions
    ]
    return with_free_names(operators, MEMBERS | _SPELLED)


def needed_release(operator: Operator) -> Release:
    """The first release that carries every type of an operator."""
    schema = operator.schema
    types = [a.type for a in schema.arguments] + [r.type for r in schema.returns]
    return max([stable.since(type_) for type_ in types], default=FIRST_RELEASE)
