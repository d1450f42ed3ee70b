"""Suggestions become edits."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.conftest import Result
from torchgen_lite.diagnostics import (
    Diagnostic,
    Edit,
    Help,
    Label,
    Source,
    Span,
    Suggestion,
    apply_edits,
    did_you_mean,
    pick_edits,
)

SOURCE = Source("a.yaml", "CPUU, CPU: add\nMeta: CPUU CPUU\n")


def about(start: int, end: int, help: Help | None) -> Diagnostic:
    return Diagnostic("TG103", "unknown", Label(Span(SOURCE, start, end)), help=help)


def test_a_suggestion_replaces_its_word_at_the_place_of_the_diagnostic() -> None:
    near = did_you_mean("CPUU", ["CPU", "CUDA"])
    assert str(near) == "did you mean `CPU`?"
    assert about(0, 4, near).fix == about(0, 9, near).fix == Edit(Span(SOURCE, 0, 4), "CPU")


def test_what_is_not_one_place_is_not_an_edit() -> None:
    near = did_you_mean("CPUU", ["CPU", "CUDA"])
    assert about(21, 30, near).fix is None, "twice"
    assert about(11, 14, near).fix is None, "not there"
    assert about(0, 4, "did you mean `CPU`?").fix is None, "words, and not a suggestion"
    assert Diagnostic("TG103", "unknown", help=near).fix is None


def test_edits_that_overlap_wait_for_the_next_round() -> None:
    first = about(0, 4, Suggestion("write `CPU`", Span(SOURCE, 0, 4), "CPU"))
    within = about(0, 4, Suggestion("write `C`", Span(SOURCE, 2, 3), "C"))
    behind = about(6, 9, Suggestion("write `Meta`", Span(SOURCE, 6, 9), "Meta"))
    edits = pick_edits([one.fix for one in (behind, within, first, first)], "a.yaml")
    assert edits == (first.fix, behind.fix)
    assert apply_edits(SOURCE.text, edits) == "CPU, Meta: add\nMeta: CPUU CPUU\n"
    assert pick_edits([first.fix], "b.yaml") == ()


def test_other_files_stay(run: Callable[..., Result], project: Path) -> None:
    """`--fix` writes only the schema files that it checks, and never PyTorch's."""
    (project / "native_functions.yaml").write_text("- func: f(Tensr self) -> Tensor\n")
    (project / "other.yaml").write_text("- func: g(Tensr self) -> Tensor\n")
    result = run("lint", "--fix", "--unsafe-fixes", "--schema", "other.yaml")
    assert (result.code, result.stderr) == (0, "1 operator, 0 errors, 0 warnings, 1 fixed\n")
    assert "Tensr" in (project / "native_functions.yaml").read_text()
    assert (project / "other.yaml").read_text() == "- func: g(Tensor self) -> Tensor\n"
    assert run("lint", "--fix", "--torch").code == 2


def test_a_guess_is_not_written_unless_asked_for(run: Callable[..., Result], project: Path) -> None:
    schema = project / "native_functions.yaml"
    schema.write_text("- func: f(Tensr self, List[int] sizes) -> Tensor\n")
    result = run("lint", "--fix")
    assert schema.read_text() == "- func: f(Tensr self, int[] sizes) -> Tensor\n"
    assert result.code == 1 and result.stderr.endswith(
        "0 operators, 1 error, 0 warnings, 1 fixed\n`--unsafe-fixes` writes 1 more suggestion\n"
        "for more: torchgen-lite explain TG202\n"
    )
    assert run("lint", "--fix", "--unsafe-fixes").code == 0
    assert schema.read_text() == "- func: f(Tensor self, int[] sizes) -> Tensor\n"
    assert run("lint", "--unsafe-fixes").code == 2


def test_a_change_that_callers_notice_is_not_safe(
    run: Callable[..., Result], project: Path
) -> None:
    schema = project / "native_functions.yaml"
    text = "- func: f(Tensor self, Tensor other=None) -> Tensor\n"
    schema.write_text(text)
    run("lint", "--fix")
    assert schema.read_text() == text
    run("lint", "--fix", "--unsafe-fixes")
    assert "Tensor? other=None" in schema.read_text()


@pytest.mark.parametrize(
    "field",
    ["  dispatch:\n  CPU: f\n", "  fake:\n  like: x\n", "  derivatives:\n  x: grad\n"],
)
def test_a_field_whose_value_lost_its_indentation_stays(
    field: str, run: Callable[..., Result], project: Path
) -> None:
    schema = project / "native_functions.yaml"
    text = "- func: f(Tensor x) -> Tensor\n" + field
    schema.write_text(text)
    for options in ([], ["--unsafe-fixes"]):
        assert run("lint", "--fix", *options).code == 1
        assert schema.read_text() == text
    assert f"indent `{field.split()[1][:-1]}`" in run("lint").stderr


def test_a_field_without_any_value_goes(run: Callable[..., Result], project: Path) -> None:
    schema = project / "native_functions.yaml"
    schema.write_text("- func: f(Tensor x) -> Tensor\n  dispatch:\n  variants: function\n")
    run("lint", "--fix")
    assert schema.read_text() == "- func: f(Tensor x) -> Tensor\n  variants: function\n"
