"""What a lint rule is, and how it says what it found."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from torchgen_lite.diagnostics import CODES, Diagnostic, Label, Span
from torchgen_lite.loader.entry import NativeFunction

Rule = Callable[[Sequence[NativeFunction]], Iterator[Diagnostic]]


def finding(
    function: NativeFunction,
    code: str,
    message: str,
    span: Span | None,
    label: str = "",
    help: str | None = None,
    secondary: tuple[Label, ...] = (),
) -> Diagnostic:
    """A diagnostic of a rule about one entry, with the severity of its code."""
    place = span or function.func.name_span or function.span
    return Diagnostic(
        code,
        message,
        Label(place, label) if place else None,
        secondary,
        help,
        severity=CODES[code].severity,
        operator=function.func.full_name,
        context=dict(function.field_spans).get("func"),
    )


def local_name(function: NativeFunction) -> str:
    """Name and overload without the namespace."""
    return function.func.full_name.rpartition("::")[2]
