"""The typed calls: `operators.h` with one struct for an operator, and `functions.h` with defaults.

Note [Operators that C++ cannot call]
`torch_call_dispatcher` of libtorch 2.13 takes several results off its stack from the last to the first and
converts each by the type of its mirror image: the last by the type of the first. With `(Tensor, int)`
that is an error, with `(Tensor, Tensor?)` a wild pointer. So an operator has a typed call only if its
results have the same types read from both ends. Kernels are not concerned.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from torchgen_lite.dialects import cpp_text
from torchgen_lite.dialects.cpp import stable
from torchgen_lite.dialects.cpp.signature import (
    CppSignature,
    signature_headers,
    unrooted_signature,
)
from torchgen_lite.dialects.cpp.types import CType
from torchgen_lite.targets.cpp.calls import FunctionView, distinct, function_view
from torchgen_lite.targets.cpp.layout import include_lines, stem
from torchgen_lite.targets.cpp.model import Operator
from torchgen_lite.targets.output import OutputFile


@dataclass(frozen=True, slots=True)
class CallView:
    """A struct with a typed call. Each text may have several lines."""

    flat: str
    guard: str
    schema: str
    name: str
    overload_name: str
    schema_str: str
    is_callable: bool
    declaration: str
    opening: str
    body: str


def build_calls(
    operators: Sequence[Operator], root: str, folder: str, namespace: str
) -> Iterator[OutputFile]:
    """`call_operator.h`, `operators.h`, `operators.cpp` (a pair for each shard), `functions.h`."""
    include = f"{root}/include/{folder}"
    context: dict[str, object] = {"namespace": namespace, "folder": folder}
    yield OutputFile(f"{include}/version.h", "cpp_stable/version.h.j2", {})
    yield OutputFile(f"{include}/call_operator.h", "cpp_stable/call_operator.h.j2", context)
    shards = sorted({o.shard for o in operators if o.shard is not None})
    for shard in (*shards,) or (None,):
        name = stem("operators", shard)
        own = [o for o in operators if o.shard == shard]
        more: dict[str, object] = {
            "stem": name,
            "includes": declaration_includes(own, folder),
            "operators": [call_view(o) for o in own],
        }
        yield OutputFile(f"{include}/{name}.h", "cpp_stable/operators.h.j2", context | more)
        yield OutputFile(f"{root}/src/{name}.cpp", "cpp_stable/operators.cpp.j2", context | more)
    if shards:
        more = {"headers": [f"operators_{shard}.h" for shard in shards]}
        yield OutputFile(f"{include}/operators.h", "cpp/umbrella.h.j2", context | more)
    functions = list(function_views(operators))
    more = {
        "has_limits": any("limits" in view.headers for view in functions),
        "functions": functions,
    }
    yield OutputFile(f"{include}/functions.h", "cpp_stable/functions.h.j2", context | more)


def declaration_includes(operators: Sequence[Operator], folder: str) -> list[str]:
    """What declarations of these operators need: our header, PyTorch's, the standard library's."""
    version = [f"{folder}/version.h"] if any(o.guard for o in operators) else []
    return include_lines(signature_headers(o.signature for o in operators), before=version)


def call_view(operator: Operator) -> CallView:
    """The struct of one operator."""
    returns, parameters = operator.signature.returns, operator.signature.parameters
    items = cpp_text.parameters(parameters)
    inner = cpp_text.parameters(parameters, indent=2)
    constant = "static constexpr const char*"
    overload = cpp_text.quote(operator.schema.overload_name)
    return CallView(
        operator.flat,
        operator.guard,
        cpp_text.function_alias("schema", returns, operator.signature.types, indent=2),
        cpp_text.constant(f"{constant} name", cpp_text.quote(operator.qualified), indent=2),
        cpp_text.constant(f"{constant} overload_name", overload, indent=2),
        cpp_text.constant(f"{constant} schema_str", cpp_text.quote(operator.schema_text), indent=2),
        is_callable(operator),
        cpp_text.declaration("static ", returns, "call", inner, ");", indent=2),
        cpp_text.declaration("", returns, f"{operator.flat}::call", items, ") {"),
        _call("detail::call_operator", operator, [f"ops::{operator.flat}()"]),
    )


def is_callable(operator: Operator) -> bool:
    """Whether libtorch gives the results as they are; see Note [Operators that C++ cannot call]."""
    types = [stable.owned_type(r.type) for r in operator.schema.returns]
    return types == types[::-1]


def _call(head: str, operator: Operator, first: Sequence[str] = ()) -> str:
    names = [cpp_text.identifier(p.name) for p in operator.signature.parameters]
    return cpp_text.call(f"return {head}(", [*first, *names], ");", indent=2)


def function_views(operators: Sequence[Operator]) -> Iterator[FunctionView]:
    """`add_out(out, self, other)` and, in the order of the schema, `add_outf(self, other, out)`."""
    taken: set[tuple[str, tuple[CType, ...]]] = set()
    for operator in filter(is_callable, operators):
        names = [cpp_text.identifier(p.name) for p in operator.signature.parameters]
        for signature in _styles(operator):
            if distinct(signature, taken):
                # Among functions nothing can hide `std`: a function of that name doesn't.
                yield function_view(operator, unrooted_signature(signature), "call", names)


def _styles(operator: Operator) -> Iterator[CppSignature]:
    schema, plain = operator.schema, operator.signature
    if not schema.out:
        yield plain
        return
    inputs = [a for a in schema.arguments if not a.is_out]
    swapped = stable.arguments([*schema.out, *inputs])
    yield replace(plain, name=f"{schema.base_name}_out", parameters=swapped)
    yield replace(plain, name=f"{schema.base_name}_outf", parameters=plain.plain)
