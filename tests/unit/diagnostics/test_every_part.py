"""One diagnostic with everything that a diagnostic can have: each format shows all of it."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from torchgen_lite.analysis.program import Program
from torchgen_lite.analysis.resolve import Resolved
from torchgen_lite.diagnostics import (
    Diagnostic,
    Label,
    Source,
    Span,
    Suggestion,
    content_of,
    render_concise,
    render_full,
    render_github,
    render_json,
    render_sarif,
)
from torchgen_lite.loader.config.project import Config

HERE = Source("here.yaml", "first\n  second\n")
THERE = Source("there.yaml", "third\n")
WHOLE = Diagnostic(
    "TG411",
    "the message",
    Label(Span(HERE, 8, 14), "the label"),
    (Label(Span(HERE, 0, 5), "the same file"), Label(Span(THERE, 0, 5), "another file")),
    Suggestion("the help", "second", "a fix"),
    ("one note", "more notes"),
    witness="the(call)",
)
SAID = (
    "the message",
    "the label",
    "the same file",
    "another file",
    "the help",
    "one note",
    "more notes",
    "the(call)",
)
PLACED = ("here.yaml", "there.yaml")


def table(diagnostics: list[Diagnostic]) -> str:
    """The tables of `review`, `breaking` and `coverage`, which have columns for the place."""
    return "here.yaml" + " | ".join(content_of(diagnostics[0]).in_two)


def lsp(diagnostics: list[Diagnostic]) -> str:
    pytest.importorskip("lsprotocol", reason="needs torchgen-lite-tools")
    from torchgen_lite_tools.lsp.analysis import Analysis
    from torchgen_lite_tools.lsp.diagnostics import publish

    analysis = Analysis(Path("/x"), Program(Resolved(()), Config(Path("/x"))), tuple(diagnostics))
    return str(publish(analysis, Path("/x/here.yaml"), len))


FORMATS = (render_full, render_concise, render_json, render_github, render_sarif, table, lsp)


@pytest.mark.parametrize("render", FORMATS)
def test_a_format_shows_every_part(render: Callable[[list[Diagnostic]], str]) -> None:
    shown = render([WHOLE])
    assert [part for part in (*SAID, *PLACED) if part not in shown] == []


@pytest.mark.parametrize("render", FORMATS)
def test_without_a_place_the_rest_is_shown(render: Callable[[list[Diagnostic]], str]) -> None:
    shown = render([replace(WHOLE, label=None)])
    assert [part for part in SAID if part != "the label" and part not in shown] == []


def test_in_full() -> None:
    assert render_full([WHOLE]) == """\
warning[TG411]: the message
 --> here.yaml:2:3
  |
1 | first
  | ----- the same file
2 |   second
  |   ^^^^^^ the label
 ::: there.yaml:1:1
  |
1 | third
  | ----- another file
  |
  = help: the help
  = note: one note
  = note: more notes
  = witness: `the(call)`
"""


def test_in_one_line() -> None:
    assert render_concise([WHOLE]) == (
        "here.yaml:2:3: warning[TG411] the message: the label (the help; note: one note; "
        "note: more notes; witness: 'the(call)'; here.yaml:1:1: the same file; there.yaml:1:1: another file)\n"
    )


def test_as_a_workflow_command() -> None:
    assert render_github([WHOLE]) == (
        "::warning title=TG411,file=here.yaml,line=2,endLine=2,col=3,endColumn=9::"
        "the message: the label%0Ahelp: the help%0Anote: one note%0Anote: more notes%0Awitness: `the(call)`"
        "%0Ahere.yaml:1:1: the same file%0Athere.yaml:1:1: another file\n"
    )


def test_as_sarif() -> None:
    run = json.loads(render_sarif([WHOLE]))["runs"][0]
    (result,) = run["results"]
    assert result["message"] == {
        "text": "the message: the label\nhelp: the help\nnote: one note\nnote: more notes"
        "\nwitness: `the(call)`"
    }
    assert result["properties"] == {"witness": "the(call)"}
    assert [
        (one["message"]["text"], one["physicalLocation"]["artifactLocation"]["uri"])
        for one in result["relatedLocations"]
    ] == [("the same file", "here.yaml"), ("another file", "there.yaml")]
    (rule,) = run["tool"]["driver"]["rules"]
    assert rule["helpUri"].endswith("TG411.md") and rule["help"]["text"].startswith("TG411: ")


def test_in_an_editor() -> None:
    assert "code_description=CodeDescription(href='file:///" in lsp([WHOLE])


def test_a_label_that_only_points_adds_nothing() -> None:
    span = Span(HERE, 0, 5)
    said = content_of(Diagnostic("TG411", "it", Label(span, "here"), (Label(span),)))
    assert said.headline == "it" and said.pointers == ["here.yaml:1:1: see here"]


def test_the_page_has_the_help_where_the_diagnostic_has_none() -> None:
    said = content_of(Diagnostic("TG405", "it", notes=("more",)))
    help_ = (
        "give the result the letter of the argument that it shares memory with, or no annotation"
    )
    assert said.lines == ["it", f"help: {help_}", "note: more"]
    # One line has room for what is said of this place alone.
    assert said.in_two == ("it", "note: more")
