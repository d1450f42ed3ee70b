"""Real entries with mutations: a short run; `python -m tests.fuzz` makes long ones."""

from __future__ import annotations

import pytest

from tests.fuzz import entries


def test_mutated_entries_are_read_without_an_exception(capsys: pytest.CaptureFixture[str]) -> None:
    assert entries.run_random(500, seed=0, first=0) == 0
    assert "500 inputs from 0, seed 0: no exception" in capsys.readouterr().out


def test_an_exception_is_reported_with_its_input(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fail(text: str) -> None:
        raise ValueError("here")

    monkeypatch.setattr(entries, "read", fail)
    assert entries.run_random(5, seed=0, first=3) == 1
    assert capsys.readouterr().out.startswith("seed 0, input 3: ValueError: here\n'")
