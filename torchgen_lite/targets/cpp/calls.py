"""What the typed calls of the C++ targets have in common: the struct of an operator, free functions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from torchgen_lite.dialects import cpp_text
from torchgen_lite.dialects.cpp_signature import CppParameter
from torchgen_lite.targets.cpp.model import Operator


@dataclass(frozen=True, slots=True)
class OperatorView:
    """A struct with its calls. Each text may have several lines."""

    flat: str
    guard: str
    schema: str
    name: str
    overload_name: str
    schema_str: str
    call: str
    redispatch: str
    handle: str
    call_opening: str
    call_body: str
    redispatch_opening: str
    redispatch_body: str


@dataclass(frozen=True, slots=True)
class FunctionView:
    """An inline function."""

    guard: str
    comment: str
    opening: str
    body: str


def operator_view(
    operator: Operator, keyset: CppParameter, handle: str, found: str
) -> OperatorView:
    """The struct of one operator, and the definitions of its calls.

    `handle` declares what calls the operator (`const auto& op`) but for its name; `found` is its value.
    """
    signature, flat = operator.signature, operator.flat
    plain, keyed = signature.parameters, (keyset, *signature.parameters)
    names = [cpp_text.identifier(p.name) for p in plain]
    constant, overload = "static constexpr const char*", operator.schema.overload_name
    types = [p.type for p in plain]
    name = cpp_text.free_name("op", names)
    return OperatorView(
        flat,
        operator.guard,
        cpp_text.function_alias("schema", signature.returns, types, indent=2),
        cpp_text.constant(f"{constant} name", cpp_text.quote(operator.qualified), indent=2),
        cpp_text.constant(f"{constant} overload_name", cpp_text.quote(overload), indent=2),
        cpp_text.constant(f"{constant} schema_str", cpp_text.quote(operator.schema_text), indent=2),
        declare("static ", signature.returns, "call", plain, ");", indent=2),
        declare("static ", signature.returns, "redispatch", keyed, ");", indent=2),
        cpp_text.constant(f"{handle} {name}", found, indent=2),
        declare("", signature.returns, f"{flat}::call", plain, ") {"),
        cpp_text.call(f"return {name}.call(", names, ");", indent=2),
        declare("", signature.returns, f"{flat}::redispatch", keyed, ") {"),
        cpp_text.call(f"return {name}.redispatch(", [keyset.name, *names], ");", indent=2),
    )


def comment(operator: Operator) -> str:
    """What stands above a function: the whole schema."""
    return f"// {operator.function.namespace}::{operator.schema_text}"


def declare(
    head: str,
    returns: str,
    name: str,
    parameters: Sequence[CppParameter],
    close: str,
    *,
    indent: int = 0,
    defaults: bool = False,
) -> str:
    """A function with its parameters."""
    items = cpp_text.parameters(parameters, defaults=defaults, indent=indent, tail=len(close))
    return cpp_text.declaration(head, returns, name, items, close, indent=indent)
