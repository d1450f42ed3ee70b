"""How a check says what it found about an entry."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Literal, NamedTuple

from torchgen_lite.diagnostics import Diagnostic, Help, Label, Span
from torchgen_lite.loader.entry.entry import NativeFunction

if TYPE_CHECKING:
    from torchgen_lite.formulas.tree import Mistake, Typed


class Found(NamedTuple):
    """What a check found in an entry; the caller turns it into a diagnostic. `other` is a second labeled place."""

    code: str
    message: str
    span: Span | None = None
    label: str = ""
    help: Help | None = None
    other: tuple[Span | None, str] = (None, "")


def found_in(part: Typed, mistake: Mistake) -> Found:
    """What typing says of a part of a formula."""
    return Found(mistake.code, mistake.message, part.node.span, mistake.label, mistake.help)


Way = Literal[
    "call",
    "full",
    "packet",
    "function",
    "method",
    "gradient",
    "vmap",
    "autocast",
    "functionalize",
    "tags",
    "import",
]


class Witness(NamedTuple):
    """What kind of call it is, and what it has beside the arguments that the old version needs.

    It gives `argument` by its name, or everything up to it by position, each with a value of its own where they are
    `distinct`; `value` is what `argument` gets, what is imported, or the dtype of tensors under autocast. Its
    tensors have the dispatch `key`. It calls the function of a `target`, or else whatever calls the operator. A
    `full` one gives all arguments, a `packet` leaves the overload to whoever runs the call, and a `gradient` is
    that of `argument`, or of the first tensor.
    """

    way: Way = "call"
    argument: str = ""
    by_position: bool = False
    distinct: bool = False
    value: str = ""
    key: str = ""
    target: str = ""


class Change(NamedTuple):
    """What a comparison found in an operator: where the new version has it, what to say there, and
    where the old version had it; and the call that shows it, if one does."""

    code: str
    message: str
    here: Span | None = None
    label: str = ""
    there: Span | None = None
    witness: Witness | None = None


Findings = Iterator[Found]
Changes = Iterator[Change]
Reported = Iterator[Diagnostic]


def finding(
    function: NativeFunction,
    code: str,
    message: str,
    span: Span | None,
    label: str = "",
    help: Help | None = None,
    other: tuple[Span | None, str] = (None, ""),
) -> Diagnostic:
    """A diagnostic about one entry, at its name by default. `other` is a second labeled place."""
    place = span or function.func.name_span or function.span
    return Diagnostic(
        code,
        message,
        Label(place, label) if place else None,
        (Label(other[0], other[1]),) if other[0] else (),
        help,
        operator=function.func.full_name,
        context=function.place("func"),
    )


Rule = Callable[[NativeFunction], Findings]
"""What can be wrong with an entry by itself."""


def of_each(functions: Iterable[NativeFunction], rules: Iterable[Rule]) -> Reported:
    """What these rules find in each of the entries."""
    for function in functions:
        for rule in rules:
            # Most rules find nothing, and each is asked of every entry.
            for mistake in rule(function):
                yield finding(function, *mistake)


def findings(
    function: NativeFunction, mistakes: Iterable[Found], place: Span | None = None
) -> Reported:
    """The diagnostics of what a check found in an entry, by default at a place in it."""
    return (
        finding(function, *mistake._replace(span=mistake.span or place)) for mistake in mistakes
    )
