"""What a user may set in `[tool.torchgen_lite.target.cpp-torch]`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields

from torchgen_lite.targets.cpp.options import (
    LibraryOptions,
    header_option,
    load_library_options,
)
from torchgen_lite.targets.options import check_known, flag_option

TARGET = "cpp-torch"
KNOWN_OPTIONS = (
    *(f.name.replace("_", "-") for f in fields(LibraryOptions)),
    "calls-only",
    "formula-headers",
)


@dataclass(frozen=True, slots=True)
class TorchOptions:
    """Options of the target.

    `library`: those of every library. `calls_only`: typed calls and nothing else, derived operators
    included, for operators whose kernels are somebody else's. `formula_headers`: headers of the author's
    with functions that formulas call.
    """

    library: LibraryOptions
    calls_only: bool = False
    formula_headers: tuple[str, ...] = ()


def load_options(values: Mapping[str, object]) -> TorchOptions:
    """Check what the configuration says; raise `OptionError` for the first thing that is wrong."""
    check_known(values, TARGET, KNOWN_OPTIONS)
    calls_only = flag_option(values, "calls-only", False)
    headers = header_option(values, "formula-headers")
    return TorchOptions(load_library_options(values, TARGET), calls_only, headers)
