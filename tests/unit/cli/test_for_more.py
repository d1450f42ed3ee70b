"""The last line of a run that shows diagnostics: where to read about the first of them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.conftest import Result

Run = Callable[..., Result]
WRONG = "- func: f(Tensr self, flaot x) -> Tensor\n  dispatch:\n    CPUU: f\n"
LINE = "for more: torchgen-lite explain TG202\n"


@pytest.fixture
def wrong(project: Path) -> Path:
    for folder in ("a", "b"):
        (project / folder).mkdir()
        (project / folder / "torchgen_lite.toml").write_text("")
        (project / folder / "native_functions.yaml").write_text(WRONG)
    return project


def test_it_comes_once_after_the_summary(run: Run, wrong: Path) -> None:
    said = run("lint", "a", "b").stderr
    assert said.endswith(f" errors, 0 warnings\n{LINE}") and said.count("for more") == 1


@pytest.mark.parametrize("option", ["-q", "--output-format=concise"])
def test_who_wants_less_does_not_get_it(run: Run, wrong: Path, option: str) -> None:
    said = run("lint", "a", option).stderr
    assert "TG202" in said and "for more" not in said


@pytest.mark.parametrize("name", ["json", "github", "sarif"])
def test_documents_do_not_have_it(run: Run, wrong: Path, name: str) -> None:
    result = run("lint", "a", "--output-format", name)
    assert "TG202" in result.stdout and "for more" not in result.stdout + result.stderr


def test_a_run_without_diagnostics_has_none(run: Run, project: Path) -> None:
    assert "for more" not in run("lint").stderr


def test_an_error_comes_before_the_warning_above_it(run: Run, project: Path) -> None:
    warned = "- func: f_(Tensor self) -> Tensor\n  dispatch: {CPU: f, Meta: f}\n"
    (project / "native_functions.yaml").write_text(warned + WRONG)
    said = run("lint").stderr
    assert said.index("warning[TG402]") < said.index("error[TG202]")
    assert said.endswith(LINE)
