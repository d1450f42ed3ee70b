"""`register.cpp`, and `register_<device>.cpp`: definitions and kernels.

TORCHGEN_LITE_LIBRARY_IMPL(toy, CPU, m) {
  m.impl("add.Tensor", TORCHGEN_LITE_FN(&::toy::add_cpu));
}
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from torchgen_lite.languages.cpp import text as cpp_text
from torchgen_lite.targets.cpp.layout import Layout
from torchgen_lite.targets.cpp.model import CppOperator
from torchgen_lite.targets.cpp.registrations import (
    ImplCall,
    Libraries,
    definitions,
    registration_files,
)
from torchgen_lite.targets.cpp.required import Kernel, kernel_registrations
from torchgen_lite.targets.cpp_runtime.kernels import ABOVE_BACKENDS
from torchgen_lite.targets.cpp_runtime.options import RuntimeOptions
from torchgen_lite.targets.output import Header, OutputFile

_LIBRARY = [Header("torchgen_lite/library.h")]


def build_registrations(
    operators: Sequence[CppOperator],
    kernels: Sequence[Kernel],
    layout: Layout,
    options: RuntimeOptions,
) -> Iterator[OutputFile]:
    """The definitions of the operators, and the registrations of the kernels."""

    def type_of(kernel: Kernel) -> str:
        call = "redispatch" if kernel.key in ABOVE_BACKENDS else "call"
        return f"decltype(::{layout.namespace}::ops::{kernel.operator.flat}::{call})*"

    headers = options.kernel_headers
    registered, declared = kernel_registrations(
        kernels, layout, headers, "TORCHGEN_LITE_FN", type_of
    )

    def context(defined: Libraries, own: Sequence[ImplCall]) -> dict[str, object]:
        return {"includes": [_LIBRARY, *(declared if own else [])], "python_module": ""}

    libraries = definitions(operators, cpp_text.quote)
    macro, template = "TORCHGEN_LITE_LIBRARY", "cpp/register.cpp.j2"
    yield from registration_files(libraries, registered, layout, options, macro, template, context)
