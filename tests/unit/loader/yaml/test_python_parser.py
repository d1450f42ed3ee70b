"""PyYAML's own parser gives the nodes and the mistakes that libyaml gives."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.conftest import ROOT
from torchgen_lite.diagnostics import Source, render_full
from torchgen_lite.loader.yaml import nodes as yaml_nodes
from torchgen_lite.loader.yaml.nodes import ListNode, MapNode, Node, read_yaml
from torchgen_lite.loader.yaml.python_parser import PythonParser

pytestmark = pytest.mark.skipif(not yaml.__with_libyaml__, reason="needs libyaml to compare with")
FOLDERS = ("examples", "templates", "tests")
FILES = [ROOT / "native_functions.yaml"]
FILES += sorted(path for folder in FOLDERS for path in (ROOT / folder).rglob("*.y*ml"))
# Small enough to read hundreds of times.
TEXTS = [text for file in FILES if len(text := file.read_text("utf-8")) < 2000]
PIECES = [
    ": ",
    ":",
    "- ",
    "\n",
    " ",
    "{",
    "}",
    "[",
    "]",
    "'",
    '"',
    "#",
    " #",
    "&a ",
    "*a ",
    "|",
    ">",
]
PIECES += ["@", "`", ",", "? ", "?", "\\", "\r\n", "\x85", "é", "!", "---\n"]


def shape(node: Node | None) -> Any:
    if isinstance(node, ListNode):
        return (node.start, node.end, [shape(item) for item in node.items])
    if isinstance(node, MapNode):
        return (node.start, node.end, [(shape(key), shape(value)) for key, value in node.items])
    return node and (node.start, node.end, node.style, node.value)


def read(parser: type, text: str) -> tuple[Any, str]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(yaml_nodes, "_PARSER", parser)
        node, found = read_yaml(Source("ops.yaml", text))
    return shape(node), render_full(found)


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_files(path: Path) -> None:
    text = path.read_text("utf-8")
    assert read(PythonParser, text) == read(yaml.CSafeLoader, text)


@pytest.mark.parametrize(
    "text",
    [
        "- a:\tb\n  c\t: d\te\n",
        "- {a:\tb, c: [\td ]}\n",
        "- a: |\n    b\n  c: [b.defined() ? b : c, d?]\n",
        "- {a: , b: [c: ], d}\n",
        "- {a: }\n",
    ],
)
def test_what_pyyaml_alone_reads_differently(text: str) -> None:
    expected = read(yaml.CSafeLoader, text)
    assert read(PythonParser, text) == expected != read(yaml.SafeLoader, text)


@pytest.mark.parametrize(
    "text",
    [
        "- a: b: c\n",
        "- a\n  b: c\n",
        "- [a:, b]\n",
        "- {a:? b}\n",
        "- a: @b\n",
        "- a: b\n  ]\n",
        "- a: b\n ]\n",
        "- a: >x\n",
        "- a: |x\n",
        "- a: ]\n",
        "- &{ a\n",
        "[a]\n- b\n",
        "- a: b\n\tc: d\n",
        "a: b\n- c\n",
        "*a - b\n",
        "- a: ? b\n",
        '- "a\n',
        "- [a\n",
        "- {a: b\n",
    ],
)
def test_mistakes(text: str) -> None:
    expected = read(yaml.CSafeLoader, text)
    assert "TG1" in expected[1]
    assert read(PythonParser, text) == expected


@settings(max_examples=300, deadline=None, derandomize=True)
@given(
    st.sampled_from(TEXTS),
    st.lists(st.tuples(st.integers(0, 2000), st.integers(0, 3), st.sampled_from(PIECES))),
)
def test_what_one_reads_both_read(text: str, edits: list[tuple[int, int, str]]) -> None:
    """Where there are mistakes, the parsers may find others; where one finds none, neither does."""
    for at, gone, piece in edits:
        text = text[:at] + piece + text[at + gone :]
    one, other = read(PythonParser, text), read(yaml.CSafeLoader, text)
    assert one == other or (one[1] and other[1])
