"""The typed calls: `operators.h` with one struct for an operator, `functions.h` with defaults, methods as a mixin.

struct add_Tensor {
  using schema = toy::Tensor(const toy::Tensor&, const toy::Tensor&, double);
  ...
  static toy::Tensor call(const toy::Tensor& self, const toy::Tensor& other, double alpha);
  static toy::Tensor redispatch(
      torchgen_lite::DispatchKeySet dispatchKeySet, const toy::Tensor& self, ...);
};

template <class Self>
struct TensorMethods {
  Self add(const Self& other, double alpha = 1) const;
};

Note [Order of headers]
A framework whose tensors have the generated methods includes `methods.h` before its tensor is defined and
`operators.h` behind it, and the generated headers include the framework's. So whichever header
comes first, the order has to be: the methods' declarations, the tensor, the typed calls, the
methods' bodies. `methods.h` includes nothing of the framework, `operators.h` includes the framework
first and the bodies last, and a shard of it, which only `operators.h` and its own source include,
includes neither. In the mixin the tensor is `Self` throughout, so that nothing is looked up in it before
a method is called.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

from torchgen_lite.languages.cpp import runtime
from torchgen_lite.languages.cpp import text as cpp_text
from torchgen_lite.languages.cpp.reserved import OF_METHODS
from torchgen_lite.languages.cpp.runtime import KEYSET, Types
from torchgen_lite.languages.cpp.signature import CppSignature, signature_headers, signatures_of
from torchgen_lite.languages.cpp.types import CType, headers_of
from torchgen_lite.languages.text import lengthened
from torchgen_lite.schema.grouped import by_name
from torchgen_lite.schema.model import bare_type
from torchgen_lite.targets.cpp import calls
from torchgen_lite.targets.cpp.layout import Layout, include_blocks, stem
from torchgen_lite.targets.cpp.model import CppOperator
from torchgen_lite.targets.cpp_runtime.options import RuntimeOptions
from torchgen_lite.targets.output import Context, Files, OutputFile

SELF = CType("Self")
# An operator, its signature without the receiver, and whether it leaves that as it is.
Method = tuple[CppOperator, CppSignature, bool]


def build_methods(shown: Sequence[Method], layout: Layout) -> Files:
    """Both headers, if any operator is a method."""
    if not shown:
        return
    context: Context = {"namespace": layout.namespace, "methods": shown}
    for name, more in (
        ("methods", {"includes": include_blocks(calls.function_headers(shown))}),
        ("method_bodies", {"folder": layout.folder}),
    ):
        yield OutputFile(layout.header(f"{name}.h"), f"cpp_runtime/{name}.h.j2", context | more)


def methods(operators: Sequence[CppOperator], types: Types) -> list[Method]:
    """The methods; of overloads that look the same in C++, only the first."""
    self_types = replace(types, tensor=SELF)
    signatures: list[Method] = []
    for operator in operators:
        schema = operator.schema
        receiver = by_name(schema.arguments).get("self")
        if receiver is None or bare_type(receiver.type) != "Tensor":
            continue
        if "method" in operator.function.variants:
            name = function_name(schema.base_name)
            returns = runtime.returns_type(schema, self_types)
            others = [a for a in schema.arguments if a is not receiver]
            signature = CppSignature(name, returns, runtime.arguments(others, self_types))
            signatures.append((operator, signature, not receiver.is_write))
    return list(calls.distinct(signatures))


def function_name(name: str) -> str:
    return lengthened(cpp_text.function_name(name), OF_METHODS)


_BODIES = "method_bodies.h"


def build_calls(
    operators: Sequence[CppOperator], layout: Layout, options: RuntimeOptions, *, has_methods: bool
) -> Files:
    """`operators.h` and `.cpp`, and `functions.h`, each for each shard."""
    framework = options.framework_headers
    is_whole = layout.shards == (None,)
    taken: calls.Taken = {}
    for shard in layout.shards:
        of_shard = [o for o in operators if o.shard == shard]
        headers = signature_headers(signatures_of(of_shard)) | headers_of(KEYSET.type)
        name = stem("operators", shard)
        shown = {"namespace": layout.namespace, "operators": of_shard, "keyset": KEYSET}
        includes = [*include_blocks(headers)]
        if is_whole:
            includes += framework
        declared = {
            "is_part": not is_whole,
            "includes": includes,
            "behind": layout.own(_BODIES).name if is_whole and has_methods else "",
        }
        header = {**shown, **declared}
        yield OutputFile(layout.header(f"{name}.h"), "cpp_runtime/operators.h.j2", header)
        defined = {**shown, "folder": layout.folder, "stem": name, "framework": framework}
        yield OutputFile(layout.source(f"{name}.cpp"), "cpp_runtime/operators.cpp.j2", defined)
        public = [o for o in of_shard if "function" in o.function.variants]
        arguments = partial(runtime.arguments, types=options.framework)
        views = list(calls.free_functions(public, arguments, _named, taken))
        first, *others = include_blocks(calls.function_headers(views)) or [()]
        includes = [*framework, [layout.own(f"{name}.h"), *first], *others]
        yield calls.function_file(layout, stem("functions", shard), includes, views)
    if not is_whole:
        bodies = []
        if has_methods:
            bodies = [layout.own(_BODIES)]
        yield calls.umbrella_file(layout, "operators", before=framework, after=bodies)
        yield calls.umbrella_file(layout, "functions", before=framework)


def _named(signature: CppSignature) -> CppSignature:
    return signature._replace(name=function_name(signature.name))
