"""Each output format, on the same diagnostics."""

from __future__ import annotations

import json

import jsonschema
import pytest

from torchgen_lite.diagnostics import (
    Diagnostic,
    Label,
    Source,
    Span,
    colored,
    render_concise,
    render_full,
    render_github,
    render_json,
    render_sarif,
    sum_up,
)
from torchgen_lite.diagnostics.json_format import json_format_schema

TEXT = """\
- func: add.Tensor(Tensor self, Tensor other) -> Tensor
  dispatch:
    CPUU: add_cpu
"""
SOURCE = Source("native_functions.yaml", TEXT)


def _span(word: str) -> Span:
    start = TEXT.index(word)
    return Span(SOURCE, start, start + len(word))


UNKNOWN_KEY = Diagnostic(
    "TG103",
    "unknown dispatch key `CPUU`",
    Label(_span("CPUU"), "not a dispatch key"),
    help="did you mean `CPU`?",
    operator="add.Tensor",
    context=_span("add.Tensor"),
)
CLASH = Diagnostic(
    "TG411",
    "called alike",
    Label(_span("other"), "again here"),
    (Label(_span("self"), "first here"),),
)


def test_full() -> None:
    assert render_full([UNKNOWN_KEY]) == """\
error[TG103]: unknown dispatch key `CPUU`
 --> native_functions.yaml:3:5
  |
1 | - func: add.Tensor(Tensor self, Tensor other) -> Tensor
2 |   dispatch:
3 |     CPUU: add_cpu
  |     ^^^^ not a dispatch key
  |
  = help: did you mean `CPU`?
"""


def test_full_with_two_labels_on_one_line() -> None:
    assert render_full([CLASH]) == """\
warning[TG411]: called alike
 --> native_functions.yaml:1:40
  |
1 | - func: add.Tensor(Tensor self, Tensor other) -> Tensor
  |                                        ^^^^^ again here
  |                           ---- first here
  |
  = help: let their arguments differ in number, in type, or in the name of a keyword-only one
"""


def test_full_shows_the_other_file_of_a_clash() -> None:
    other = Source("other.yaml", "x: 1\n")
    clash = Diagnostic(
        "TG307", "contradiction", Label(_span("CPUU")), (Label(Span(other, 0, 1), "here"),)
    )
    assert " ::: other.yaml:1:1\n  |\n1 | x: 1\n  | - here" in render_full([clash])


def test_full_counts_what_it_leaves_out() -> None:
    text = render_full([UNKNOWN_KEY] * 3, limit=1)
    assert text.count("error[TG103]") == 1
    assert text.endswith("... and 2 more (`--max-diagnostics 0` shows all)\n")
    assert render_full([UNKNOWN_KEY] * 60, limit=0).count("error[TG103]") == 60


def test_the_third_warning_of_a_code_and_those_after_it_are_one_line() -> None:
    source = Source("ops.yaml", "".join(f"op{n}\n" for n in range(12)))
    spans = [Span(source, 4 * n, 4 * n + 3) for n in range(10)]
    found = [Diagnostic("TG339", "no fake", Label(one), operator=f"a::{one.text}") for one in spans]
    errors = [UNKNOWN_KEY] * 4
    assert sum_up([*found[:3], *errors]) == (
        [*found[:2], *errors],
        "\nwarning[TG339]: operator without a fake, 1 more: ops.yaml:3:1 a::op2 (`-v` shows all)\n",
    )
    whole, line = sum_up([*errors, *found, found[0]])
    assert whole == [*errors, *found[:2]]
    assert "operator without a fake, 9 more: ops.yaml:3:1 a::op2, " in line
    assert "ops.yaml:10:1 a::op9, ... (`-v` shows all)" in line


def test_full_in_color_says_the_same() -> None:
    import re

    painted = render_full([UNKNOWN_KEY], paint=colored)
    assert "\x1b[1;31merror[TG103]\x1b[0m" in painted
    plain = re.sub(r"\x1b\[[0-9;]*m", "", painted)
    assert [x.rstrip() for x in plain.splitlines()] == render_full([UNKNOWN_KEY]).splitlines()


