"""Operators that a target skips because it cannot express them."""

from __future__ import annotations

from torchgen_lite.analysis.finding import finding
from torchgen_lite.diagnostics import Diagnostic
from torchgen_lite.loader.entry import NativeFunction


def has_any_number(function: NativeFunction) -> bool:
    """Whether a schema has `...` where arguments or results are, which no signature has."""
    return function.func.is_vararg or function.func.is_varret


def skipped(function: NativeFunction, reason: str, target: str) -> Diagnostic:
    """The warning that a target generates nothing for an operator."""
    schema = function.func
    place = schema.name_span or schema.span
    message = f"`{schema.full_name}` {reason}"
    return finding(function, "TG511", message, place, f"left out of target `{target}`")
