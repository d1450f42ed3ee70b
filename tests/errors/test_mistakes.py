"""Every kind of mistake in one file, all reported in one run, each with its place."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.expected import expect
from torchgen_lite.analysis.lint import lint_program
from torchgen_lite.analysis.program import build_program
from torchgen_lite.diagnostics import (
    Diagnostic,
    Source,
    code_names,
    render_concise,
    render_full,
)
from torchgen_lite.loader.config.project import Config
from torchgen_lite.loader.entry.reader import Dialect
from torchgen_lite.loader.formats.native_functions import load_native_functions

HERE = Path(__file__).parent
TAGS = ("core", "pointwise", "inplace_view", "generated", "view_copy", "nondeterministic_seeded")


def diagnose(name: str) -> tuple[Diagnostic, ...]:
    """Everything that is said about a file of this folder."""
    source = Source(name, (HERE / name).read_text("utf-8"))
    functions, found = load_native_functions([source], Dialect(TAGS))
    program = lint_program(
        build_program(functions, Config(HERE), diagnostics=found, sources=[source])
    )
    return program.diagnostics


@pytest.mark.parametrize("stem", ["mistakes", "entries", "lint", "broken_yaml", "fakes", "axes"])
def test_all_mistakes_are_reported_in_one_run(stem: str) -> None:
    diagnostics = diagnose(f"{stem}.yaml")
    expect(HERE / f"{stem}.txt", render_concise(diagnostics))
    expect(HERE / f"{stem}.full.txt", render_full(diagnostics, limit=0))


def test_there_are_forty_different_mistakes() -> None:
    errors = [d for d in diagnose("mistakes.yaml") if d.severity == "error"]
    assert len(errors) >= 40
    assert len({(d.code, d.message) for d in errors}) >= 40


def test_the_right_entry_is_left_alone() -> None:
    assert all(d.start() != (3, 9) for d in diagnose("mistakes.yaml"))


def test_diagnostics_are_sorted_by_place() -> None:
    starts = [d.start() for d in diagnose("mistakes.yaml")]
    assert starts == sorted(starts)


def test_every_code_that_is_used_is_documented() -> None:
    for stem in ("mistakes", "lint", "broken_yaml", "fakes"):
        assert {d.code for d in diagnose(f"{stem}.yaml")} <= set(code_names())
