"""Types of the schema language: `Tensor(a!)[]?`, `Dict(str, t)`, `(int, Tensor)[]`, `int[2]`."""

from __future__ import annotations

from ..diagnostics import Suggestion, did_you_mean, write_instead
from .cursor import MAX_DEPTH, Abort, Cursor
from .lexer import IDENT, NUMBER
from .model import AliasAnnotation, BaseType, GenericType, ListType, OptionalType, TupleType, Type
from .type_names import BASE_TYPES, GENERIC_TYPES, MEANT_TYPES, is_type_variable, spelling_of

_SHORTHAND = AliasAnnotation((), True, (), True)


def parse_type(cursor: Cursor) -> Type:
    """Parse a type with its suffixes; abort the item if there is none."""
    cursor.depth += 1
    try:
        if cursor.depth > MAX_DEPTH:
            raise cursor.abort("TG212", "type nested too deeply", "here")
        start = cursor.start
        type_ = _atom(cursor)
        text = cursor.token
        if text in ("?", "["):
            type_ = _suffixes(cursor, type_)
        elif text in ("|", "&"):
            _is_foreign(cursor, start)
        return type_
    finally:
        cursor.depth -= 1


def _suffixes(cursor: Cursor, type_: Type) -> Type:
    count = 0
    while True:
        if cursor.take("?"):
            type_ = OptionalType(type_)
            if cursor.token in ("(", "!"):
                raise _misplaced(cursor)
        elif cursor.token == "[":
            type_ = ListType(type_, _size(cursor), _annotation(cursor))
        else:
            return type_
        count += 1
        if count + cursor.depth > MAX_DEPTH:
            raise cursor.abort("TG212", "type nested too deeply", "here")


def _size(cursor: Cursor) -> int | None:
    opening = cursor.start
    cursor.advance()
    size = None
    if cursor.kind == NUMBER:
        digits = cursor.token
        if not digits.isdigit() or len(digits) > 9:
            cursor.report_here("TG217", f"`{cursor.shorten(digits)}` is not a list size", "here")
        else:
            size = int(digits)
        cursor.advance()
    if cursor.kind == IDENT and cursor.texts[cursor.at + 1] == "]":
        cursor.report_here("TG217", f"{cursor.found()} is not a list size", "not a number")
        cursor.advance()
    if not cursor.take("]"):
        # Read on as if it were closed: most often an argument name follows.
        cursor.report("TG205", "`[` is not closed", opening, opening + 1, "expected `]`")
    return size


def _atom(cursor: Cursor) -> Type:
    start = cursor.start
    if cursor.kind != IDENT:
        if cursor.token == "(":
            return TupleType(_type_list(cursor), _annotation(cursor))
        raise cursor.abort(
            "TG200" if cursor.kind in ("bad", "bad_string") else "TG201",
            f"expected a type, found {cursor.found()}",
            "not a type",
        )
    name = cursor.advance()
    # `__torch__.torch.classes.c10d.Work`, or a name from another language.
    while cursor.token in (".", "::"):
        name += cursor.advance() + cursor.ident("TG202", "a name")
    text = cursor.token
    if text == "(" and name in GENERIC_TYPES:
        return GenericType(name, _type_list(cursor), _annotation(cursor))
    name_end = cursor.last_end
    annotation = _annotation(cursor) if text in ("(", "!") else None
    if name not in BASE_TYPES:
        _check_name(cursor, name, start, name_end)
    return BaseType(name, annotation)


def _check_name(cursor: Cursor, name: str, start: int, end: int) -> None:
    is_right = name.startswith("__torch__.") or is_type_variable(name)
    if is_right or name in cursor.opaque or _is_foreign(cursor, start):
        return
    spelling = spelling_of(name)
    known = (*MEANT_TYPES, *GENERIC_TYPES, *cursor.opaque)
    cursor.report(
        "TG202",
        f"unknown type `{cursor.shorten(name)}`",
        start,
        end,
        "not a type",
        write_instead(name, spelling) if spelling else did_you_mean(name, known),
    )


def _is_foreign(cursor: Cursor, start: int) -> bool:
    """Report a type in another language's spelling and step over it; False if there is none."""
    # Imported here: a valid schema has no such type.
    from .foreign_types import read_foreign_type

    foreign = read_foreign_type(cursor.text, start)
    written = cursor.text[start : foreign.end].rstrip() if foreign else ""
    if foreign is None or foreign.spelling in (written, spelling_of(written)):
        return False
    cursor.report(
        "TG202",
        f"`{cursor.shorten(written)}` is not how a schema spells a type",
        start,
        start + len(written),
        "not a type",
        Suggestion(f"write `{cursor.shorten(foreign.spelling)}`", written, foreign.spelling),
    )
    while cursor.start < foreign.end and cursor.kind != "end":
        cursor.advance()
    return True


def _type_list(cursor: Cursor) -> tuple[Type, ...]:
    opening = cursor.start
    cursor.advance()
    types = []
    if cursor.take(")"):
        return ()
    while True:
        types.append(parse_type(cursor))
        if cursor.take(","):
            continue
        if cursor.take(")"):
            return tuple(types)
        cursor.report("TG205", "`(` is not closed", opening, opening + 1, "opened here")
        raise cursor.abort("TG201", f"expected `,` or `)`, found {cursor.found()}", "here")


def _annotation(cursor: Cursor) -> AliasAnnotation | None:
    """`!`, `(a)`, `(a!)`, `(a|b)`, `(*)`, `(a -> *)`, or nothing."""
    if cursor.take("!"):
        return _SHORTHAND
    if not cursor.take("("):
        return None
    try:
        before = _alias_set(cursor)
        is_write = cursor.take("!")
        after = _alias_set(cursor) if cursor.take("->") else ()
        cursor.expect(")", "TG208")
    except Abort:
        # The parenthesis belongs to the annotation: leaving it would end the argument list.
        while cursor.kind != "end" and cursor.token not in (",", ")"):
            cursor.advance()
        cursor.take(")")
        raise
    return AliasAnnotation(before, is_write, after)


def _misplaced(cursor: Cursor) -> Abort:
    """Report an annotation after `?`: PyTorch's parsers want it after the tensor."""
    start = cursor.start
    message = "the alias annotation comes after `?`"
    _annotation(cursor)
    cursor.report(
        "TG208",
        message,
        start,
        cursor.last_end,
        "belongs to the tensor",
        "write it before the `?`, as in `Tensor(a!)?`",
    )
    return Abort()


def _alias_set(cursor: Cursor) -> tuple[str, ...]:
    names: list[str] = []
    while not names or cursor.take("|"):
        if cursor.token != "*" and cursor.kind != IDENT:
            raise cursor.abort(
                "TG208",
                f"expected an alias set, found {cursor.found()}",
                "not a name",
                "alias annotations look like `(a)`, `(a!)`, `(a|b)` or `(a -> *)`",
            )
        names.append(cursor.advance())
    return tuple(names)
