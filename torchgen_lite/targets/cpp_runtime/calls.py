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
from dataclasses import replace
from functools import partial

from torchgen_lite.dialects.cpp import runtime
from torchgen_lite.dialects.cpp.runtime import KEYSET, Types
from torchgen_lite.dialects.cpp.signature import signature_headers
from torchgen_lite.dialects.cpp.types import headers_of
from torchgen_lite.targets.cpp.calls import (
    FunctionView,
    Taken,
    dispatched_view,
    distinct,
    free_signatures,
    function_view,
)
from torchgen_lite.targets.cpp.layout import include_lines, stem
from torchgen_lite.targets.cpp.model import Operator
from torchgen_lite.targets.cpp_runtime.model import RuntimeLayout, function_name
from torchgen_lite.targets.output import OutputFile


def build_calls(
    operators: Sequence[Operator], layout: RuntimeLayout, *, has_methods: bool
) -> Iterator[OutputFile]:
    """`operators.h` and `.cpp`, and `functions.h`, each for each shard."""
    context = {
        "namespace": layout.namespace,
        "folder": layout.folder,
        "framework": layout.framework(),
    }
    is_split = layout.shards != (None,)
    taken: Taken = set()
    for shard in layout.shards:
        own = [o for o in operators if o.shard == shard]
        name = stem("operators", shard)
        more: dict[str, object] = {
            "stem": name,
            "is_whole": not is_split,
            "has_methods": has_methods,
            "includes": include_lines(
                signature_headers(o.signature for o in own) | headers_of(KEYSET.type)
            ),
            "operators": [dispatched_view(o, KEYSET) for o in own],
        }
        header, source = layout.header(f"{name}.h"), layout.source(f"{name}.cpp")
        yield OutputFile(header, "cpp_runtime/operators.h.j2", context | more)
        yield OutputFile(source, "cpp_runtime/operators.cpp.j2", context | more)
        shown = list(functions(own, layout.types, taken))
        more = {
            "operators_header": f"{name}.h",
            "includes": include_lines({header for view in shown for header in view.headers}),
            "functions": shown,
        }
        path = layout.header(f"{stem('functions', shard)}.h")
        yield OutputFile(path, "cpp_runtime/functions.h.j2", context | more)
    if is_split:
        for name in ("operators", "functions"):
            more = {
                "headers": [f"{stem(name, shard)}.h" for shard in layout.shards],
                "has_methods": has_methods and name == "operators",
            }
            path = layout.header(f"{name}.h")
            yield OutputFile(path, "cpp_runtime/umbrella.h.j2", context | more)


def functions(operators: Sequence[Operator], types: Types, taken: Taken) -> Iterator[FunctionView]:
    """The free functions, with defaults; `taken` are those of other shards."""
    for operator in operators:
        if "function" not in operator.function.variants:
            continue
        for signature in free_signatures(operator, partial(runtime.arguments, types=types)):
            if distinct(signature, taken):
                shown = replace(signature, name=function_name(signature.name))
                yield function_view(operator, shown, operator.names)
