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


def test_sorting_is_by_place_and_drops_repeats() -> None:
    late = Diagnostic("TG102", "late", Label(Span(SOURCE, 9, 10)))
    early = Diagnostic("TG103", "early", Label(Span(SOURCE, 0, 1)))
    placeless = Diagnostic("TG006", "no file")
    assert sort_diagnostics([late, early, placeless, late]) == (placeless, early, late)


def test_suggestions() -> None:
    assert suggest("varaints", ["func", "variants"]) == "variants"
    assert suggest("cpu", ["CUDA", "CPU"]) == "CPU"
    assert suggest("zzz", ["CUDA", "CPU"]) is None
    assert suggest("x" * 10_000, ["x"]) is None
