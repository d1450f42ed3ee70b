"""How a check says what it found about an entry."""

from __future__ import annotations

from torchgen_lite.diagnostics import Diagnostic, Label, Span
from torchgen_lite.loader.entry import NativeFunction


def finding(
    function: NativeFunction,
    code: str,
    message: str,
    span: Span | None,
    label: str = "",
    help: str | None = None,
    secondary: tuple[Label, ...] = (),
) -> Diagnostic:
    """A diagnostic about one entry; without a place it is at the name."""
    place = span or function.func.name_span or function.span
    return Diagnostic(
        code,
        message,
        Label(place, label) if place else None,
        secondary,
        help,
        operator=function.func.full_name,
        context=function.place("func"),
    )
