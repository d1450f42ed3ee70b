"""What a user may set in `[tool.torchgen_lite.target.cpp-runtime]`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from torchgen_lite.dialects.cpp_runtime import Types
from torchgen_lite.loader.options import matching, option, table_of
from torchgen_lite.targets.cpp.options import HEADERS, LibraryOptions, calls_only_option
from torchgen_lite.targets.options import folder_option

TARGET = "cpp-runtime"
_TYPE = r"[A-Za-z_:][A-Za-z0-9_:]*(<[A-Za-z0-9_:<>*, ]*>)?"
# As it is passed: `toy::Dtype`, `std::shared_ptr<toy::Stream>`, `const toy::Scalar&`, `toy::Plan*`.
PASSED = matching(rf"(const )?{_TYPE}[*&]?", "is no C++ type")
# No character that ends an expression inside a parameter list or a line.
EXPRESSION = matching(r"[^;{}\n\\]+", "is no C++ expression")


@dataclass(frozen=True, slots=True, kw_only=True)
class RuntimeOptions(LibraryOptions):
    """Options of the target."""

    tensor: str = option(
        "The C++ type of tensors, such as `toy::Tensor`.",
        matching(rf"(?!const ){_TYPE}", "is no C++ type"),
        is_required=True,
        about_framework=True,
    )
    headers: tuple[str, ...] = option(
        "Headers that declare the tensor and the other types.", HEADERS, (), about_framework=True
    )
    types: Mapping[str, str] = option(
        'How other types of schemas are passed in C++: `Device = "toy::Device"`.',
        table_of(PASSED, {"Tensor": "the type of tensors is the option `tensor`"}),
        {},
        about_framework=True,
    )
    constants: Mapping[str, str] = option(
        'Expressions for defaults that are names or texts: `cpu = "toy::Device::CPU"`.',
        table_of(EXPRESSION),
        {},
        about_framework=True,
    )
    folder: str = folder_option(TARGET)
    kernel_headers: tuple[str, ...] = option(
        "Headers of yours that declare the kernels; they take the place of `kernels.h`, and are proven too.",
        HEADERS,
        (),
    )
    calls_only: bool = calls_only_option()

    @property
    def framework(self) -> Types:
        """The C++ of the framework."""
        return Types(self.tensor, self.types, self.constants)
