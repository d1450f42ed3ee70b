"""The operators of a library under the stable ABI, and the release that one of them needs."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from torchgen_lite.analysis.operators import Operator
from torchgen_lite.languages.cpp import stable
from torchgen_lite.languages.cpp.stable import FIRST_RELEASE, Release
from torchgen_lite.targets.cpp import model
from torchgen_lite.targets.cpp.conditions import STABLE_VERSION_MACRO, condition
from torchgen_lite.targets.cpp.model import CppOperator

# The namespaces and types that the declarations of typed calls spell.
_SPELLED = frozenset({"detail", "int64_t", "ops", "torch"})


def build_operators(facts: Sequence[Operator], shards: int) -> tuple[CppOperator, ...]:
    """The operators in source order."""
    return model.build_operators(
        facts,
        shards,
        lambda one: stable.signature(one.function, one.schema.base_name),
        partial(condition, macro=STABLE_VERSION_MACRO),
        _SPELLED,
    )


def needed_release(operator: CppOperator) -> Release:
    """The first release that carries every type of an operator."""
    schema = operator.schema
    types = [a.type for a in schema.arguments] + [r.type for r in schema.returns]
    return max([stable.since(type_) for type_ in types], default=FIRST_RELEASE)
