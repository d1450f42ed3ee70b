"""The C++ that the author of a framework writes in the options, as values: types and expressions."""

from __future__ import annotations

import re

from torchgen_lite.languages.cpp.runtime import Types
from torchgen_lite.languages.cpp.types import Expression, names_of
from torchgen_lite.loader.options import Kind, matching
from torchgen_lite.targets.cpp.written_types import STANDARD_HEADERS, type_kind

_TYPE = r"[A-Za-z_:][A-Za-z0-9_:]*(<[A-Za-z0-9_:<>*, ]*>)?"
_REFUSAL = "is not a C++ type"
# No character that ends an expression inside a parameter list or a line.
_EXPRESSION = matching(r"[^;{}\n\\]+", "is not a C++ expression")
_NAME = re.compile(r"(?<![:\w])(?:::)?[A-Za-z_][\w:]*", re.ASCII)


def read_expression(text: str) -> Expression:
    """A constant, the headers of the standard library that it needs, and the names in it."""
    names = tuple(_NAME.findall(text))
    known = dict.fromkeys(STANDARD_HEADERS.get(name.removeprefix("::"), "") for name in names)
    return Expression(text, tuple(filter(None, known)), names)


def roots(types: Types) -> set[str]:
    """The first parts of the framework's names: `toy` of `toy::Tensor`. A leading `::` rules out
    hiding."""
    names = {name for type_ in (types.tensor, *types.named.values()) for name in names_of(type_)}
    names.update(name for constant in types.constants.values() for name in constant.names)
    return {name.partition("::")[0] for name in names} - {""}


TENSOR = type_kind(rf"(?!const ){_TYPE}", _REFUSAL)
# As it is passed: `toy::Dtype`, `std::shared_ptr<toy::Stream>`, `const toy::Scalar&`, `toy::Plan*`.
PASSED = type_kind(rf"(const )?{_TYPE}[*&]?", _REFUSAL)
EXPRESSION = Kind(
    _EXPRESSION.name, _EXPRESSION.schema, lambda value: read_expression(_EXPRESSION.read(value))
)
