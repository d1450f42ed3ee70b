"""What a user may set in `[tool.torchgen_lite.target.cpp-torch]`."""

from __future__ import annotations

from dataclasses import dataclass

from torchgen_lite.loader.options import option
from torchgen_lite.targets.cpp.options import HEADERS, ModuleOptions, calls_only_option
from torchgen_lite.targets.options import folder_option

TARGET = "cpp-torch"


@dataclass(frozen=True, slots=True, kw_only=True)
class TorchOptions(ModuleOptions):
    """Options of the target."""

    folder: str = folder_option(TARGET)
    calls_only: bool = calls_only_option()
    formula_headers: tuple[str, ...] = option(
        "Headers with the functions that derivative formulas call beside operators.", HEADERS, ()
    )
