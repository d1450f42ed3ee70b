"""Python literals, docstrings and comments."""

from __future__ import annotations

import cmath
import math
from collections.abc import Container, Iterable, Sequence


def quote(text: str) -> str:
    """A string literal: double quotes, unless single ones need fewer backslashes.

    >>> print(quote("add"), quote('say "x"'))
    "add" 'say "x"'
    """
    if text.isprintable() and '"' not in text and "\\" not in text:
        return f'"{text}"'
    mark = "'" if text.count('"') > text.count("'") else '"'
    body = text.replace("\\", "\\\\").replace(mark, "\\" + mark)
    return mark + one_line(body) + mark


def docstring(text: str) -> str:
    """A docstring on one line: backslashes are doubled, and no quote touches the closing quotes.

    >>> print(docstring("aten::relu(Tensor self) -> Tensor"))
    \"\"\"aten::relu(Tensor self) -> Tensor\"\"\"
    """
    if text.isprintable() and '"' not in text and "\\" not in text:
        return f'"""{text}"""'
    body = one_line(text.replace("\\", "\\\\").replace('"', '\\"')).strip()
    # An escaped quote is only needed where three quotes meet; elsewhere the plain one reads better.
    if '"""' not in text and not text.endswith('"'):
        body = body.replace('\\"', '"')
    # A quote may not touch the closing quotes.
    return f'"""{body}{" " if body.endswith(chr(34)) else ""}"""'


def doc_lines(text: str | None) -> list[str]:
    """The lines of a `doc:` without trailing blanks, and without the indentation that all lines but
    the first share; none if the text is blank.

    >>> doc_lines("Twice.\\n\\n    The dtype stays.  \\n      Always.\\n")
    ['Twice.', '', 'The dtype stays.', '  Always.']
    """
    if not text or text.isspace():
        return []
    first, *others = [line.rstrip() for line in text.expandtabs().strip().splitlines()]
    strip = min((len(line) - len(line.lstrip()) for line in others if line), default=0)
    return [first, *(line[strip:] for line in others)]


def doc_text(lines: Sequence[str]) -> str:
    """A docstring of these lines, without indentation."""
    if len(lines) == 1:
        return docstring(lines[0])
    escaped = [one_line(t.replace("\\", "\\\\").replace('"""', '\\"\\"\\"')) for t in lines]
    return "\n".join([f'"""{escaped[0]}', *escaped[1:], '"""'])


def one_line(text: str) -> str:
    """Text for a comment: characters that would end the line are escaped.

    >>> print(one_line("ops\\n.yaml"))
    ops\\n.yaml
    """
    if text.isprintable():
        return text
    return "".join(map(_printable, text))


def _printable(character: str) -> str:
    if character.isprintable():
        return character
    return character.encode("unicode_escape").decode()


def lengthened(name: str, avoided: Container[str]) -> str:
    """The name, with underscores appended until it is none of those to avoid.

    >>> lengthened("schema", {"schema", "schema_"}), lengthened("add", {"schema"})
    ('schema__', 'add')
    """
    while name in avoided:
        name += "_"
    return name


def literal(value: object) -> str:
    """A Python literal for a default value: lists become tuples, which are immutable.

    >>> print(literal([0, 1]), literal(math.inf), literal("mean"), literal(1 + 2j))
    (0, 1) 1e999 "mean" complex(1.0, 2.0)
    """
    if isinstance(value, str):
        return quote(value)
    if isinstance(value, float) and not math.isfinite(value):
        # Not a call of `float`: the framework may have a dtype with that name.
        return {math.inf: "1e999", -math.inf: "-1e999"}.get(value, "(1e999 - 1e999)")
    if isinstance(value, complex) and cmath.isfinite(value) and not value.real:
        # Not a call of `complex`: an operator may have that name.
        return f"{value.imag}j"
    if isinstance(value, complex):
        return f"complex({literal(value.real)}, {literal(value.imag)})"
    if isinstance(value, (list, tuple)):
        return tuple_display([literal(item) for item in value])
    return repr(value)


def quoted(texts: Iterable[str]) -> str:
    """The texts as a tuple of literals: `("values", "indices")`."""
    return tuple_display(list(map(quote, texts)))


def tuple_display(items: Sequence[str]) -> str:
    """`()`, `(a,)` or `(a, b)` on one line."""
    if len(items) == 1:
        return f"({items[0]},)"
    return f"({', '.join(items)})"
