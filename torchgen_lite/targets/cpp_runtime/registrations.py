"""`register_schema.cpp`, and `register_<key>.cpp` for each dispatch key in use.

TORCHGEN_LITE_LIBRARY_IMPL(toy, CPU, m) {
  m.impl("add.Tensor", TORCHGEN_LITE_FN(&::toy::add_cpu));
}
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from torchgen_lite.dialects import cpp_text
from torchgen_lite.targets.cpp.layout import Blocks
from torchgen_lite.targets.cpp.model import Operator
from torchgen_lite.targets.cpp.registrations import schema_file
from torchgen_lite.targets.cpp.required import Kernel, kernel_key_files
from torchgen_lite.targets.cpp_runtime.kernels import keys_above_backends
from torchgen_lite.targets.cpp_runtime.model import RuntimeLayout
from torchgen_lite.targets.output import Header, OutputFile

_LIBRARY = [Header("torchgen_lite/library.h")]


def build_schema(
    operators: Sequence[Operator], layout: RuntimeLayout, library: str
) -> Iterator[OutputFile]:
    """The definitions of the operators."""
    macro = "TORCHGEN_LITE_LIBRARY" + ("_FRAGMENT" if library == "fragment" else "")
    context = {"includes": [_LIBRARY], "macro": macro, "python_module": ""}
    yield from schema_file(operators, layout, cpp_text.quote, context)


def build_keys(
    kernels: Sequence[Kernel], layout: RuntimeLayout, includes: Blocks
) -> Iterator[OutputFile]:
    """One file for each key, or one for each shard of it; `includes` declare the kernels."""

    def type_of(kernel: Kernel) -> str:
        call = "redispatch" if kernel.key in keys_above_backends() else "call"
        return f"decltype(::{layout.namespace}::ops::{kernel.operator.flat}::{call})*"

    blocks, macro = [_LIBRARY, *includes], "TORCHGEN_LITE_LIBRARY_IMPL"
    yield from kernel_key_files(layout, kernels, blocks, macro, "TORCHGEN_LITE_FN", type_of)
