"""The schema parser: recursive descent over tokens. Mistakes are collected, never raised.

The language is the union of what torchgen and PyTorch's own parser accept:

    schema   := name '(' [argument (',' argument)*] ')' '->' returns
    name     := IDENT ('::' IDENT)* ['.' IDENT]
    argument := type IDENT ['=' default] | '*' | '...'
    returns  := return | '...' | '(' [return (',' return)*] ')'
    type     := atom ('[' [NUMBER] ']' | '?' | alias)*
    alias    := '!' | '(' set ['!'] ['->' set] ')'

Recovery: after a mistake inside an argument, parsing skips to the next comma of the same list, so
three wrong arguments give three diagnostics.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection
from contextlib import suppress

from ..diagnostics import Diagnostic, Diagnostics, Help, Label, Locate, Suggestion, has_errors
from .argument_parser import parse_argument, parse_return
from .cursor import Abort, Cursor
from .lexer import BAD_STRING
from .model import Argument, Parts, Return

# PyTorch's longest schema has some 1,600 characters.
MAX_LENGTH = 64 * 1024


def parse_parts(
    text: str, locate: Locate, opaque: Collection[str] = ()
) -> tuple[Parts | None, Diagnostics]:
    """The parts of one schema; None if there was any error."""
    if len(text) > MAX_LENGTH:
        return None, (
            Diagnostic(
                "TG213",
                f"schema of {len(text)} characters, more than the {MAX_LENGTH} allowed",
                Label(locate(0, 1), "starts here"),
            ),
        )
    cursor = Cursor(text, locate)
    parts = None
    cursor.opaque = opaque
    with suppress(Abort):
        parts = _schema(cursor)
    return None if has_errors(cursor.diagnostics) else parts, tuple(cursor.diagnostics)


def _schema(cursor: Cursor) -> Parts:
    if cursor.kind == "end":
        raise cursor.abort("TG209", "empty schema", "a schema is expected here")
    name_start = cursor.start
    name, overload_name = _name(cursor)
    name_end = cursor.last_end
    arguments, is_vararg = _arguments(cursor)
    if not cursor.take("->"):
        raise cursor.abort(
            "TG206",
            "missing `->` and return type",
            f"expected `->`, found {cursor.found()}",
            _arrow(cursor),
        )
    returns, is_varret, parenthesized = _returns(cursor)
    if cursor.kind != "end":
        start = cursor.start
        many = "put several results in parentheses: `-> (Tensor, Tensor)`"
        help_ = many if cursor.take(",") else None
        cursor.report(
            "TG210",
            "text after the end of the schema",
            start,
            len(cursor.text.rstrip()),
            help=help_,
        )
    span = cursor.locate(name_start, cursor.last_end)
    name_length = cursor.locate(name_start, name_end).end - span.start
    parts = name, overload_name, arguments, returns
    return (*parts, is_vararg, is_varret, parenthesized, span, name_length)


def _name(cursor: Cursor) -> tuple[str, str]:
    """The name and the overload: `aten::add_` and `Tensor` for `aten::add_.Tensor`."""
    name = cursor.ident("TG215", "an operator name")
    while cursor.take("::"):
        name = f"{name}::{cursor.ident('TG215', 'operator name')}"
    overload_name = ""
    if cursor.take("."):
        start = cursor.start
        overload_name = cursor.ident("TG215", "an overload name")
        if overload_name == "default" or overload_name.startswith("__"):
            end = cursor.last_end
            without = Suggestion("leave the overload name out", cursor.locate(start - 1, end), "")
            hint = without if overload_name == "default" else None
            cursor.report(
                "TG215",
                f"`{overload_name}` cannot be an overload name",
                start,
                end,
                "reserved",
                hint,
            )
    return name, overload_name


def _arrow(cursor: Cursor) -> Help:
    """What to write in place of `=>`, `-->` or `- >`, or where nothing stands."""
    sign = re.match(r"=+>|-+\s*>|-|>", cursor.text[cursor.start :])
    if sign is None:
        return "write `-> Tensor`, or `-> ()` if the operator returns nothing"
    place = cursor.locate(cursor.start, cursor.start + len(sign[0]))
    return Suggestion("write `->`", place, "->")


def _name_meant(cursor: Cursor) -> Help | None:
    """The name for `mylib:f`, `mylib/f`, `mylib::my-f`, `mylib::my f` and `def f`."""
    written = cursor.text.partition("(")[0].strip()
    name = re.sub(r"^(?:def|func|op)\s+", "", written)
    name = re.sub(r"(?<=\w)\s*(?<!:)[:/](?!:)\s*(?=\w)", "::", name)
    name = re.sub(r"(?<=\w)(?:\s*-\s*|\s+)(?=\w)", "_", name)
    if name == written or not re.fullmatch(r"(?:\w+::)?\w+(?:\.\w+)?", name):
        return None
    begin = cursor.text.index(written)
    place = cursor.locate(begin, begin + len(written))
    return Suggestion(f"write `{name}`", place, name, is_safe=False)


def _arguments(cursor: Cursor) -> tuple[tuple[Argument, ...], bool]:
    opening = cursor.start
    if not cursor.take("("):
        raise cursor.abort(
            "TG201",
            "expected `(` after the operator name",
            f"found {cursor.found()}",
            _name_meant(cursor),
        )
    arguments = []
    stars: list[int] = []

    def read() -> None:
        star = cursor.start
        if not cursor.take("*"):
            arguments.append(parse_argument(cursor, bool(stars)))
            return
        if stars:
            cursor.report("TG207", "second `*`", star, star + 1)
        stars.append(star)

    is_vararg = _items(cursor, opening, "argument", read)
    if stars and not (arguments and arguments[-1].kwarg_only) and not cursor.errors:
        warning = Diagnostic(
            "TG207",
            "no keyword-only argument after `*`",
            Label(cursor.locate(stars[0], stars[0] + 1)),
        )
        cursor.diagnostics.append(warning)
    return tuple(arguments), is_vararg


def _items(cursor: Cursor, opening: int, what: str, read: Callable[[], None]) -> bool:
    """Read the items up to `)`; whether the last one is `...`."""
    is_open = False
    if cursor.take(")"):
        return False
    while True:
        try:
            if is_open:
                raise cursor.abort("TG211", f"{what} after `...`", "`...` must be the last one")
            if cursor.take("..."):
                is_open = True
            else:
                read()
        except Abort:
            cursor.skip_item()
        if cursor.take(","):
            continue
        if cursor.take(")") or not _unclosed(cursor, opening):
            return is_open


def _hexadecimal(cursor: Cursor) -> str | None:
    """The help for C++'s `0x1F`, of which libtorch reads the `0` and leaves the rest."""
    at = cursor.at
    text = cursor.token
    is_zero = at > 0 and cursor.texts[at - 1] == "0" and cursor.starts[at] == cursor.last_end
    if not is_zero or not re.fullmatch("[xX][0-9a-fA-F]{1,16}", text):
        return None
    return f"libtorch reads this as 0; write {int(text[1:], 16)}"


