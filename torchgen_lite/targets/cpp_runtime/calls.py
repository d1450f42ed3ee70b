"""The typed calls: `operators.h` with one struct for an operator, and `functions.h` with defaults.

struct add_Tensor {
  using schema = toy::Tensor(const toy::Tensor&, const toy::Tensor&, double);
  ...
  static toy::Tensor call(const toy::Tensor& self, const toy::Tensor& other, double alpha);
  static toy::Tensor redispatch(
      torchgen_lite::DispatchKeySet dispatchKeySet, const toy::Tensor& self, ...);
};

Note [Order of headers]
A framework whose tensors have the generated methods includes `methods.h` before its tensor is defined and
`operators.h` behind it, and the generated headers include the framework's. So whichever header comes
first, these have to follow one another: the methods' declarations, the tensor, the typed calls, the
methods' bodies. `methods.h` includes nothing of the framework, `operators.h` includes the framework first
and the bodies last, and a shard of it, which only `operators.h` and its own source include, includes
neither.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from torchgen_lite.dialects import cpp_runtime, cpp_text
from torchgen_lite.dialects.cpp_runtime import KEYSET, Types
from torchgen_lite.dialects.cpp_signature import CppParameter
from torchgen_lite.targets.cpp.model import Operator
from torchgen_lite.targets.cpp_runtime.model import (
    MEMBERS,
    Layout,
    free_name,
    includes_of,
    signature_texts,
)
from torchgen_lite.targets.output import OutputFile


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


def build_calls(
    operators: Sequence[Operator], layout: Layout, *, has_methods: bool
) -> Iterator[OutputFile]:
    """`operators.h` and `.cpp`, and `functions.h`, each for each shard."""
    context = {
        "namespace": layout.namespace,
        "folder": layout.folder,
        "framework": layout.framework(),
    }
    is_split = layout.shards != (None,)
    taken: set[tuple[str, ...]] = set()
    for shard in layout.shards:
        own = [o for o in operators if o.shard == shard]
        stem = _stem("operators", shard)
        more: dict[str, object] = {
            "stem": stem,
            "is_whole": not is_split,
            "has_methods": has_methods,
            "includes": includes_of([KEYSET.type, *signature_texts(o.signature for o in own)]),
            "operators": [operator_view(o) for o in own],
        }
        header, source = layout.header(f"{stem}.h"), layout.source(f"{stem}.cpp")
        yield OutputFile(header, "cpp_runtime/operators.h.j2", context | more)
        yield OutputFile(source, "cpp_runtime/operators.cpp.j2", context | more)
        shown = list(functions(own, layout.types, taken))
        more = {
            "operators_header": f"{stem}.h",
            "includes": includes_of([view.opening for view in shown]),
            "functions": shown,
        }
        path = layout.header(f"{_stem('functions', shard)}.h")
        yield OutputFile(path, "cpp_runtime/functions.h.j2", context | more)
    if is_split:
        for name in ("operators", "functions"):
            more = {
                "headers": [f"{_stem(name, shard)}.h" for shard in layout.shards],
                "has_methods": has_methods and name == "operators",
            }
            path = layout.header(f"{name}.h")
            yield OutputFile(path, "cpp_runtime/umbrella.h.j2", context | more)


def _stem(name: str, shard: int | None) -> str:
    return name if shard is None else f"{name}_{shard}"


def operator_view(operator: Operator) -> OperatorView:
    """The struct of one operator, and the definitions of its calls."""
    signature, flat = operator.signature, operator.flat
    plain, keyed = signature.parameters, (KEYSET, *signature.parameters)
    names = [cpp_text.identifier(p.name) for p in plain]
    constant, overload = "static constexpr const char*", operator.schema.overload_name
    types = [p.type for p in plain]
    handle = "op_" if "op" in names else "op"
    # In a namespace of the source's own, so that sources may be compiled as one.
    found = f"{_stem('operators', operator.shard)}_detail::handle<ops::{flat}>"
    return OperatorView(
        flat,
        operator.guard,
        cpp_text.function_alias("schema", signature.returns, types, indent=2),
        cpp_text.constant(f"{constant} name", cpp_text.quote(operator.qualified), indent=2),
        cpp_text.constant(f"{constant} overload_name", cpp_text.quote(overload), indent=2),
        cpp_text.constant(f"{constant} schema_str", cpp_text.quote(operator.schema_text), indent=2),
        declare("static ", signature.returns, "call", plain, ");", indent=2),
        declare("static ", signature.returns, "redispatch", keyed, ");", indent=2),
        cpp_text.constant(f"const auto& {handle}", found, indent=2),
        declare("", signature.returns, f"{flat}::call", plain, ") {"),
        cpp_text.call(f"return {handle}.call(", names, ");", indent=2),
        declare("", signature.returns, f"{flat}::redispatch", keyed, ") {"),
        cpp_text.call(f"return {handle}.redispatch(", [KEYSET.name, *names], ");", indent=2),
    )


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


def functions(
    operators: Sequence[Operator], types: Types, taken: set[tuple[str, ...]]
) -> Iterator[FunctionView]:
    """`add_out(out, self, other)` and, in the order of the schema, `add_outf(self, other, out)`.

    Overloads that look the same in C++ (`int` and `SymInt`) can't both be there: the first one is. `taken`
    has the names and types of those before.
    """
    for operator in operators:
        if "function" not in operator.function.variants:
            continue
        for name, parameters in _styles(operator, types):
            key = (name, *[p.type for p in parameters])
            if key not in taken:
                taken.add(key)
                yield _function(operator, free_name(cpp_text.identifier(name), MEMBERS), parameters)


def _styles(operator: Operator, types: Types) -> Iterator[tuple[str, Sequence[CppParameter]]]:
    schema = operator.schema
    if not schema.out:
        yield schema.base_name, cpp_runtime.with_defaults(schema.arguments, types)
        return
    inputs = [a for a in schema.arguments if not a.is_out]
    yield f"{schema.base_name}_out", cpp_runtime.with_defaults([*schema.out, *inputs], types)
    yield f"{schema.base_name}_outf", operator.signature.parameters


def _function(operator: Operator, name: str, parameters: Sequence[CppParameter]) -> FunctionView:
    names = [cpp_text.identifier(p.name) for p in operator.signature.parameters]
    return FunctionView(
        operator.guard,
        f"// {operator.function.namespace}::{operator.schema_text}",
        declare("inline ", operator.signature.returns, name, parameters, ") {", defaults=True),
        cpp_text.call(f"return ops::{operator.flat}::call(", names, ");", indent=2),
    )
