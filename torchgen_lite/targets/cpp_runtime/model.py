"""The operators of a library for the runtime, and what their declarations need."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from torchgen_lite.analysis.operators import Operator
from torchgen_lite.languages.cpp import runtime
from torchgen_lite.languages.cpp import text as cpp_text
from torchgen_lite.languages.cpp.runtime import Types
from torchgen_lite.loader.guards import read_guard
from torchgen_lite.targets.cpp import model
from torchgen_lite.targets.cpp.layout import Layout
from torchgen_lite.targets.cpp.model import CppOperator
from torchgen_lite.targets.cpp_runtime.framework import roots
from torchgen_lite.targets.output import Header

# What the definitions of typed calls spell.
_SPELLED = frozenset({"std", "torchgen_lite", "int64_t", "ops"})
# What the class of the methods has in it and spells.
_IN_METHODS = frozenset({"int64_t", "Self", "self_", "TensorMethods"})


@dataclass(frozen=True, slots=True)
class RuntimeLayout(Layout):
    """Where files go, and the framework whose types they use."""

    types: Types
    headers: tuple[str, ...]

    def framework(self) -> list[Sequence[Header]]:
        """The block of headers that declare the types of the framework, if there are any."""
        return [[Header(name, True) for name in self.headers]] if self.headers else []


def build_operators(
    facts: Sequence[Operator], shards: int, types: Types
) -> tuple[CppOperator, ...]:
    """The operators in source order.

    There is no libtorch here, so `torch:`, which asks for one of its releases, is ignored.
    """
    return model.build_operators(
        facts,
        shards,
        lambda one: runtime.signature(one.schema, one.schema.base_name, types),
        lambda function: read_guard(function.guard or "") or "",
        _SPELLED | roots(types),
    )


def function_name(name: str) -> str:
    """The name of a function and of a method."""
    return cpp_text.free_name(cpp_text.function_name(name), _IN_METHODS)
