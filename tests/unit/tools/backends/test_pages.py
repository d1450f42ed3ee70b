"""Columns of text, which know how wide the terminal is."""

from __future__ import annotations

import io
from pathlib import Path

import pytest

from torchgen_lite.cli import main
from torchgen_lite.cli.pages import Section, section_text
from torchgen_lite.cli.session import Session

ROWS = [
    ("CPU", "kernel", "muladd_cpu"),
    ("Autograd", "autograd kernel", "records the call, with formulas"),
    ("12", "3", "of four"),
]
SECTION = Section("mylib::muladd", ROWS, ("key", "what", "kernel"))


def test_columns() -> None:
    assert section_text(SECTION) == section_text(SECTION, 61) == """\
mylib::muladd
  CPU       kernel           muladd_cpu
  Autograd  autograd kernel  records the call, with formulas
        12                3  of four
"""


def test_a_row_that_the_terminal_has_no_room_for_goes_on_below_its_first_cell() -> None:
    assert section_text(SECTION, 44) == """\
mylib::muladd
  CPU       kernel           muladd_cpu
  Autograd
        autograd kernel  records the call,
        with formulas
        12                3  of four
"""


def test_a_sentence_is_no_column_of_numbers() -> None:
    rows = [("74 of 193 are served",), ("169 of 546 are served",)]
    assert section_text(Section("", rows, ("served",))) == (
        "  74 of 193 are served\n  169 of 546 are served\n"
    )


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_only_a_terminal_has_a_width(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "50")
    widest = {}
    for stdout in (Terminal(), io.StringIO()):
        assert main(("table", "relu"), stdout, io.StringIO()) == 0
        widest[type(stdout)] = max(map(len, stdout.getvalue().splitlines()))
    assert widest[Terminal] <= 50 < widest[io.StringIO]


@pytest.mark.parametrize("kind", [Terminal, io.StringIO], ids=["terminal", "file"])
@pytest.mark.parametrize("is_counted", [True, False], ids=["counted", "uncounted"])
def test_what_takes_a_second_has_a_bar_in_a_terminal(
    monkeypatch: pytest.MonkeyPatch, kind: type[io.StringIO], is_counted: bool
) -> None:
    times, stream = iter([0.0, 0.5, 1.5]), kind()
    monkeypatch.setattr("torchgen_lite.cli.session.perf_counter", lambda: next(times))
    monkeypatch.setattr("sys.stderr", stream)
    items = "abcd" if is_counted else (one for one in "abcd")
    assert list(Session().progress(items, "parsing")) == list("abcd")
    text = stream.getvalue()
    assert ("parsing" in text) is (kind is Terminal)
    assert ("100%" in text) is (kind is Terminal and is_counted), text
