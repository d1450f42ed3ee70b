"""`register.cpp`, and `register_<device>.cpp`: definitions and kernels.

TORCHGEN_LITE_LIBRARY_IMPL(toy, CPU, m) {
  m.impl("add.Tensor", TORCHGEN_LITE_FN(&::toy::add_cpu));
}
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from torchgen_lite.languages.cpp import text as cpp_text
from torchgen_lite.targets.cpp.layout import Blocks, with_last
from torchgen_lite.targets.cpp.model import CppOperator
from torchgen_lite.targets.cpp.registrations import (
    ImplCall,
    Libraries,
    definitions,
    registration_files,
)
from torchgen_lite.targets.cpp.required import Kernel, kernel_registrations, shared_names
from torchgen_lite.targets.cpp_runtime.kernels import keys_above_backends
from torchgen_lite.targets.cpp_runtime.model import RuntimeLayout
from torchgen_lite.targets.output import Header, OutputFile

_LIBRARY = [Header("torchgen_lite/library.h")]


def build_registrations(
    operators: Sequence[CppOperator],
    kernels: Sequence[Kernel],
    layout: RuntimeLayout,
    library: str,
    declared: Blocks,
) -> Iterator[OutputFile]:
    """The definitions of the operators, and the registrations of the kernels, which the headers in
    `declared` declare."""

    def type_of(kernel: Kernel) -> str:
        call = "redispatch" if kernel.key in keys_above_backends() else "call"
        return f"decltype(::{layout.namespace}::ops::{kernel.operator.flat}::{call})*"

    if shared_names(kernels, layout.namespace):
        declared = with_last(declared, layout.own("operators.h"))
    macro = "TORCHGEN_LITE_LIBRARY"
    opening = f"{macro}_FRAGMENT" if library == "fragment" else macro

    def context(defined: Libraries, own: Sequence[ImplCall]) -> dict[str, object]:
        includes = [_LIBRARY, *(declared if own else [])]
        macros = (opening, f"{macro}_IMPL")
        return {"includes": includes, "macros": macros, "python_module": ""}

    registered = kernel_registrations(kernels, layout.namespace, "TORCHGEN_LITE_FN", type_of)
    libraries = definitions(operators, cpp_text.quote)
    template = "cpp/register.cpp.j2"
    yield from registration_files(libraries, registered, layout, template, context)