def _unclosed(cursor: Cursor, opening: int) -> bool:
    """Report a token where `,` or `)` should be; return whether to go on with the list."""
    if cursor.kind == "end" and BAD_STRING in cursor.kinds:
        # An unclosed string has swallowed the rest, and has been reported.
        raise Abort
    if cursor.kind == "end" or cursor.token == "->":
        cursor.report_here(
            "TG205",
            "the argument list is not closed",
            "expected `)`",
            None,
            (Label(cursor.locate(opening, opening + 1), "opened here"),),
        )
        if cursor.kind == "end":
            raise Abort
        return False
    cursor.report_here(
        "TG201",
        f"expected `,` or `)`, found {cursor.found()}",
        "unexpected",
        _hexadecimal(cursor),
    )
    cursor.skip_item()
    if cursor.take(","):
        return True
    return not cursor.take(")")


def _returns(cursor: Cursor) -> tuple[tuple[Return, ...], bool, bool]:
    """The returns, whether they end in `...`, and whether they are in parentheses."""
    if cursor.take("..."):
        return (), True, False
    opening = cursor.start
    if not cursor.take("("):
        return (parse_return(cursor),), False, False
    returns = []
    is_varret = _items(cursor, opening, "return", lambda: returns.append(parse_return(cursor)))
    return tuple(returns), is_varret, True
