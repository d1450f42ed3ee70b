"""C++ types that authors write in options, as values.

    "const std::optional<toy::Generator>&"

Text is read here and nowhere else. The headers of the standard library that it needs are included, the author's own
are an option.
"""

from __future__ import annotations

from collections.abc import Callable

from torchgen_lite.languages.cpp.types import CType
from torchgen_lite.loader.options import Kind, matching

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
    is_const, rest = rest.startswith("const "), rest.removeprefix("const ")
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
    parts, depth = [""], 0
    for character in inner:
        depth += (character == "<") - (character == ">")
        if depth < 0:
            return body, ()
        if character == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += character
    return (name.strip(), tuple(map(read_type, parts))) if depth == 0 else (body, ())


def type_kind(pattern: str, refusal: str, accept: Callable[[str], bool] = bool) -> Kind[CType]:
    """Types of that form; `accept` may have further conditions."""
    text = matching(pattern, refusal, accept)
    return Kind(text.name, text.schema, lambda value: read_type(text.read(value)))
