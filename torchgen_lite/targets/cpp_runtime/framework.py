"""The C++ that the author of a framework writes in the options, as values: types and expressions.

    "const std::optional<toy::Generator>&"

Text is read here and nowhere else. The headers of the standard library that it needs are included, the framework's own
are an option.
"""

from __future__ import annotations

import re

from torchgen_lite.dialects.cpp.runtime import Types
from torchgen_lite.dialects.cpp.types import CType, Expression, names_of
from torchgen_lite.loader.options import Kind, matching

_TYPE = r"[A-Za-z_:][A-Za-z0-9_:]*(<[A-Za-z0-9_:<>*, ]*>)?"
_TENSOR = matching(rf"(?!const ){_TYPE}", "is not a C++ type")
# As it is passed: `toy::Dtype`, `std::shared_ptr<toy::Stream>`, `const toy::Scalar&`, `toy::Plan*`.
_PASSED = matching(rf"(const )?{_TYPE}[*&]?", "is not a C++ type")
# No character that ends an expression inside a parameter list or a line.
_EXPRESSION = matching(r"[^;{}\n\\]+", "is not a C++ expression")
_NAME = re.compile(r"(?<![:\w])(?:::)?[A-Za-z_][\w:]*", re.ASCII)
_HEADERS = {
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
    headers = (_HEADERS[name.removeprefix("::")],) if name.removeprefix("::") in _HEADERS else ()
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


def read_expression(text: str) -> Expression:
    """A constant, the headers of the standard library that it needs, and the names in it."""
    names = tuple(_NAME.findall(text))
    known = dict.fromkeys(_HEADERS.get(name.removeprefix("::"), "") for name in names)
    return Expression(text, tuple(filter(None, known)), names)


def roots(types: Types) -> set[str]:
    """Where the names of the framework begin: `toy` for `toy::Tensor`. What begins with `::` can't be hidden."""
    names = {name for type_ in (types.tensor, *types.named.values()) for name in names_of(type_)}
    names.update(name for constant in types.constants.values() for name in constant.names)
    return {name.partition("::")[0] for name in names} - {""}


TENSOR = Kind(_TENSOR.name, _TENSOR.schema, lambda value: read_type(_TENSOR.read(value)))
PASSED = Kind(_PASSED.name, _PASSED.schema, lambda value: read_type(_PASSED.read(value)))
EXPRESSION = Kind(
    _EXPRESSION.name, _EXPRESSION.schema, lambda value: read_expression(_EXPRESSION.read(value))
)
