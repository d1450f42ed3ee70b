"""What a user may set in `[tool.torchgen_lite.target.cpp-runtime]`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from torchgen_lite.languages.cpp.runtime import Types
from torchgen_lite.languages.cpp.types import CType, Expression
from torchgen_lite.loader.options import choice, option, table_of
from torchgen_lite.targets.cpp.options import HEADERS, LibraryOptions, calls_only_option
from torchgen_lite.targets.cpp_runtime.framework import EXPRESSION, PASSED, TENSOR
from torchgen_lite.targets.options import folder_option
from torchgen_lite.targets.output import Header

TARGET = "cpp-runtime"
VENDORED = "vendored"


@dataclass(frozen=True, slots=True, kw_only=True)
class RuntimeOptions(LibraryOptions):
    """Options of the target."""

    tensor: CType = option(
        "The C++ type of tensors, such as `toy::Tensor`.",
        TENSOR,
        is_required=True,
        about_framework=True,
    )
    headers: tuple[str, ...] = option(
        "Headers that declare the tensor and the other types.", HEADERS, (), about_framework=True
    )
    types: Mapping[str, CType] = option(
        'How other types of schemas are passed in C++: `Device = "toy::Device"`.',
        table_of(PASSED, {"Tensor": "the type of tensors is the option `tensor`"}),
        {},
        about_framework=True,
    )
    constants: Mapping[str, Expression] = option(
        'Expressions for defaults that are names or strings: `cpu = "toy::Device::CPU"`.',
        table_of(EXPRESSION),
        {},
        about_framework=True,
    )
    folder: str = folder_option(TARGET)
    runtime: str = option(
        "Where the headers of the dispatcher are: `installed`, in a package that the build finds, or `vendored`, copied "
        "to `<folder>/include/torchgen_lite`.",
        choice("installed", VENDORED),
        "installed",
    )
    calls_only: bool = calls_only_option()

    @property
    def framework(self) -> Types:
        """The C++ of the framework."""
        return Types(self.tensor, self.types, self.constants)

    @property
    def framework_headers(self) -> list[Sequence[Header]]:
        """The block of headers that declare the types of the framework, if there are any."""
        return [[Header(name, True) for name in self.headers]] if self.headers else []
