"""One argument or one return value: a type, a name, a default."""

from __future__ import annotations

from ..diagnostics import Span, did_you_mean, write_instead
from .cursor import Cursor
from .defaults import misfit
from .lexer import IDENT, NUMBER, STRING
from .model import Argument, Return, Type
from .type_parser import parse_type


def parse_argument(cursor: Cursor, kwarg_only: bool = False) -> Argument:
    start = cursor.start
    type_ = parse_type(cursor)
    name_start = cursor.start
    if cursor.kind != IDENT:
        raise cursor.abort(
            "TG214",
            f"expected an argument name, found {cursor.found()}",
            "the argument has no name" if cursor.token in ",)=" else "unexpected",
        )
    name = cursor.advance()
    name_end = cursor.last_end
    locate = cursor.locate
    default = None
    default_start = name_end
    if cursor.take("="):
        default_start = cursor.start
        default = _default(cursor)
        _check_default(cursor, type_, default, default_start)
    whole = locate(start, cursor.last_end)
    named = locate(name_start, name_end)
    behind = locate(default_start, cursor.last_end).start
    offsets = (whole.start, whole.end, named.start, named.end, behind)
    return Argument(type_, name, default, kwarg_only, Span(whole.source, 0, 0), 0, offsets)


def _check_default(cursor: Cursor, type_: Type, default: str, start: int) -> None:
    # By far the most common default, and cheap to accept.
    if default == "None" and str(type_).endswith("?"):
        return
    wrong = misfit(type_, default)
    if wrong is not None:
        label, names = wrong
        is_none = names == ("None",)
        hint = write_instead(default, "None") if is_none else did_you_mean(default, names)
        if hint is None and str(type_) in ("str", "str?") and default.isidentifier():
            hint = write_instead(default, f'"{default}"')
        cursor.report(
            "TG218",
            f"default `{cursor.shorten(default)}` does not fit type `{type_}`",
            start,
            cursor.last_end,
            label,
            hint,
        )


_CLOSING = {"[": "]", "(": ")"}


def _default(cursor: Cursor) -> str:
    """The text of a default value, checked to be a literal, a name, or a list of these."""
    begin = cursor.at
    open_brackets: list[str] = []
    while True:
        text = cursor.token
        if text in _CLOSING and len(open_brackets) < 8:
            open_brackets.append(_CLOSING[cursor.advance()])
            if not cursor.take(open_brackets[-1]):
                continue
            open_brackets.pop()
        else:
            _default_atom(cursor)
        while open_brackets and cursor.take(open_brackets[-1]):
            open_brackets.pop()
        if not open_brackets:
            break
        if not cursor.take(","):
            raise cursor.abort(
                "TG204",
                f"expected `,` or `{open_brackets[-1]}` in a default",
                "unexpected",
            )
    return cursor.slice_from(begin)


def _default_atom(cursor: Cursor) -> None:
    if cursor.kind in (NUMBER, STRING):
        cursor.advance()
        return
    if cursor.token in ("-", "+") and cursor.kinds[cursor.at + 1] in (NUMBER, IDENT):
        cursor.advance()
        cursor.advance()
        return
    if cursor.kind != IDENT:
        if cursor.kind == "bad_string":
            raise cursor.abort("TG204", "the string is not closed", "starts here")
        raise cursor.abort(
            "TG204",
            f"expected a default value, found {cursor.found()}",
            "not a literal",
            "defaults are numbers, strings, True, False, None, names and lists of these",
        )
    name = cursor.advance()
    if name == "float" and cursor.take("("):
        if cursor.kind != STRING:
            raise cursor.abort("TG204", 'expected a string, as in `float("inf")`', "here")
        cursor.advance()
        cursor.expect(")", "TG204")
        return
    while cursor.take("."):
        cursor.ident("TG204", "a name")


def parse_return(cursor: Cursor) -> Return:
    start = cursor.start
    type_ = parse_type(cursor)
    name = cursor.advance() if cursor.kind == IDENT else None
    span = cursor.locate(start, cursor.last_end)
    result = Return(type_, name, span, 0, span.end - span.start)
    if cursor.token == "=" and cursor.kind == "punct":
        begin = cursor.start
        cursor.advance()
        _default(cursor)
        cursor.report("TG216", "a return value cannot have a default", begin, cursor.last_end)
    return result
