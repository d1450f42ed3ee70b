"""Options declared as fields of a dataclass."""

from __future__ import annotations

from dataclasses import dataclass

import jsonschema
import pytest

from tests.pages import options_page
from torchgen_lite.loader.config.options import (
    FLAG,
    TEXT,
    choice,
    list_of,
    matching,
    number,
    one_or_more,
    option,
    options_of,
    read_options,
    table_of,
    table_schema,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    tensor: str = option("The type.", matching("[a-z]+", "is not a type"), is_required=True)
    calls_only: bool = option("Calls.", FLAG, False)
    kind: str = option("Kind.", choice("def", "fragment"), "def")
    shards: int = option("Files.", number(0, 4), 0)
    name: str = option("Name.", matching("[a-z]+", "is not a name"), "", shown="the first")
    headers: tuple[str, ...] = option("Headers.", list_of(TEXT), ())
    folders: tuple[str, ...] = option("Folders.", one_or_more(TEXT), ("a",))
    types: dict[str, str] = option("Types.", table_of(TEXT, {"T": "`T` is ours"}), {})


OPTIONS = options_of(Options)
SCHEMA = table_schema(OPTIONS.values())


def test_settings_become_the_dataclass() -> None:
    given = {"tensor": "t", "calls-only": True, "folders": "one", "headers": ["x"], "name": ""}
    values, problems = read_options(OPTIONS, given)
    assert problems == []
    assert Options(**values) == Options(
        tensor="t", calls_only=True, folders=("one",), headers=("x",)
    )
    assert Options(tensor="t").folders == ("a",)
    jsonschema.validate(given, SCHEMA)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({}, "`tensor` is missing"),
        ({"tensor": "T"}, "`tensor`: `T` is not a type"),
        ({"tensor": ""}, "`tensor`: `` is not a type"),
        ({"calls-only": 0}, "`calls-only` takes true or false"),
        ({"kind": "own"}, "`kind` takes `def` or `fragment`"),
        ({"shards": 5}, "`shards` takes a number from 0 to 4"),
        ({"shards": True}, "`shards` takes a number from 0 to 4"),
        ({"name": 1}, "`name` takes a string"),
        ({"headers": "x"}, "`headers` takes a list of strings"),
        ({"folders": [1]}, "`folders` takes a list of strings"),
        ({"types": {"T": "x"}}, "`types`: `T` is ours"),
        ({"types": {"S": 1}}, "`types` takes a table of strings"),
    ],
)
def test_mistakes(given: dict[str, object], said: str) -> None:
    whole = given if "tensor" in given or not given else {"tensor": "t", **given}
    _, problems = read_options(OPTIONS, whole)
    assert [problem.message for problem in problems] == [said]
    assert not jsonschema.Draft7Validator(SCHEMA).is_valid(whole)


def test_every_mistake_is_reported_and_a_near_word_named() -> None:
    _, problems = read_options(OPTIONS, {"kind": "DEF", "shards": -1})
    assert [(p.option, p.help and str(p.help)) for p in problems] == [
        ("tensor", "The type."),
        ("kind", "did you mean `def`?"),
        ("shards", None),
    ]


def test_the_table_of_the_docs() -> None:
    assert options_page(list(OPTIONS.values())[:5]) == (
        "| option | takes | default | meaning |\n"
        "|---|---|---|---|\n"
        "| `tensor` | a string | required | The type. |\n"
        "| `calls-only` | true or false | `false` | Calls. |\n"
        '| `kind` | `def` or `fragment` | `"def"` | Kind. |\n'
        "| `shards` | a number from 0 to 4 | `0` | Files. |\n"
        "| `name` | a string | the first | Name. |\n"
    )
