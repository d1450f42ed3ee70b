"""YAML nodes: places, limits, recovery."""

from __future__ import annotations

import pytest
from yaml import CSafeLoader

from torchgen_lite.diagnostics import Source
from torchgen_lite.loader.yaml import nodes
from torchgen_lite.loader.yaml.nodes import ListNode, MapNode, ScalarNode, read_yaml
from torchgen_lite.loader.yaml.python_parser import PythonParser
from torchgen_lite.loader.yaml.text import character_offsets, scalar_locator


def _first_value(text: str) -> tuple[Source, ScalarNode]:
    source = Source("a.yaml", text)
    node, found = read_yaml(source)
    assert found == ()
    assert isinstance(node, ListNode)
    entry = node.items[0]
    assert isinstance(entry, MapNode)
    value = entry.items[0][1]
    assert isinstance(value, ScalarNode)
    return source, value


@pytest.mark.parametrize(
    "text",
    [
        "- func: add(Tensor x) -> y\n",
        "- func: 'add(Tensor x) -> y'\n",
        '- func: "add(Tensor x) -> y"\n',
        "- func: >\n    add(Tensor x)\n    -> y\n",
        "- func: >-\n    add(Tensor\n    x) -> y\n",
        "- func: |\n    add(Tensor\n      x) -> y\n",
        "- func: add(Tensor\n    x) -> y\n",
        "- func: 'it''s add(Tensor x)\n    -> y'\n",
        '- func: "\\tadd\\u0041 \\\n    (Tensor x) -> y"\n',
        "- func: >2\n\n    a\n\n\n    b x) -> y\n",
        "\ufeff- func: bom x) -> y\n",
        "- func: crlf\r\n    x) -> y\r\n",
    ],
)
def test_every_word_of_a_scalar_is_found_in_the_file(text: str) -> None:
    source, node = _first_value(text)
    locate = scalar_locator(source, node)
    for word in ("x) ->", "y"):
        begin = node.value.rindex(word)
        assert " ".join(locate(begin, begin + len(word)).text.split()) == word
    offsets = character_offsets(text, node)
    assert len(offsets) == len(node.value) + 1
    assert offsets == sorted(offsets)


def test_scalars_stay_text() -> None:
    node, _ = read_yaml(Source("a.yaml", "- {on: yes, no: 1.0, y: ~, 1: 0x10}\n"))
    assert isinstance(node, ListNode) and isinstance(node.items[0], MapNode)
    pairs = [
        (key.value, value.value)
        for key, value in node.items[0].items
        if isinstance(key, ScalarNode) and isinstance(value, ScalarNode)
    ]
    assert pairs == [("on", "yes"), ("no", "1.0"), ("y", "~"), ("1", "0x10")]


def test_aliases_are_read() -> None:
    node, found = read_yaml(Source("a.yaml", "- &a {k: v}\n- *a\n"))
    assert found == ()
    assert isinstance(node, ListNode) and node.items[0] is node.items[1]


BOMB = "a0: &a0 [x, x]\n" + "".join(
    f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 10)}]\n" for i in range(1, 12)
)


@pytest.mark.parametrize(
    ("text", "code"),
    [
        (BOMB, "TG110"),
        ("[" * 100_000, "TG110"),
        ("- " * 50_000, "TG110"),
        ("{" * 40, "TG110"),
        ("- a: *nowhere\n", "TG109"),
        ("- &a [*a]\n", "TG109"),
        ("- !!python/name:os.system x\n", "TG109"),
        ("- !custom {a: 1}\n", "TG109"),
        ("--- a\n--- b\n", "TG109"),
        ("- a\x00b\n", "TG117"),
        ("- \ud800\n", "TG117"),
        ("- \x1b\n", "TG117"),
        ("- a: b: c\n", "TG100"),
        ("- 'open\n", "TG100"),
        ("- @x\n", "TG100"),
        ("%YAML 3.0\n--- x\n", "TG100"),
        ("x" * (16 * 1024 * 1024 + 1), "TG110"),
    ],
)
def test_what_cannot_be_read_is_a_diagnostic(text: str, code: str) -> None:
    _, found = read_yaml(Source("a.yaml", text))
    assert [d.code for d in found] == [code]


