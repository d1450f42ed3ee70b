"""Values of defaults as C++, whatever the types of the framework are called."""

from __future__ import annotations

from collections.abc import Iterable

_LIMITS = "::std::numeric_limits<double>"


def integer(value: int) -> str:
    """The smallest number has no literal: the sign is an operator.

    >>> integer(-3), integer(-(2**63))
    ('-3', 'INT64_MIN')
    """
    return str(value) if value != -(2**63) else "INT64_MIN"


def real(value: float) -> str:
    """
    >>> real(0.5), real(float("-inf"))
    ('0.5', '-::std::numeric_limits<double>::infinity()')
    """
    if value != value:
        return f"{_LIMITS}::quiet_NaN()"
    if value in (float("inf"), float("-inf")):
        return f"{'-' if value < 0 else ''}{_LIMITS}::infinity()"
    return repr(value)


def braced(items: Iterable[str | None]) -> str | None:
    """A list of expressions; None if one of them has none."""
    found = list(items)
    known = [item for item in found if item is not None]
    return f"{{{', '.join(known)}}}" if len(known) == len(found) else None
