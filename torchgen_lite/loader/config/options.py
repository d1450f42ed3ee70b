"""What a user may set, declared once: an option is a field of a frozen dataclass.

    @dataclass(frozen=True, slots=True, kw_only=True)
    class Options:
        shards: int = option("Into how many files it is split.", number(0, 256), 0)

The declaration gives the reader, the JSON Schema of the configuration and the tables of
docs/configuration.md. An attribute `calls_only` is the option `calls-only`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, fields, replace
from functools import cache
from typing import Any, Generic, NamedTuple, TypeVar

from torchgen_lite.diagnostics import Help, did_you_mean
from torchgen_lite.diagnostics.text import quoted

Json = dict[str, object]
# An identifier in schemas, Python and C++.
NAME = "[A-Za-z_][A-Za-z0-9_]*"
T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)


class Unfit(ValueError):
    """A value that an option refuses: the message, which follows its name, and the help."""

    def __init__(self, message: str, help: Help | None = None) -> None:
        super().__init__(message)
        self.help = help


@dataclass(frozen=True, slots=True)
class Kind(Generic[T_co]):
    """The values that an option takes: what they are called, their JSON Schema, and their reader.

    `read` raises `Unfit` for any other value.
    """

    name: str
    schema: Json
    read: Callable[[object], T_co]


def _fitting(
    name: str, schema: Json, fits: Callable[[Any], bool], words: Iterable[str] = ()
) -> Kind[Any]:
    def read(value: object) -> object:
        if not fits(value):
            raise Unfit(f" takes {name}", did_you_mean(str(value), words))
        return value

    return Kind(name, schema, read)


TEXT: Kind[str] = _fitting("a string", {"type": "string"}, lambda value: type(value) is str)
FLAG: Kind[bool] = _fitting("true or false", {"type": "boolean"}, lambda value: type(value) is bool)
TABLE: Kind[Mapping[str, object]] = _fitting(
    "a table", {"type": "object"}, lambda value: type(value) is dict
)


def number(least: int, most: int) -> Kind[int]:
    """An integer between two bounds."""
    schema = {"type": "integer", "minimum": least, "maximum": most}
    bounds = range(least, most + 1)
    name = f"a number from {least} to {most}"
    return _fitting(name, schema, lambda value: type(value) is int and value in bounds)


def choice(*words: str) -> Kind[str]:
    """One of a few words."""
    name = quoted(words, " or ")
    return _fitting(name, {"enum": list(words)}, lambda value: value in words, words)


def matching(
    pattern: str,
    refusal: str,
    accept: Callable[[str], bool] = lambda text: True,
    help: Callable[[str], Help | None] = lambda text: None,
) -> Kind[str]:
    """Text that matches a pattern and any further conditions of `accept`.

    `refusal` says what is wrong with any other text: `is not the name of a Python module`.
    """

    def read(value: object) -> str:
        text = TEXT.read(value)
        # The pattern is compiled only when needed: most projects set few options.
        if not re.fullmatch(pattern, text, re.ASCII) or not accept(text):
            raise Unfit(f": `{text}` {refusal}", help(text))
        return text

    return Kind("a string", {"type": "string", "pattern": f"^(?:{pattern})$"}, read)


PATH = matching(r"[^\x00-\x1f\x7f]*", "is not a path: it has control characters")


def list_of(item: Kind[T], name: str = "a list of strings") -> Kind[tuple[T, ...]]:
    """Values of one kind, of which each counts once."""

    def read(value: object) -> tuple[T, ...]:
        if not isinstance(value, (list, tuple)) or not all(isinstance(v, str) for v in value):
            raise Unfit(f" takes {name}")
        items = [item.read(v) for v in value]
        return tuple(dict.fromkeys(items))

    return Kind(name, {"type": "array", "items": item.schema}, read)


def one_or_more(item: Kind[T]) -> Kind[tuple[T, ...]]:
    """A list, or a single item without the list."""
    several = list_of(item)
    return Kind(
        several.name,
        {"anyOf": [item.schema, several.schema]},
        lambda value: several.read([value] if isinstance(value, str) else value),
    )


def table_of(
    item: Kind[T], taken: Mapping[str, str] | None = None, key: Kind[str] = TEXT
) -> Kind[Mapping[str, T]]:
    """A table of values of one kind, whose names are of kind `key`.

    Names in `taken` are refused, each with its reason.
    """
    name = "a table of strings"
    reasons = taken or {}

    def read(value: object) -> Mapping[str, T]:
        if not isinstance(value, Mapping) or not all(isinstance(v, str) for v in value.values()):
            raise Unfit(f" takes {name}")
        for given in value:
            if given in reasons:
                raise Unfit(f": {reasons[given]}")
        return {key.read(given): item.read(v) for given, v in value.items()}

    schema: Json = {"type": "object", "additionalProperties": item.schema}
    if reasons:
        schema["propertyNames"] = {"not": {"enum": list(reasons)}}
    elif "pattern" in key.schema:
        schema["propertyNames"] = key.schema
    return Kind(name, schema, read)


@dataclass(frozen=True, slots=True)
class Option:
    """An option as it is declared.

    `default` is None if no value of that kind is the default; `shown` says in words what happens
    then. `torch` is the option's value under `--torch`. An option `about_framework` applies to any
    schema file. If an option `names_modules`, the functions of those modules are read with the
    program.
    """

    doc: str
    kind: Kind[object]
    default: object
    name: str = ""
    table: str = ""
    shown: str = ""
    torch: object = None
    is_required: bool = False
    about_framework: bool = False
    names_modules: bool = False

    def read(self, value: object) -> object:
        """The checked value. An option that is empty text by default may also be set to it."""
        return "" if value == "" == self.default else self.kind.read(value)

    @property
    def schema(self) -> Json:
        schema = {"description": self.doc, **self.kind.schema}
        if self.default == "" and "pattern" in schema:
            schema["pattern"] = f"^$|{schema['pattern']}"
        return schema


def option(doc: str, kind: Kind[T], default: T | None = None, **more: Any) -> Any:
    """A field of a dataclass that declares an option; `more` are attributes of `Option`."""
    declared = Option(doc, kind, default, **more)
    if declared.is_required:
        return field(metadata={"option": declared})
    return field(default_factory=lambda: default, metadata={"option": declared})


@cache
def options_of(declared: type) -> dict[str, Option]:
    """The options of a dataclass, by attribute."""
    options = {f.name: f.metadata["option"] for f in fields(declared) if "option" in f.metadata}
    return {
        attribute: replace(option, name=option.name or attribute.replace("_", "-"))
        for attribute, option in options.items()
    }


class Problem(NamedTuple):
    """A mistake in a setting: the option, the message, and the help."""

    option: str
    message: str
    help: Help | None = None


def read_options(
    options: Mapping[str, Option], given: Mapping[str, object]
) -> tuple[dict[str, Any], list[Problem]]:
    """The settings by attribute, and every mistake in them. Unknown settings are skipped."""
    values = {}
    problems = []
    for attribute, declared in options.items():
        name = declared.name
        if name not in given:
            if declared.is_required:
                problems.append(Problem(name, f"`{name}` is missing", declared.doc))
            continue
        try:
            values[attribute] = declared.read(given[name])
        except Unfit as error:
            problems.append(Problem(name, f"`{name}`{error}", error.help))
    return values, problems


def table_schema(options: Iterable[Option], **more: object) -> Json:
    """The JSON Schema of a table with these options, and `more` properties."""
    known = list(options)
    schema = {
        "type": "object",
        "properties": {**{option.name: option.schema for option in known}, **more},
        "additionalProperties": False,
    }
    required = [option.name for option in known if option.is_required]
    return {**schema, "required": required} if required else schema
