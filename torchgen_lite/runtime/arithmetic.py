"""Arithmetic of numbers in formulas, as C++ computes it."""

from __future__ import annotations

from typing import Any


def quotient(a: Any, b: Any) -> Any:
    """`a / b`; infinity or nan where `b` is zero.

    >>> quotient(1, 2), quotient(-1, 0), quotient(0, 0)
    (0.5, -inf, nan)
    """
    try:
        return a / b
    except ZeroDivisionError:
        # Times infinity, zero is nan, and the sign is that of `a`, or of a negative zero.
        return a * float("-inf" if str(b).startswith("-") else "inf")


def real_number(value: Any) -> Any:
    """A `Scalar` where C++ takes the float of it; raises TypeError for a complex one. Symbolic numbers stay.

    >>> real_number(2), real_number(0.5)
    (2.0, 0.5)
    """
    is_plain = isinstance(value, (int, float, complex))
    return float(value) if is_plain else value


def remainder(a: int, b: int) -> int:
    """What is left of `a` after a division that rounds toward zero: it has the sign of `a`.

    >>> remainder(7, 3), remainder(-7, 3), remainder(7, -3), remainder(-7, -3)
    (1, -1, 1, -1)
    """
    left = abs(a) % abs(b)
    return -left if a < 0 else left
