"""Random whole programs: a short run, and that each check can fail. `python -m tests.fuzz --programs` makes long runs."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from typing import Any

import pytest

from tests.fuzz import outcomes, targets, versions, whole
from tests.fuzz.programs import Programs
from torchgen_lite.analysis.computed_table import Cell, Registrations, table
from torchgen_lite.targets import TARGETS


@pytest.mark.parametrize("seed", [0, 1])
def test_nothing_is_wrong_with_whole_programs(seed: int) -> None:
    tally = whole.run_programs(12, seed)
    assert tally.problems == []
    assert tally.accepted > 8


def test_every_target_and_kind_of_edit_has_its_turn() -> None:
    taken, edited = set(), set()
    for number in range(40):
        made = Programs(random.Random(f"turns {number}"))
        case = made.case("lib")
        program = whole.loaded(case)
        taken.update(whole.texts_of(program))
        edited.update(make for make in versions.EDITS if make(made, case, program))
    # The one is for kernels of PyTorch's operators alone, the other for programs that a project names.
    assert taken == set(TARGETS) - {"device-tests", "command"}
    assert edited == set(versions.EDITS)


def problems(edits: tuple[versions.Make, ...] = versions.EDITS) -> str:
    """What a few programs have, each with one of the edits."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(whole, "EDITS", edits)
        return "\n".join(whole.run_programs(6, seed=5).problems)


def test_an_edit_of_which_nothing_is_said_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(versions, "found_in", lambda old, new: set())
    assert "skip: `breaking` misses ['fz5_" in problems((versions.skip,))


def test_an_edit_of_which_too_much_is_said_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(versions, "found_in", lambda old, new: {"lib::f"})
    assert "doc: `breaking` finds ['lib::f'] in what is harmless" in problems((versions.doc,))
    assert "skip: `breaking` finds ['lib::f'], of which nothing" in problems((versions.skip,))


def test_a_call_of_which_nothing_is_said_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(versions, "compare_operators", lambda old, new, level: ())
    assert ", but []" in problems((versions.another_key,))


def test_a_call_that_is_not_lost_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    served = outcomes.Outcome(*[True] * 5)

    def every(*given: Any) -> Mapping[Any, outcomes.Outcome]:
        return dict.fromkeys(outcomes.outcomes(*given), served)

    monkeypatch.setattr(versions, "outcomes", every)
    assert "no call is lost, but [" in problems((versions.another_key,))


def test_a_line_of_another_operator_is_found() -> None:
    before = {"docs": {"a.md": "mulq0q\naddq1q\n"}}
    after = {"docs": {"a.md": "mulq0q\naddq1q too\nother\n"}}
    assert [*whole.wrong_lines(before, after, 1)] == []
    assert [*whole.wrong_lines(before, after, 0)] == ["a.md: addq1q", "a.md: addq1q too"]
    assert [*whole.wrong_lines(before, before, None)] == []
    assert len([*whole.wrong_lines(before, after, None)]) == 3


def test_a_registration_that_is_not_listed_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(whole, "registered", lambda target, files: {("lib::f", "CPU")})
    assert "or the other way round [('lib::f', 'CPU')]" in problems()


def test_a_table_that_is_not_that_of_the_dispatcher_is_found(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def shorter(registrations: Registrations) -> list[Cell]:
        return [cell for cell in table(registrations) if cell.key != "CPU"]

    monkeypatch.setattr(targets, "table", shorter)
    assert "and the dispatcher has {" in problems()


@pytest.mark.parametrize("name", ["render_full", "texts_of", "mistaken"])
def test_an_exception_is_found(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    def fail(*given: object) -> None:
        raise ValueError("here")

    monkeypatch.setattr(whole, name, fail)
    assert "ValueError: here" in problems()


def test_a_mistake_without_a_place_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    read: Callable[..., Any] = whole.loaded

    def without_places(case: Any, text: str | None = None) -> Any:
        program = read(case, text)
        found = [one.__class__(one.code, one.message) for one in program.diagnostics]
        return program if text is None else program.__class__(program.resolved, program.config, tuple(found))  # fmt: skip

    monkeypatch.setattr(whole, "loaded", without_places)
    assert " has no place: " in problems()
