"""`register_schema.cpp`, and `register_<key>.cpp` for each dispatch key in use.

TORCHGEN_LITE_LIBRARY_IMPL(toy, CPU, m) {
  m.impl("add.Tensor", TORCHGEN_LITE_FN(&::toy::add_cpu));
}
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from torchgen_lite.dialects import cpp_text
from torchgen_lite.targets.cpp.demanded import Kernel, shared_names
from torchgen_lite.targets.cpp.model import Operator
from torchgen_lite.targets.cpp_runtime.kernels import kernel_expression
from torchgen_lite.targets.cpp_runtime.model import RuntimeLayout
from torchgen_lite.targets.output import OutputFile

# A list of includes and of blocks; nothing of libtorch is in it.
TEMPLATE = "cpp_torch/register.cpp.j2"
_LIBRARY = "#include <torchgen_lite/library.h>"


@dataclass(frozen=True, slots=True)
class StatementView:
    """A statement in the block of a library."""

    guard: str
    text: str


@dataclass(frozen=True, slots=True)
class LibraryView:
    """A block of statements for one namespace of operators."""

    opening: str
    statements: tuple[StatementView, ...]


def build_schema(
    operators: Sequence[Operator], layout: RuntimeLayout, library: str
) -> Iterator[OutputFile]:
    """The definitions of the operators."""
    if not operators:
        return
    macro = "TORCHGEN_LITE_LIBRARY" + ("_FRAGMENT" if library == "fragment" else "")
    libraries = [
        LibraryView(
            f"{macro}({namespace}, m) {{",
            tuple([_definition(o) for o in operators if o.function.namespace == namespace]),
        )
        for namespace in dict.fromkeys(o.function.namespace for o in operators)
    ]
    context = {"includes": [_LIBRARY], "wrappers": [], "libraries": libraries}
    yield OutputFile(layout.source("register_schema.cpp"), TEMPLATE, context)


def _definition(operator: Operator) -> StatementView:
    items = [cpp_text.quote(operator.schema_text)]
    if operator.function.tags:
        tags = [cpp_text.quote(tag) for tag in operator.function.tags]
        line = cpp_text.call("m.def(", [*items, f"{{{', '.join(tags)}}}"], ");", indent=2)
        if "\n" not in line:
            return StatementView(operator.guard, line)
        # Column 6 is where an argument stands that has a line of its own.
        items.append(cpp_text.braced(tags, indent=6, tail=2))
    return StatementView(operator.guard, cpp_text.call("m.def(", items, ");", indent=2))


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
        libraries = []
        for namespace in dict.fromkeys(k.operator.function.namespace for k in own):
            statements = [
                _implementation(kernel, layout.namespace, shared)
                for kernel in own
                if kernel.operator.function.namespace == namespace
            ]
            opening = f"TORCHGEN_LITE_LIBRARY_IMPL({namespace}, {key}, m) {{"
            libraries.append(LibraryView(opening, tuple(statements)))
        context = {"includes": lines, "wrappers": [], "libraries": libraries}
        yield OutputFile(layout.source(f"{stem}.cpp"), TEMPLATE, context)


def _implementation(kernel: Kernel, namespace: str, shared: frozenset[str]) -> StatementView:
    name = cpp_text.quote(kernel.operator.local_name)
    expression = kernel_expression(kernel, namespace, shared)
    line = cpp_text.call("m.impl(", [name, expression], ");", indent=2)
    return StatementView(kernel.operator.guard, line)
