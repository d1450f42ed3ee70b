"""What fields of an entry take: how each is read, and its JSON Schema."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable
from importlib import import_module
from typing import Any, NamedTuple

from torchgen_lite.loader.config.options import Json
from torchgen_lite.loader.entry.reader import (
    KERNEL_NAME,
    OPERATOR,
    OPERATOR_NAME,
    Dialect,
    EntryReader,
)
from torchgen_lite.loader.versions import parse_range
from torchgen_lite.loader.yaml.nodes import ListNode, Node

Schema = Callable[[Dialect], Json]
Read = Callable[[EntryReader, str, Node], object]


class Shape(NamedTuple):
    """What a field takes.

    `schema` returns the JSON Schema in a dialect. `read` returns the value, given the entry's reader,
    the field's name and its node; without `read`, the field is kept as text. `is_words` says that the
    field is a comma list or a YAML list.
    """

    schema: Schema
    read: Read | None = None
    is_words: bool = False


def plain(**schema: object) -> Schema:
    """A schema that is the same in all dialects."""
    return lambda dialect: schema


def comma_list(words: Iterable[str]) -> str:
    """The pattern of one or more of these words with commas between them."""
    any_word = "|".join(re.escape(word) for word in words)
    return rf"^\s*(?:{any_word})\s*(?:,\s*(?:{any_word})\s*)*$"


def words(pattern: str, choices: Collection[str] = (), least: int = 0) -> Json:
    """A comma list, or a YAML list."""
    text = {"type": "string", "pattern": pattern}
    item = {"enum": list(choices)} if choices else text
    return {"anyOf": [text, {"type": "array", "items": item, "minItems": least}]}


def one_of(what: str, choices: Collection[str]) -> Shape:
    """One of a few words; TG107 for any other."""

    def read(reader: EntryReader, name: str, node: Node) -> str | None:
        text = reader.text_of(name, node)
        known = text is not None and reader.choice("TG107", what, text, node, choices)
        return text if known else None

    return Shape(plain(enum=list(choices)), read)


def text_that(
    fits: Callable[[str], object],
    pattern: str,
    code: str,
    what: str,
    label: str = "not a name",
    hint: str | None = None,
) -> Shape:
    """Text that fits; of any other, `code` says that it is not `what`."""

    def read(reader: EntryReader, name: str, node: Node) -> str | None:
        text = reader.text_of(name, node)
        if text is None or fits(text):
            return text
        reader.refuse(code, text, what, node, label, hint)
        return None

    return Shape(plain(type="string", pattern=pattern), read)


def some_of(what: str, choices: Collection[str]) -> Shape:
    """Some of a few words; TG107 for any other, TG114 for none."""

    def read(reader: EntryReader, name: str, node: Node) -> tuple[str, ...]:
        if isinstance(node, ListNode) and not node.items:
            reader.report("TG114", f"`{name}` has no value", node, f"expected a {what}")
        return reader.choices("TG107", what, name, node, choices)

    return Shape(plain(**words(comma_list(choices), choices, least=1)), read, is_words=True)


def declared_in(module: str, name: str = "SHAPE") -> Shape:
    """The shape that a module of `loader` declares, imported when an entry has the field."""

    def shape() -> Any:
        return getattr(import_module(f"torchgen_lite.loader.entry.{module}"), name)

    return Shape(lambda dialect: shape().schema(dialect), lambda *given: shape().read(*given))


TEXT = Shape(plain(type="string"), EntryReader.text_of)
FLAG = Shape(plain(type="boolean"), EntryReader.flag)
UNREAD = {"any": Shape(plain()), "boolean": Shape(plain(type="boolean"))}
FUNC = Shape(
    plain(type="string", pattern=rf"^\s*{OPERATOR}\s*\([\s\S]*\)\s*->\s*[\s\S]*\S[\s\S]*$")
)
OPERATOR_OF = text_that(
    OPERATOR_NAME.fullmatch, f"^{OPERATOR}$", "TG123", "the name of an operator"
)
FUNCTION = text_that(
    lambda text: "::" not in text and KERNEL_NAME.fullmatch(text),
    f"^{KERNEL_NAME.pattern}$",
    "TG334",
    "the name of a Python function",
)
RANGE = text_that(
    lambda text: parse_range(text) is not None,
    r"^\s*(?:>=|<=|==|!=|~=|<|>)\s*[0-9]",
    "TG119",
    "a version range",
    "here",
    'write it like ">=2.6,<2.9"',
)
