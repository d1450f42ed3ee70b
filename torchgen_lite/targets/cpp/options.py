"""The options that the C++ targets share, and C++ types that authors write in options, as values:
`const std::optional<toy::Generator>&`.

Such text is read here and nowhere else. The headers of the standard library that it needs are included, the author's
own are an option.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar

from torchgen_lite.languages.cpp.reserved import KEYWORDS
from torchgen_lite.languages.cpp.types import CType
from torchgen_lite.loader.config.options import FLAG, NAME, Kind, list_of, matching, option
from torchgen_lite.targets import options as shared

T = TypeVar("T")
# With more operators than this, the output is split unless the number of files is configured.
MANY_OPERATORS = 1000

_SCOPE = f"{NAME}(?:::{NAME})*"
NAMESPACE = matching(
    _SCOPE, "is not a C++ namespace", lambda text: KEYWORDS.isdisjoint(text.split("::"))
)
# Headers define more macros than any list has, but none of these names. Copied headers use those that begin with ours.
_MACRO = r"(?!TORCHGEN_LITE_)[A-Z][A-Z0-9_]*_(?:NAME|NAMESPACE)"
# What a path in `#include <...>` cannot contain.
HEADERS = list_of(matching(r'[^">\n\r\\]*', "is not a path of a header", str.isprintable))


def calls_only_option() -> Any:
    doc = "Only typed calls, including those of derived operators: the kernels are in another library."
    return option(doc, FLAG, False, torch=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class LibraryOptions:
    """Options of every target that makes a library of operators."""

    namespace: str = option(
        "C++ namespace of generated code and of the kernels; `aten_ops` if it would otherwise be "
        "one of PyTorch.",
        NAMESPACE,
        "",
        shown="that of the first entry",
        torch="aten_ops",
    )
    folder: str = shared.folder_option("")
    library: str = shared.library_option()
    kernel_headers: tuple[str, ...] = option(
        "Your headers that declare the kernels; they replace `kernels.h`, and are checked by the "
        "proof.",
        HEADERS,
        (),
    )
    kernel_classes: tuple[str, ...] = option(
        "Classes whose static members are kernels, such as `mylib::Kernels`; `kernel-headers` "
        "declare them.",
        list_of(matching(_SCOPE, "is not the full name of a C++ class")),
        (),
    )
    shards: int = shared.shards_option("calls and registrations", MANY_OPERATORS)
    skip: tuple[str, ...] = shared.skip_option()


@dataclass(frozen=True, slots=True, kw_only=True)
class ModuleOptions(LibraryOptions):
    """Options of a library that Python imports."""

    module: str = option(
        "The last part of the Python module's name; empty for a library that Python does not "
        "import.",
        # `PyInit_<name>` is the function that Python looks for.
        matching(f"(?:{NAME})?", "is not the name of a Python module in C"),
        "_C",
    )
    python_module: str = option(
        "The Python module with the fakes, which libtorch names in errors.", shared.MODULE, ""
    )
    namespace_macro: str = option(
        "The macro by which the build gives the namespace of the operators, such as `TORCH_EXTENSION_NAME`; without it, they "
        "have that of the file.",
        matching(
            f"(?:{_MACRO})?",
            "is not a macro for a namespace: capitals that end with `_NAME` or `_NAMESPACE`",
        ),
        "",
        shown="none",
    )
    schema_hashes: bool = option(
        "Also write `schema_hashes.cmake`: a build that includes it stops if a schema file has "
        "changed since.",
        FLAG,
        False,
    )


# The headers of names that authors write.
STANDARD_HEADERS = {
    "int64_t": "cstdint",
    "std::numeric_limits": "limits",
    **{
        f"std::{name}": name
        for name in ("complex", "optional", "string", "string_view", "tuple", "vector")
    },
}


def read_type(text: str) -> CType:
    """A type as it is passed.

    >>> read_type("const std::string&")
    CType(name='std::string', args=(), is_const=True, suffix='&', headers=('string',))
    >>> print(read_type("std::map<int,toy::Key*>"))
    std::map<int, toy::Key*>
    """
    rest = text.strip()
    is_const = rest.startswith("const ")
    rest = rest.removeprefix("const ")
    body = rest.rstrip("*& ")
    name, args = _template(body)
    known = name.removeprefix("::")
    headers = (STANDARD_HEADERS[known],) if known in STANDARD_HEADERS else ()
    return CType(name, args, is_const, rest[len(body) :].replace(" ", ""), headers)


def _template(body: str) -> tuple[str, tuple[CType, ...]]:
    """The name and the arguments of `std::optional<toy::Tensor>`; what is not of this form is a name."""
    if not body.endswith(">"):
        return body, ()
    name, _, inner = body[:-1].partition("<")
    parts = [""]
    depth = 0
    for character in inner:
        depth += (character == "<") - (character == ">")
        if depth < 0:
            return body, ()
        if character == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += character
    if depth == 0:
        return (name.strip(), tuple(map(read_type, parts)))
    return (body, ())


def kind_of(pattern: str, refusal: str, read: Callable[[str], T]) -> Kind[T]:
    """Values that are read from text of that form."""
    text = matching(pattern, refusal)
    return Kind(text.name, text.schema, lambda value: read(text.read(value)))
