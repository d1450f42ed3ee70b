"""Sources, spans and diagnostics."""

from __future__ import annotations

from torchgen_lite.diagnostics import Diagnostic, Label, Source, Span, sort_diagnostics, suggest

SOURCE = Source("a.yaml", "one\ntwo\r\nthree\n")


def test_lines_and_columns_start_at_one() -> None:
    assert SOURCE.line_column(0) == (1, 1)
    assert SOURCE.line_column(3) == (1, 4)
    assert SOURCE.line_column(4) == (2, 1)
    assert SOURCE.line_column(11) == (3, 3)
    assert SOURCE.line_column(len(SOURCE.text)) == (4, 1)


def test_a_line_comes_without_its_line_end() -> None:
    assert [SOURCE.line_text(n) for n in range(6)] == ["", "one", "two", "three", "", ""]


def test_a_source_keeps_spans_by_number() -> None:
    source = Source("a.yaml", SOURCE.text)
    first = source.keep(0, 3, 4, 7)
    second = source.keep(9, 14)
    spans = [source.kept(number) for number in (first, first + 2, second)]
    assert [span.text for span in spans] == ["one", "two", "three"]
    assert all(span.source is source for span in spans)


def test_the_first_line_of_a_span_has_a_character_at_least() -> None:
    assert Span(SOURCE, 1, 14).first_line == Span(SOURCE, 1, 3)
    assert Span(SOURCE, 4, 6).first_line == Span(SOURCE, 4, 6)
    assert Span(SOURCE, 3, 9).first_line == Span(SOURCE, 3, 4)


def test_sorting_is_by_place_and_drops_repeats() -> None:
    late = Diagnostic("TG102", "late", Label(Span(SOURCE, 9, 10)))
    early = Diagnostic("TG103", "early", Label(Span(SOURCE, 0, 1)))
    placeless = Diagnostic("TG006", "no file")
    assert sort_diagnostics([late, early, placeless, late]) == (placeless, early, late)


def test_suggestions() -> None:
    assert suggest("varaints", ["func", "variants"]) == "variants"
    assert suggest("cpu", ["CUDA", "CPU"]) == "CPU"
    assert suggest("zzz", ["CUDA", "CPU"]) is None
    assert suggest("helper", ["lerp", "help"]) == "help"
    assert suggest("helper", ["lerp"]) is None
    assert suggest("x" * 10_000, ["x"]) is None
