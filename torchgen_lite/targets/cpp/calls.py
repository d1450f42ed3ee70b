"""What the typed calls of the C++ targets have in common: the struct of an operator, free functions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from torchgen_lite.dialects import cpp_text
from torchgen_lite.dialects.cpp.signature import CppParameter, CppSignature, signature_headers
from torchgen_lite.dialects.cpp.types import CType
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
    """An inline function, and the headers that its declaration needs."""

    guard: str
    comment: str
    opening: str
    body: str
    headers: frozenset[str]


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
    name = cpp_text.free_name("op", names)
    return OperatorView(
        flat,
        operator.guard,
        cpp_text.function_alias("schema", signature.returns, signature.types, indent=2),
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


def function_view(
    operator: Operator, signature: CppSignature, call: str, passed: Sequence[str]
) -> FunctionView:
    """A function with that signature, which makes the `call` of the struct."""
    name = cpp_text.function_name(signature.name)
    return FunctionView(
        operator.guard,
        f"// {operator.function.namespace}::{operator.schema_text}",
        declare("inline ", signature.returns, name, signature.parameters, ") {", defaults=True),
        cpp_text.call(f"return ops::{operator.flat}::{call}(", passed, ");", indent=2),
        signature_headers([signature], defaults=True),
    )


def distinct(signature: CppSignature, taken: set[tuple[str, tuple[CType, ...]]]) -> bool:
    """Whether no function of that name and these types is `taken`; then this one is.

    Overloads that look the same in C++ (`int` and `SymInt`) can't both be there: the first one is.
    """
    key = (signature.name, signature.types)
    is_new = key not in taken
    taken.add(key)
    return is_new


def declare(
    head: str,
    returns: CType,
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
