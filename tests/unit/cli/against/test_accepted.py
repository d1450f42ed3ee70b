"""`breaking --accept`: what is written, what it accepts, and what an entry may not be."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.conftest import Result

Run = Callable[..., Result]
OLD = "- func: lib::f(Tensor self, int dim=0) -> Tensor\n"
NEW = OLD.replace("dim=0", "dim=1")
WRITTEN = """\
[[accepted]]
code = "TG357"
operator = "lib::f"
change = "`lib::f`: the default of argument `dim` changed from `0` to `1`"
reason = "announced in \\"2\\""
"""
ASKED = ("breaking", "--against", "old.yaml", "--output-format", "concise")


@pytest.fixture
def changed(project: Path) -> Path:
    """A project whose default changed since `old.yaml`."""
    (project / "old.yaml").write_text(OLD)
    (project / "native_functions.yaml").write_text(NEW)
    return project


def test_what_is_accepted(run: Run, changed: Path) -> None:
    assert run(*ASKED).code == 1
    accepted = Result(0, "", "1 change accepted in breaking.toml\n")
    assert run(*ASKED, "--accept", 'announced in "2"') == accepted
    assert (changed / "breaking.toml").read_text() == WRITTEN
    said = "1 operator, no breaking changes against old.yaml, 1 accepted\n"
    assert run(*ASKED) == Result(0, "", said)
    run("generate")
    page = run("review", "--against", "old.yaml")
    assert (page.code, "| breaking | 1 accepted |" in page.stdout) == (0, True)


def test_another_change_is_not_accepted(run: Run, changed: Path) -> None:
    (changed / "breaking.toml").write_text(WRITTEN)
    (changed / "native_functions.yaml").write_text(OLD.replace("dim=0", "dim=2"))
    lines = run(*ASKED).stderr.splitlines()
    assert [line.partition(" ")[2][:40] for line in lines] == [
        "error[TG357] 'lib::f': the default of ar",
        "warning[TG383] 'breaking.toml' accepts w",
        "breaking change against old.yaml",
    ]
    assert run(*ASKED, "--accept", "again").code == 0
    text = (changed / "breaking.toml").read_text()
    assert text.startswith(f"{WRITTEN}\n[[accepted]]\n") and text.count("[[accepted]]") == 2
    assert run(*ASKED).code == 0


def test_an_entry_that_matches_nothing(run: Run, changed: Path) -> None:
    (changed / "breaking.toml").write_text(f"# Why.\n{WRITTEN}")
    (changed / "native_functions.yaml").write_text(OLD)
    said = (
        "breaking.toml:2:1: warning[TG383] 'breaking.toml' accepts what is not there: 'lib::f': the default of "
        "argument 'dim' changed from '0' to '1'\nno breaking changes against old.yaml\n"
    )
    assert run(*ASKED) == Result(0, "", said)
    assert run(*ASKED, "--deny-warnings").code == 1
    assert "TG383" not in run(*ASKED, "--level", "call").stderr
    page = run("breaking", "--against", "old.yaml", "--output-format", "markdown").stdout
    assert "accepted, but not there" in page
    data = json.loads(run("review", "--against", "old.yaml", "--output-format", "json").stdout)
    assert "TG383" in {one["code"] for one in data["diagnostics"]}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[[accepted]\n", "'breaking.toml' is not TOML: "),
        ("accepted = 1\n", "'breaking.toml' has something else than '[[accepted]]'"),
        ("[[ignored]]\n", "'breaking.toml' has something else than '[[accepted]]'"),
        ("accepted = [1]\n", "entry 1 of 'breaking.toml': 'code' is missing, 'operator' is"),
        (WRITTEN.replace("reason", "why"), "'reason' is missing, unknown key 'why'"),
        (WRITTEN.replace('"lib::f"', "1"), "entry 1 of 'breaking.toml': 'operator' takes a string"),
        (WRITTEN.partition("reason")[0] + 'reason = " "\n', "'reason': ' ' says nothing"),
    ],
)
def test_what_is_no_entry(run: Run, changed: Path, text: str, message: str) -> None:
    (changed / "breaking.toml").write_text(text)
    for command in ("breaking", "review"):
        result = run(command, *ASKED[1:])
        assert (result.code, "error[TG384] " in result.stderr) == (2, True), result
        assert message in result.stderr


def test_a_file_that_cannot_be_read(run: Run, changed: Path) -> None:
    (changed / "breaking.toml").write_bytes(b"\xff")
    assert (run(*ASKED).code, "error[TG384] " in run(*ASKED).stderr) == (2, True)


def test_a_reason_is_needed(run: Run, changed: Path) -> None:
    assert run(*ASKED, "--accept", " ").code == 2
    assert not (changed / "breaking.toml").exists()


def test_what_an_unstable_operator_changes_are_notes(run: Run, changed: Path) -> None:
    (changed / "old.yaml").write_text(f"{OLD}  unstable: true\n")
    (changed / "native_functions.yaml").write_text(f"{NEW}  unstable: true\n")
    said = (
        "1 operator, no breaking changes against old.yaml, 1 note on unstable operators\n"
        "note[TG357]: `lib::f`: the default of argument `dim` changed from `0` to `1` (`lib::f` is unstable)\n"
    )
    assert run(*ASKED) == Result(0, "", said)
    document = json.loads(
        run("breaking", "--against", "old.yaml", "--output-format", "json").stdout
    )
    assert (document["ok"], document["diagnostics"]) == (True, [])
    assert [(note["operator"], note["code"]) for note in document["unstable"]] == [
        ("lib::f", "TG357")
    ]
    assert run("breaking", "--against", "old.yaml", "--html", "page.html").code == 0
    assert "unstable operators" in (changed / "page.html").read_text()
    # What was accepted while it was stable is there.
    (changed / "breaking.toml").write_text(WRITTEN)
    said = "1 operator, no breaking changes against old.yaml, 1 accepted\n"
    assert run(*ASKED) == Result(0, "", said)
