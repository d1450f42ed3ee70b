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
`operators.h` behind it, and the generated headers include the framework's. So whichever header
comes first, the order has to be: the methods' declarations, the tensor, the typed calls, the
methods' bodies. `methods.h` includes nothing of the framework, `operators.h` includes the framework
first and the bodies last, and a shard of it, which only `operators.h` and its own source include,
includes neither.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial

from torchgen_lite.languages.cpp import runtime
from torchgen_lite.languages.cpp.runtime import KEYSET, Types
from torchgen_lite.languages.cpp.signature import signature_headers
from torchgen_lite.languages.cpp.types import headers_of
from torchgen_lite.targets.cpp.calls import (
    CppFunction,
    Taken,
    distinct,
    free_signatures,
    function_file,
    function_headers,
    umbrella_file,
)
from torchgen_lite.targets.cpp.layout import Layout, include_blocks, stem
from torchgen_lite.targets.cpp.model import CppOperator
from torchgen_lite.targets.cpp_runtime.methods import function_name
from torchgen_lite.targets.cpp_runtime.options import RuntimeOptions
from torchgen_lite.targets.output import OutputFile

_BODIES = "method_bodies.h"


def build_calls(
    operators: Sequence[CppOperator], layout: Layout, options: RuntimeOptions, *, has_methods: bool
) -> Iterator[OutputFile]:
    """`operators.h` and `.cpp`, and `functions.h`, each for each shard."""
    framework = options.framework_headers
    is_whole = layout.shards == (None,)
    taken: Taken = {}
    for shard in layout.shards:
        own = [o for o in operators if o.shard == shard]
        headers = signature_headers(o.signature for o in own) | headers_of(KEYSET.type)
        calls = stem("operators", shard)
        shown = {"namespace": layout.namespace, "operators": own, "keyset": KEYSET}
        declared = {
            "is_part": not is_whole,
            "includes": [*include_blocks(headers), *(framework if is_whole else [])],
            "behind": layout.own(_BODIES).name if is_whole and has_methods else "",
        }
        header = {**shown, **declared}
        yield OutputFile(layout.header(f"{calls}.h"), "cpp_runtime/operators.h.j2", header)
        defined = {**shown, "folder": layout.folder, "stem": calls, "framework": framework}
        yield OutputFile(layout.source(f"{calls}.cpp"), "cpp_runtime/operators.cpp.j2", defined)
        views = list(functions(own, options.framework, taken))
        first, *others = include_blocks(function_headers(views)) or [()]
        includes = [*framework, [layout.own(f"{calls}.h"), *first], *others]
        yield function_file(layout, stem("functions", shard), includes, views)
    if not is_whole:
        bodies = [layout.own(_BODIES)] if has_methods else []
        yield umbrella_file(layout, "operators", before=framework, after=bodies)
        yield umbrella_file(layout, "functions", before=framework)


def functions(
    operators: Sequence[CppOperator], types: Types, taken: Taken
) -> Iterator[CppFunction]:
    """The free functions, with defaults; `taken` are those of other shards."""
    for operator in operators:
        if "function" not in operator.function.variants:
            continue
        for signature in free_signatures(operator, partial(runtime.arguments, types=types)):
            if distinct(operator, signature, taken):
                shown = replace(signature, name=function_name(signature.name))
                yield operator, shown, operator.names
