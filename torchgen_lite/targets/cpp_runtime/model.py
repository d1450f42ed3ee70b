"""The operators of a library for the runtime, and what their declarations need."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from torchgen_lite.dialects import cpp_text
from torchgen_lite.dialects.cpp import runtime
from torchgen_lite.dialects.cpp.runtime import Types
from torchgen_lite.loader.entry import NativeFunction
from torchgen_lite.targets.cpp.conditions import guard_expression
from torchgen_lite.targets.cpp.layout import Layout
from torchgen_lite.targets.cpp.model import Operator, build_operator
from torchgen_lite.targets.cpp_runtime.framework import roots

# What a struct of a typed call has in it, and what its definitions spell.
_TAKEN = frozenset(
    {"schema", "ptr_schema", "name", "overload_name", "schema_str", "call", "redispatch"}
    | {"std", "torchgen_lite", "int64_t", "ops"}
)
# What the methods' class has in it and spells, and so the functions.
MEMBERS = frozenset({"int64_t", "Self", "self_", "TensorMethods"})


@dataclass(frozen=True, slots=True)
class RuntimeLayout(Layout):
    """Where files go, and the framework whose types they use."""

    types: Types
    headers: tuple[str, ...]

    def framework(self) -> list[str]:
        """The lines that declare the types of the framework."""
        return [f'#include "{header}"' for header in self.headers]


def build_operators(
    functions: Sequence[NativeFunction], shards: int, types: Types
) -> tuple[Operator, ...]:
    """The operators in source order; the first namespace is the home.

    No libtorch is here, so `torch:`, which asks for one of its releases, says nothing.
    """
    home = functions[0].namespace if functions else ""
    operators = [
        build_operator(
            function,
            home,
            shards,
            runtime.signature(function.func, function.func.base_name, types),
            cpp_text.condition(guard_expression(function.guard)) if function.guard else "",
        )
        for function in functions
    ]
    flat = {operator.flat for operator in operators}
    avoided = _TAKEN | cpp_text.KEYWORDS | roots(types)
    for index, operator in enumerate(operators):
        if operator.flat in avoided:
            operators[index] = replace(
                operator, flat=cpp_text.free_name(operator.flat, avoided | flat)
            )
    return tuple(operators)