@pytest.mark.parametrize(
    "line", ["x" * 100_000, "\t" * 50 + "y", "\x00\x1b[31m\u202e", "漢字" * 90]
)
def test_full_is_safe_with_any_line(line: str) -> None:
    source = Source("odd\x1b.yaml", line)
    span = Span(source, len(line) - 1, len(line))
    text = render_full([Diagnostic("TG100", "odd \x07 text\nof two lines", Label(span, "here"))])
    assert "\x1b" not in text and "\x00" not in text and "\u202e" not in text
    assert max(map(len, text.splitlines())) < 400


def test_concise() -> None:
    assert render_concise([UNKNOWN_KEY]) == (
        "native_functions.yaml:3:5: error[TG103] unknown dispatch key 'CPUU': not a dispatch key"
        " (did you mean 'CPU'?)\n"
    )
    assert render_concise([Diagnostic("TG006", "no file")]) == "error[TG006] no file\n"


def test_github_puts_errors_first_and_escapes() -> None:
    lines = render_github([CLASH, UNKNOWN_KEY]).splitlines()
    assert lines == [
        "::error title=TG103,file=native_functions.yaml,line=3,endLine=3,col=5,endColumn=9"
        "::unknown dispatch key `CPUU`: not a dispatch key%0Ahelp: did you mean `CPU`?",
        "::warning title=TG411,file=native_functions.yaml,line=1,endLine=1,col=40,endColumn=45"
        "::called alike: again here"
        "%0Ahelp: let their arguments differ in number, in type, or in the name of a keyword-only one"
        "%0Anative_functions.yaml:1:27: first here",
    ]
    odd = Source("a,b:c.yaml", "x\ny\n")
    line = render_github([Diagnostic("TG100", "100%", Label(Span(odd, 0, 3)))])
    head = "::error title=TG100,file=a%2Cb%3Ac.yaml,line=1,endLine=2::100%25%0Ahelp: "
    assert line.startswith(head) and line.count("\n") == 1


def test_json_follows_its_schema() -> None:
    document = json.loads(render_json([UNKNOWN_KEY, CLASH, Diagnostic("TG006", "no file")]))
    schema = json_format_schema()
    jsonschema.Draft7Validator.check_schema(schema)
    jsonschema.Draft7Validator(schema).validate(document)
    assert document["ok"] is False
    assert document["summary"] == {"errors": 2, "warnings": 1}
    assert document["diagnostics"][0]["start"] == {"line": 3, "column": 5}
    assert document["diagnostics"][0]["operator"] == "add.Tensor"


def test_sarif_has_rules_places_and_stable_fingerprints() -> None:
    log = json.loads(render_sarif([UNKNOWN_KEY, CLASH]))
    run = log["runs"][0]
    assert log["version"] == "2.1.0"
    assert [rule["id"] for rule in run["tool"]["driver"]["rules"]] == ["TG103", "TG411"]
    first = run["results"][0]
    region = first["locations"][0]["physicalLocation"]["region"]
    assert region == {"startLine": 3, "startColumn": 5, "endLine": 3, "endColumn": 9}
    moved = Diagnostic(UNKNOWN_KEY.code, UNKNOWN_KEY.message, CLASH.label, operator="add.Tensor")
    again = json.loads(render_sarif([moved]))["runs"][0]["results"][0]
    assert again["partialFingerprints"] == first["partialFingerprints"]


def test_lines_are_cut_to_the_terminal() -> None:
    text = f"- func: add(Tensor self, {', '.join(f'Tensor t{n}' for n in range(30))}) -> Tensr\n"
    source = Source("ops.yaml", text)
    start = text.index("Tensr")
    found = Diagnostic(
        "TG202", "unknown type `Tensr`", Label(Span(source, start, start + 5), "here")
    )
    lines = render_full([found], columns=70).splitlines()
    shown, marked = lines[3], lines[4]
    assert len(shown) <= 70 and shown.startswith("1 | ...") and shown.endswith("Tensr")
    assert shown[marked.index("^") :] == "Tensr" and marked.endswith("^^^^^ here")
    assert max(map(len, render_full([found]).splitlines())) > 100
