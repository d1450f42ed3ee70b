"""Values as C++ expressions, whatever the types of a library are called."""

from __future__ import annotations

from collections.abc import Sequence

from torchgen_lite.languages.cpp.text import quote
from torchgen_lite.languages.cpp.types import Expression

_LIMITS = "::std::numeric_limits<double>"


def integer(value: int) -> Expression:
    """The smallest number has no literal: the sign is an operator.

    >>> print(integer(-3), integer(-(2**63)))
    -3 INT64_MIN
    """
    return Expression(str(value) if value != -(2**63) else "INT64_MIN")


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


def call(head: str, items: Sequence[Expression], close: str) -> Expression:
    """A value made from others: `{0, 1}`, `c10::complex<double>(0.0, 1.0)`."""
    headers = tuple([header for item in items for header in item.headers])
    return Expression(f"{head}{', '.join([item.text for item in items])}{close}", headers)


def literal(name: str, value: object) -> Expression | None:
    """A value of the schema type with that name; None if it is not a literal of that type."""
    known = _LITERALS.get(name, ())
    if isinstance(value, bool):
        return Expression(str(value).lower()) if bool in known else None
    if isinstance(value, int) and int in known:
        return integer(value)
    if isinstance(value, float) and float in known:
        return real(value)
    return Expression(quote(value)) if isinstance(value, str) and str in known else None


# The values that a type of the schema has literals for.
_LITERALS: dict[str, tuple[type, ...]] = {
    **dict.fromkeys(("int", "SymInt", "DeviceIndex"), (int,)),
    **dict.fromkeys(("float", "SymFloat"), (float,)),
    **dict.fromkeys(("bool", "SymBool"), (bool,)),
    **dict.fromkeys(("Scalar", "number", "complex"), (bool, int, float)),
    "str": (str,),
}