def test_empty_files_have_no_root() -> None:
    for text in ("", "\n\n", "# only a comment\n", "---\n"):
        _, found = read_yaml(Source("a.yaml", text))
        assert found == ()


def test_reading_goes_on_after_a_broken_entry() -> None:
    text = "- a: 1\n- b: [\n- c: 3\n- d: : :\n- e: 5\n"
    node, found = read_yaml(Source("a.yaml", text))
    assert isinstance(node, ListNode)
    keys = [item.items[0][0] for item in node.items if isinstance(item, MapNode)]
    assert [k.value for k in keys if isinstance(k, ScalarNode)] == ["a", "c", "e"]
    assert [d.code for d in found] == ["TG100", "TG100"]


# Values without quotes, and whether a comment behind each of them cuts it short, in prose and elsewhere.
COMMENTED = (
    ("Rule #2", "2", None),
    ("Rule\t#2", "2", None),
    ("a doc of\n    two lines   #1 of all", "1 of all", None),
    ("f(Tensor a) -> Tensor #see", "see", None),
    ("f(str s='a # b') -> Tensor", " b') -> Tensor", " b') -> Tensor"),
    ("f(str s='a #b')", "b')", "b')"),
    ("grad #2", "2", None),
    ("f(str s='(') -> Tensor  # a comment", None, None),
    ('f(str s="(") -> Tensor  # a comment', None, None),
    ("it isn't (what it's # for)", " for)", " for)"),
    ("grad # 2", None, None),
    ("grad  ## 2", None, None),
    ("grad #", None, None),
    ("a#2", None, None),
    ("f(Tensor a) -> Tensor  # a comment", None, None),
    ("'grad' #2", None, None),
    ('"f(" # 2', None, None),
)
PLACES = (
    "- doc: {}\n",
    "- doc: {}\r\n  func: a\r\n",
    "- - {}\n",
    "- fake: {{a: {}\n    }}\n",
    "- func: {}\n",
)


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize(("value", "in_prose", "elsewhere"), COMMENTED)
@pytest.mark.parametrize("parser", [CSafeLoader, PythonParser])
def test_a_comment_that_cuts_a_value_short_is_named(
    value: str,
    in_prose: str | None,
    elsewhere: str | None,
    place: str,
    parser: type,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    comment = in_prose if "doc:" in place else elsewhere
    monkeypatch.setattr(nodes, "_PARSER", parser)
    _, found = read_yaml(Source("a.yaml", place.format(value)))
    warned = [d.label.span.text for d in found if d.code == "TG131" and d.label is not None]
    assert warned == ([] if comment is None else [f"#{comment}"])
    assert len(found) == len(warned)


def test_a_block_of_text_has_no_comments() -> None:
    assert _first_value("- doc: |\n    a #1\n")[1].value == "a #1\n"


@pytest.mark.parametrize("parser", [CSafeLoader, PythonParser])
@pytest.mark.parametrize(
    "text",
    [
        "- func: [",
        "- func: [\n",
        "- func: [1, ",
        "- a: {b: [1], c: [\n",
        "- func: [\n- func: g\n",
        "[",
        "- doc: it's\n  x: [",
    ],
)
def test_a_bracket_that_is_not_closed_is_named(
    text: str, parser: type, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also where a value is expected behind it, and libyaml has the place of that one."""
    monkeypatch.setattr(nodes, "_PARSER", parser)
    _, found = read_yaml(Source("a.yaml", text))
    assert found[0].message == "`[` is not closed"
    assert [label.span.start for label in found[0].secondary] == [text.rindex("[")]


@pytest.mark.parametrize("parser", [CSafeLoader, PythonParser])
def test_brackets_in_quotes_close_none(parser: type, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(nodes, "_PARSER", parser)
    text = "- func: f\n  x: [{a: 1}, ']', \"]\", "
    _, found = read_yaml(Source("a.yaml", text))
    assert found[0].message == "`[` is not closed"
    assert [label.span.start for label in found[0].secondary] == [text.index("[")]
