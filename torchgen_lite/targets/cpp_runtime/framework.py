"""The C++ that the author of a framework writes in the options, as values: types and expressions.

    "const std::optional<toy::Generator>&"

Nobody but the author knows what is between the angle brackets, so the name is kept as it is written; the
headers of the standard library that it needs are included, the framework's own are an option.
"""

from __future__ import annotations

import re

from torchgen_lite.dialects.cpp.runtime import Types
from torchgen_lite.dialects.cpp.types import CType, Expression
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
    """
    name = text.removeprefix("const ").rstrip("*&")
    suffix = text[-1] if text[-1] in "*&" else ""
    return CType(name, (), text.startswith("const "), suffix, _headers(name))


def read_expression(text: str) -> Expression:
    """A constant, and the headers of the standard library that it needs."""
    return Expression(text, _headers(text))


def _headers(text: str) -> tuple[str, ...]:
    names = [name.removeprefix("::") for name in _NAME.findall(text)]
    return tuple(dict.fromkeys(_HEADERS[name] for name in names if name in _HEADERS))


def roots(types: Types) -> set[str]:
    """Where the names of the framework begin: `toy` for `toy::Tensor`. What begins with `::` can't be hidden."""
    written = [types.tensor.name, *[t.name for t in types.named.values()]]
    written += [constant.text for constant in types.constants.values()]
    return {name.partition("::")[0] for text in written for name in _NAME.findall(text)} - {""}


TENSOR = Kind(_TENSOR.name, _TENSOR.schema, lambda value: read_type(_TENSOR.read(value)))
PASSED = Kind(_PASSED.name, _PASSED.schema, lambda value: read_type(_PASSED.read(value)))
EXPRESSION = Kind(
    _EXPRESSION.name, _EXPRESSION.schema, lambda value: read_expression(_EXPRESSION.read(value))
)
