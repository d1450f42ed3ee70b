"""`register_schema.cpp`, and `register_<key>.cpp` for each dispatch key in use.

TORCHGEN_LITE_LIBRARY_IMPL(toy, CPU, m) {
  m.impl("add.Tensor", TORCHGEN_LITE_FN(&::toy::add_cpu));
}
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from torchgen_lite.dialects import cpp_text
from torchgen_lite.targets.cpp.model import Operator
from torchgen_lite.targets.cpp.registrations import (
    KEY_TEMPLATE,
    SCHEMA_TEMPLATE,
    definition,
    implementation,
    library_views,
)
from torchgen_lite.targets.cpp.required import Kernel, shared_names
from torchgen_lite.targets.cpp_runtime.kernels import kernel_expression
from torchgen_lite.targets.cpp_runtime.model import RuntimeLayout
from torchgen_lite.targets.output import OutputFile

_LIBRARY = "#include <torchgen_lite/library.h>"


def build_schema(
    operators: Sequence[Operator], layout: RuntimeLayout, library: str
) -> Iterator[OutputFile]:
    """The definitions of the operators."""
    if not operators:
        return
    macro = "TORCHGEN_LITE_LIBRARY" + ("_FRAGMENT" if library == "fragment" else "")
    definitions = [
        (o.function.namespace, definition(o, [cpp_text.quote(tag) for tag in o.function.tags]))
        for o in operators
    ]
    context = {
        "includes": [_LIBRARY],
        "macro": macro,
        "python_module": "",
        "libraries": library_views(definitions),
    }
    yield OutputFile(layout.source("register_schema.cpp"), SCHEMA_TEMPLATE, context)


def build_keys(
    kernels: Sequence[Kernel], layout: RuntimeLayout, includes: Sequence[str]
) -> Iterator[OutputFile]:
    """One file for each key, or one for each shard of it; `includes` declare the kernels."""
    shared = shared_names(kernels, layout.namespace)
    lines = [_LIBRARY, "", *includes]
    if shared:
        # The type that says which kernel is meant is that of a typed call.
        lines.append(f"#include <{layout.folder}/operators.h>")
    by_file: dict[tuple[str, int | None], list[Kernel]] = {}
    for kernel in kernels:
        by_file.setdefault((kernel.key, kernel.operator.shard), []).append(kernel)
    for (key, shard), own in by_file.items():
        stem = f"register_{key.lower()}" + ("" if shard is None else f"_{shard}")
        statements = []
        for kernel in own:
            found = kernel_expression(kernel, layout.namespace, shared)
            view = implementation(kernel.operator, found, kernel.operator.guard)
            statements.append((kernel.operator.function.namespace, view))
        context = {
            "includes": lines,
            "wrappers": [],
            "macro": "TORCHGEN_LITE_LIBRARY_IMPL",
            "key": key,
            "libraries": library_views(statements),
        }
        yield OutputFile(layout.source(f"{stem}.cpp"), KEY_TEMPLATE, context)
