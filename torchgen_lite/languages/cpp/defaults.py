"""Default values of the schema as C++ expressions: one writer, and the words of each library.

PyTorch's own operators get torchgen's expressions (`as_written`), where a sized list with one
number as its default, `int[2] x=1`, has one element in C++ and two in Python. Everywhere else it
has two, and a value without an expression leaves the parameter without a default.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import chain
from typing import NamedTuple

from torchgen_lite.analysis.checks.registrable import NUMBER_NAMES
from torchgen_lite.diagnostics.text import cut_at
from torchgen_lite.languages.cpp.text import quote
from torchgen_lite.languages.cpp.torch_types import Sizes
from torchgen_lite.languages.cpp.types import Expression
from torchgen_lite.schema import (
    Argument,
    BaseType,
    ListType,
    NamedConstant,
    OptionalType,
    Type,
    default_value,
)
from torchgen_lite.schema.defaults import ENUMERATORS, unescape
from torchgen_lite.schema.grouped import without_none
from torchgen_lite.schema.model import bare_type

_LIMITS = "::std::numeric_limits<double>"


def real(value: float) -> Expression:
    """
    >>> print(real(0.5), real(float("-inf")))
    0.5 -::std::numeric_limits<double>::infinity()
    """
    if value != value:
        return Expression(f"{_LIMITS}::quiet_NaN()", ("limits",))
    if value in (float("inf"), float("-inf")):
        return Expression(f"{'-' if value < 0 else ''}{_LIMITS}::infinity()", ("limits",))
    return Expression(repr(value))


def call(
    head: str,
    items: Sequence[Expression],
    close: str,
) -> Expression:
    """A value made from others: `{0, 1}`, `c10::complex<double>(0.0, 1.0)`."""
    headers = tuple(chain.from_iterable([item.headers for item in items]))
    return Expression(f"{head}{', '.join(map(str, items))}{close}", headers)


def complex_number(type_: object, value: complex) -> Expression:
    """A complex number of a type in C++: `c10::complex<double>(0.0, 1.0)`."""
    return call(f"{type_}(", [real(value.real), real(value.imag)], ")")


def literal(name: str, value: object) -> Expression | None:
    """A value of the schema type with that name; None if it is not a literal of that type.

    >>> print(literal("int", -3), literal("int", -(2**63)), literal("bool", True))
    -3 INT64_MIN true
    """
    if type(value) not in _LITERALS.get(name, ()):
        return None
    if isinstance(value, bool):
        return Expression(str(value).lower())
    if isinstance(value, int):
        # The smallest number has no literal: the sign is an operator.
        return Expression(str(value) if value != -(2**63) else "INT64_MIN")
    if isinstance(value, float):
        return real(value)
    return Expression(quote(str(value)))


# The values that a type of the schema has literals for.
_LITERALS: dict[str, tuple[type, ...]] = {
    **dict.fromkeys(("int", "SymInt", "DeviceIndex"), (int,)),
    **dict.fromkeys(("float", "SymFloat"), (float,)),
    **dict.fromkeys(("bool", "SymBool"), (bool,)),
    **dict.fromkeys(("Scalar", "number", "complex"), (bool, int, float)),
    "str": (str,),
}


NOTHING = Expression("::std::nullopt")
EMPTY = Expression("{}")
# The names in PyTorch's file, in C++.
_WRITTEN = {
    "False": Expression("false"),
    "True": Expression("true"),
    "None": NOTHING,
    "Mean": Expression("at::Reduction::Mean", ("ATen/core/Reduction.h",)),
    "[]": EMPTY,
    "strided": Expression("c10::Layout::Strided"),
    **{
        written: Expression(f"c10::MemoryFormat::{name}")
        for written, name in ENUMERATORS["MemoryFormat"].items()
    },
    "long": Expression("at::kLong"),
    "inf": real(float("inf")),
    "-inf": real(float("-inf")),
    "nan": real(float("nan")),
}


class Spelling(NamedTuple):
    """How a library spells values that are not literals.

    `word` is the expression for a value of the type with that name, or None. `listed` wraps a
    braced list for an optional, since the bare list could be taken for the optional's constructor
    arguments.
    """

    word: Callable[[str, object], Expression | None]
    listed: Callable[[ListType, Expression], Expression] = lambda _, braces: braces


def default_of(argument: Argument, words: Spelling) -> Expression | None:
    """The default as C++; None if there is none, or the library has no expression for it."""
    if argument.default is None:
        return None
    return _expression(argument.type, default_value(argument), words)


def _expression(
    type_: Type,
    value: object,
    words: Spelling,
) -> Expression | None:
    if isinstance(type_, OptionalType):
        if value is None:
            return words.word(bare_type(type_), None) or NOTHING
        inner = _expression(type_.elem, value, words)
        if inner is not None and isinstance(type_.elem, ListType):
            return words.listed(type_.elem, inner)
        return inner
    if isinstance(type_, ListType):
        values = value if isinstance(value, list) else [value] * (type_.size or 1)
        items = [_expression(type_.elem, item, words) for item in values]
        known = without_none(items)
        if len(known) == len(items):
            return call("{", known, "}")
        return None
    name = bare_type(type_)
    return words.word(name, value) or literal(name, value)


def _torch_word(name: str, value: object) -> Expression | None:
    if value is None:
        return EMPTY if name == "Tensor?" else NOTHING
    if isinstance(value, NamedConstant):
        if name in ENUMERATORS:
            return Expression(f"at::{name}::{ENUMERATORS[name][value.name]}")
        if value.name == "Mean":
            return _WRITTEN[value.name]
        return Expression(str(NUMBER_NAMES[value.name]))
    if isinstance(value, complex):
        return complex_number("c10::complex<double>", value)
    if isinstance(value, str) and name == "Device":
        return Expression(f"at::Device({quote(value)})")
    if isinstance(value, int) and name in ENUMERATORS:
        return Expression(f"static_cast<at::{name}>({value})")
    return None


def reduction(name: str, value: NamedConstant) -> Expression | None:
    """The number of a `Reduction`, which schemas spell by name, and which has no header but PyTorch's."""
    numbers = {"Mean": "1", "Sum": "2"}
    if name in ("int", "SymInt") and value.name in numbers:
        return Expression(numbers[value.name])
    return None


TORCH = Spelling(_torch_word)


def as_written(
    default: str,
    type_: Type,
    sizes: Sizes,
) -> Expression:
    """torchgen's expression: `[0,1]` -> `{0, 1}`, `None` -> `::std::nullopt`, `'mean'` -> `"mean"`.

    A tensor that is not given is an undefined one, `{}`. A fixed-size list may have one number for all.
    torchgen `api/cpp.py`, `default_expr`.
    """
    if default == "None" and bare_type(type_) == "Tensor?":
        return EMPTY
    if isinstance(type_, OptionalType):
        if default == "None":
            return NOTHING
        return as_written(default, type_.elem, sizes)
    if isinstance(type_, BaseType) and type_.name == "str" and default[0] in "'\"":
        return Expression(quote(unescape(default)))
    if isinstance(type_, ListType):
        if default.startswith("[") and default.endswith("]"):
            items = cut_at(default[1:-1], ",")
            return call("{", [_WRITTEN.get(item) or Expression(item) for item in items], "}")
        if sizes == bare_type(type_.elem) == "SymInt" and default.isdigit():
            return Expression(f"c10::SymInt({default})")
    return _WRITTEN.get(default) or Expression(default)
