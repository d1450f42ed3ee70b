"""The options that the C++ targets share."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from torchgen_lite.languages.cpp.text import KEYWORDS
from torchgen_lite.loader.options import FLAG, list_of, matching, option
from torchgen_lite.targets.options import (
    MODULE,
    folder_option,
    library_option,
    shards_option,
    skip_option,
)

# With more operators than this, the output is split unless the number of files is configured.
MANY_OPERATORS = 1000

_IDENTIFIER = "[A-Za-z_][A-Za-z0-9_]*"
_SCOPE = f"{_IDENTIFIER}(?:::{_IDENTIFIER})*"
NAMESPACE = matching(
    _SCOPE,
    "is not a C++ namespace",
    lambda text: KEYWORDS.isdisjoint(text.split("::")),
)
# What a path in `#include <...>` cannot contain.
HEADERS = list_of(matching(r'[^">\n\r\\]*', "is not a path of a header", str.isprintable))


@dataclass(frozen=True, slots=True, kw_only=True)
class LibraryOptions:
    """Options of every target that makes a library of operators."""

    namespace: str = option(
        "C++ namespace of generated code and of the kernels; `aten_ops` if it would otherwise be one of PyTorch.",
        NAMESPACE,
        "",
        shown="that of the first entry",
        torch="aten_ops",
    )
    folder: str = folder_option("")
    library: str = library_option()
    kernel_headers: tuple[str, ...] = option(
        "Your headers that declare the kernels; they replace `kernels.h`, and are checked by the proof.",
        HEADERS,
        (),
    )
    kernel_classes: tuple[str, ...] = option(
        "Classes whose static members are kernels, such as `mylib::Kernels`; `kernel-headers` declare them.",
        list_of(matching(_SCOPE, "is not the full name of a C++ class")),
        (),
    )
    shards: int = shards_option("calls and registrations", MANY_OPERATORS)
    skip: tuple[str, ...] = skip_option()


@dataclass(frozen=True, slots=True, kw_only=True)
class ModuleOptions(LibraryOptions):
    """Options of a library that Python imports."""

    module: str = option(
        "The last part of the Python module's name; empty for a library that Python does not import.",
        # `PyInit_<name>` is the function that Python looks for.
        matching(f"(?:{_IDENTIFIER})?", "is not the name of a Python module in C"),
        "_C",
    )
    python_module: str = option(
        "The Python module with the fakes, which libtorch names in errors.", MODULE, ""
    )


def calls_only_option() -> Any:
    doc = "Only typed calls, including those of derived operators: the kernels are in another library."
    return option(doc, FLAG, False, torch=True)
