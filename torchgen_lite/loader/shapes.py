"""What a field of an entry takes: how it is read, and its JSON Schema."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable
from typing import NamedTuple

from torchgen_lite.loader.options import Json
from torchgen_lite.loader.reader import OPERATOR, EntryReader

Schema = Callable[[Collection[str]], Json]
Read = Callable[[EntryReader, str], object]


class Shape(NamedTuple):
    """What a field takes.

    `schema` returns the JSON Schema, given the known tags. `read` returns the value, given the
    entry's reader and the field's name; without `read`, the field is kept as text. `is_words` says
    that the field is a comma list or a YAML list.
    """

    schema: Schema
    read: Read | None = None
    is_words: bool = False


def plain(**schema: object) -> Schema:
    """A schema that is the same for all tags."""
    return lambda tags: schema


def comma_list(words: Iterable[str]) -> str:
    """The pattern of one or more of these words with commas between them."""
    one = "|".join(re.escape(word) for word in words)
    return rf"^\s*(?:{one})\s*(?:,\s*(?:{one})\s*)*$"


def words(pattern: str, choices: Collection[str] = ()) -> Json:
    """A comma list, or a YAML list."""
    item: Json = {"enum": list(choices)} if choices else {"type": "string", "pattern": pattern}
    return {"anyOf": [{"type": "string", "pattern": pattern}, {"type": "array", "items": item}]}


def one_of(code: str, what: str, choices: Collection[str]) -> Shape:
    """One of a few words; any other word is reported under `code`."""

    def read(reader: EntryReader, name: str) -> str | None:
        text = reader.text(name)
        if text is None or text in choices:
            return text
        reader.choice(code, what, text, reader.fields[name][1], choices)
        return None

    return Shape(plain(enum=list(choices)), read)


TEXT = Shape(plain(type="string"), EntryReader.text)
FLAG = Shape(plain(type="boolean"), EntryReader.flag)
OPERATOR_NAME = Shape(plain(type="string", pattern=f"^{OPERATOR}$"), EntryReader.operator_name)
UNREAD_FLAG = Shape(plain(type="boolean"))
UNREAD = Shape(plain())
