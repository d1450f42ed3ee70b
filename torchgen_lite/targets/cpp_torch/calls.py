"""The typed calls: `operators.h` with one struct for an operator, and functions that call them.

struct add_Tensor {
  using schema = at::Tensor(const at::Tensor&, const at::Tensor&, const at::Scalar&);
  ...
  static at::Tensor call(const at::Tensor& self, const at::Tensor& other, const at::Scalar& alpha);
  static at::Tensor redispatch(c10::DispatchKeySet dispatchKeySet, const at::Tensor& self, ...);
};

inline at::Tensor add(const at::Tensor& self, const at::Tensor& other, const at::Scalar& alpha = 1) {
  return ops::add_Tensor::call(self, other, alpha);
}
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from torchgen_lite.dialects.cpp import public
from torchgen_lite.dialects.cpp.public import Style
from torchgen_lite.dialects.cpp.signature import KEYSET, CppSignature, signature_headers
from torchgen_lite.targets.cpp.calls import (
    FunctionView,
    Taken,
    dispatched_view,
    distinct,
    function_view,
)
from torchgen_lite.targets.cpp.layout import Layout, include_lines, stem
from torchgen_lite.targets.cpp.model import Operator
from torchgen_lite.targets.cpp_torch import types
from torchgen_lite.targets.cpp_torch.arguments import pass_on
from torchgen_lite.targets.output import OutputFile

# What nearly every signature needs.
_ALWAYS = ("ATen/core/Tensor.h", "c10/core/Scalar.h")


def build_calls(operators: Sequence[Operator], layout: Layout) -> Iterator[OutputFile]:
    """`operators.h` and `.cpp`, `functions.h` and `redispatch_functions.h`, each for each shard."""
    context: dict[str, object] = {"namespace": layout.namespace, "folder": layout.folder}
    more: dict[str, object]
    yield OutputFile(layout.header("version.h"), "cpp_torch/version.h.j2", {})
    yield OutputFile(layout.header("arguments.h"), "cpp_torch/arguments.h.j2", context)
    for shard in layout.shards:
        own = [o for o in operators if o.shard == shard]
        operators_stem = stem("operators", shard)
        signatures = [o.signature for o in own]
        includes = declaration_includes(own, signatures, layout, "c10/core/DispatchKeySet.h")
        views = [dispatched_view(o, KEYSET) for o in own]
        more = {"stem": operators_stem, "includes": includes, "operators": views}
        yield OutputFile(
            layout.header(f"{operators_stem}.h"), "cpp_torch/operators.h.j2", context | more
        )
        yield OutputFile(
            layout.source(f"{operators_stem}.cpp"), "cpp_torch/operators.cpp.j2", context | more
        )
        for name, inner, call, build in (
            ("functions", "functions", "call", functions),
            ("redispatch_functions", "redispatch", "redispatch", redispatch_functions),
        ):
            shown = list(build(own))
            more = {
                "inner": inner,
                "call": call,
                "operators_header": f"{operators_stem}.h",
                "has_limits": any("limits" in view.headers for view in shown),
                "functions": shown,
            }
            path = layout.header(f"{stem(name, shard)}.h")
            yield OutputFile(path, "cpp_torch/functions.h.j2", context | more)
    if layout.shards != (None,):
        for name in ("operators", "functions", "redispatch_functions"):
            headers = [f"{stem(name, shard)}.h" for shard in layout.shards]
            more = {"headers": headers}
            yield OutputFile(layout.header(f"{name}.h"), "cpp/umbrella.h.j2", context | more)


def declaration_includes(
    operators: Sequence[Operator],
    signatures: Sequence[CppSignature],
    layout: Layout,
    *more: str,
) -> list[str]:
    """What declarations with these signatures need, and the conditions of these operators."""
    version = [f"{layout.folder}/version.h"] if any(o.guard for o in operators) else []
    headers = signature_headers(signatures).union(_ALWAYS, more)
    return include_lines(headers, after=version)


def functions(operators: Sequence[Operator]) -> Iterator[FunctionView]:
    """The free functions of the public C++ dialect, with defaults."""
    shown = [o for o in operators if "function" in o.function.variants]
    for operator, signature, style in _signatures(shown):
        yield function_view(operator, signature, pass_on(operator, style))


def redispatch_functions(operators: Sequence[Operator]) -> Iterator[FunctionView]:
    """The same with a keyset first. Operators that are only methods have them too, as in PyTorch."""
    for operator, signature, style in _signatures(operators):
        keyed = replace(signature, parameters=(KEYSET, *signature.parameters))
        passed = [KEYSET.name, *pass_on(operator, style)]
        yield function_view(operator, keyed, passed)


def _signatures(operators: Sequence[Operator]) -> Iterator[tuple[Operator, CppSignature, Style]]:
    taken: Taken = set()
    for operator in operators:
        for style in public.styles(operator.function):
            signature = types.own_types(
                operator.function, public.signature(operator.function, style)
            )
            if distinct(signature, taken):
                yield operator, signature, style
