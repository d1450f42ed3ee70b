"""`register_schema.cpp`, and `register_<key>.cpp` for each dispatch key in use.

TORCH_LIBRARY_IMPL(mylib, CPU, m) {
  m.impl("scale", TORCH_FN(::mylib::scale_cpu));
}
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass

from torchgen_lite.analysis.namespaces import TORCH_NAMESPACES
from torchgen_lite.dialects import cpp_text
from torchgen_lite.key_tables import CURRENT, key_order
from torchgen_lite.targets.cpp.kernels import qualified, split_kernel
from torchgen_lite.targets.cpp.layout import Layout
from torchgen_lite.targets.cpp.model import Operator
from torchgen_lite.targets.cpp.options import ModuleOptions
from torchgen_lite.targets.cpp.registrations import (
    KEY_TEMPLATE,
    SCHEMA_TEMPLATE,
    definition,
    implementation,
    library_views,
)
from torchgen_lite.targets.cpp.required import Kernel, kernel_includes, shared_names
from torchgen_lite.targets.cpp_torch.kernels import wrapper_name
from torchgen_lite.targets.cpp_torch.wrappers import Wrapper, build_wrapper, wants_wrapper
from torchgen_lite.targets.output import OutputFile


@dataclass(frozen=True, slots=True)
class Registration:
    """One `m.impl(...)`: what is registered for an operator under a key.

    `expression` is a C++ expression such as `TORCH_FN(...)`. `wrapper` is a function that the same file
    defines and the expression names. `calls_kernel` says whether either names a kernel of the author's.
    Structured kernels and whatever else makes kernels end up as these, too.
    """

    operator: Operator
    key: str
    expression: str
    wrapper: Wrapper | None = None
    calls_kernel: bool = True

    @property
    def guard(self) -> str:
        """The condition of the kernel: that of the function around it, or of the operator."""
        return self.wrapper.guard if self.wrapper else self.operator.guard


def build_schema(
    operators: Sequence[Operator],
    layout: Layout,
    options: ModuleOptions,
    tags: Collection[str],
) -> Iterator[OutputFile]:
    """The definitions of the operators, without those that PyTorch defines, with those `tags` that they have."""
    own = [o for o in operators if o.function.namespace not in TORCH_NAMESPACES]
    if not own:
        return
    macro = "TORCH_LIBRARY_FRAGMENT" if options.library == "fragment" else "TORCH_LIBRARY"
    definitions = [
        (
            o.function.namespace,
            definition(o, [f"at::Tag::{tag}" for tag in o.function.tags if tag in tags]),
        )
        for o in own
    ]
    context = {
        "includes": _includes(layout, [o.guard for o in own], []),
        "macro": macro,
        "python_module": options.python_module and cpp_text.quote(options.python_module),
        "libraries": library_views(definitions),
    }
    yield OutputFile(layout.source("register_schema.cpp"), SCHEMA_TEMPLATE, context)


def kernel_registrations(kernels: Sequence[Kernel], namespace: str) -> Iterator[Registration]:
    """The kernels of the author, directly or through a function that guards the device."""
    shared = shared_names(kernels, namespace)
    for kernel in kernels:
        place = "::".join(split_kernel(kernel.name, namespace))
        if place in shared or wants_wrapper(kernel.operator.function, kernel.key):
            wrapper = build_wrapper(kernel, wrapper_name(kernel), namespace)
            yield Registration(kernel.operator, kernel.key, f"TORCH_FN({wrapper.name})", wrapper)
        else:
            expression = f"TORCH_FN({qualified(kernel.name, namespace)})"
            yield Registration(kernel.operator, kernel.key, expression)


def build_keys(
    registrations: Iterable[Registration],
    layout: Layout,
    options: ModuleOptions,
    beside: Collection[str],
) -> Iterator[OutputFile]:
    """One file for each key, or one for each shard of it.

    It has another name for the keys that have a file of generated kernels `beside` it.
    """
    by_file: dict[tuple[str, int | None], list[Registration]] = {}
    for registration in registrations:
        place = (registration.key, registration.operator.shard)
        by_file.setdefault(place, []).append(registration)
    order = {key: position for position, key in enumerate(key_order(CURRENT))}
    for (key, shard), own in sorted(
        by_file.items(), key=lambda item: (order.get(item[0][0], len(order)), item[0][1] or 0)
    ):
        stem = f"register_{key.lower()}" + ("_written" if key in beside else "")
        path = layout.source(f"{stem}.cpp" if shard is None else f"{stem}_{shard}.cpp")
        yield _key_file(path, key, own, layout, options)


def _key_file(
    path: str, key: str, own: Sequence[Registration], layout: Layout, options: ModuleOptions
) -> OutputFile:
    statements = [
        (r.operator.function.namespace, implementation(r.operator, r.expression, r.guard))
        for r in own
    ]
    wrappers = [r.wrapper for r in own if r.wrapper is not None]
    kernels = (
        kernel_includes(layout.folder, options.headers) if any(r.calls_kernel for r in own) else []
    )
    context = {
        "includes": _includes(layout, [r.guard for r in own], kernels, wrappers),
        "wrappers": wrappers,
        "macro": "TORCH_LIBRARY_IMPL",
        "key": key,
        "libraries": library_views(statements),
    }
    return OutputFile(path, KEY_TEMPLATE, context)


def _includes(
    layout: Layout,
    guards: Sequence[str],
    kernels: Sequence[str],
    wrappers: Sequence[Wrapper] = (),
) -> list[str]:
    own = [*kernels]
    if any(guards):
        own.append(f"#include <{layout.folder}/version.h>")
    theirs = ["torch/library.h", *sorted({h for w in wrappers for h in w.headers})]
    lines = [f"#include <{header}>" for header in theirs]
    return [*lines, *([""] if own else []), *own]
