"""What the typed calls of the C++ targets have in common: the struct of an operator, free functions."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

from torchgen_lite.dialects import cpp_text
from torchgen_lite.dialects.cpp.signature import CppParameter, CppSignature, signature_headers
from torchgen_lite.dialects.cpp.types import CType
from torchgen_lite.schema import Argument
from torchgen_lite.targets.cpp.model import Operator

# The names and types of functions that are there.
Taken = set[tuple[str, tuple[CType, ...]]]


@dataclass(frozen=True, slots=True)
class CallView:
    """A function of a struct: its declaration, and its definition outside."""

    declaration: str
    opening: str
    body: str


@dataclass(frozen=True, slots=True)
class OperatorView:
    """A struct with its calls. Each text may have several lines; `handle` stands before the body of a call."""

    flat: str
    guard: str
    schema: str
    name: str
    overload_name: str
    schema_str: str
    calls: tuple[CallView, ...]
    handle: str = ""


@dataclass(frozen=True, slots=True)
class FunctionView:
    """An inline function, and the headers that its declaration needs."""

    guard: str
    comment: str
    opening: str
    body: str
    headers: frozenset[str]


def operator_view(operator: Operator, calls: Sequence[CallView], handle: str = "") -> OperatorView:
    """The struct of one operator."""
    constant, overload = "static constexpr const char*", operator.schema.overload_name
    signature = operator.signature
    return OperatorView(
        operator.flat,
        operator.guard,
        cpp_text.function_alias("schema", signature.returns, signature.types, indent=2),
        cpp_text.constant(f"{constant} name", cpp_text.quote(operator.qualified), indent=2),
        cpp_text.constant(f"{constant} overload_name", cpp_text.quote(overload), indent=2),
        cpp_text.constant(f"{constant} schema_str", cpp_text.quote(operator.schema_text), indent=2),
        tuple(calls),
        handle,
    )


def call_view(
    operator: Operator, name: str, caller: str, first: Sequence[str] = (), *more: CppParameter
) -> CallView:
    """The call of that name, which hands its arguments to `caller` behind those in `first`.

    Parameters in `more` come before those of the operator.
    """
    parameters, returns = (*more, *operator.signature.parameters), operator.signature.returns
    passed = [*first, *[p.name for p in more], *operator.names]
    return CallView(
        declare("static ", returns, name, parameters, ");", indent=2),
        declare("", returns, f"{operator.flat}::{name}", parameters, ") {"),
        cpp_text.call(f"return {caller}(", passed, ");", indent=2),
    )


def dispatched_view(
    operator: Operator, keyset: CppParameter, handle: str, found: str
) -> OperatorView:
    """The struct of an operator whose calls go through its entry in a dispatcher.

    `handle` declares what calls the operator (`const auto& op`) but for its name; `found` is its value.
    """
    name = cpp_text.free_name("op", operator.names)
    calls = [
        call_view(operator, "call", f"{name}.call"),
        call_view(operator, "redispatch", f"{name}.redispatch", (), keyset),
    ]
    return operator_view(operator, calls, cpp_text.constant(f"{handle} {name}", found, indent=2))


def free_signatures(
    operator: Operator, arguments: Callable[[Sequence[Argument]], tuple[CppParameter, ...]]
) -> Iterator[CppSignature]:
    """`add_out(out, self, other)` and, in the order of the schema, `add_outf(self, other, out)`."""
    schema, signature = operator.schema, operator.signature
    if not schema.out:
        yield signature
        return
    swapped = arguments([*schema.out, *[a for a in schema.arguments if not a.is_out]])
    yield replace(signature, name=f"{schema.base_name}_out", parameters=swapped)
    yield replace(signature, name=f"{schema.base_name}_outf", parameters=signature.plain)


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


def distinct(signature: CppSignature, taken: Taken) -> bool:
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
