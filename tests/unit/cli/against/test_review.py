"""`review`: one page for a pull request."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path

from tests.conftest import Result
from tests.unit.cli.against.conftest import NEW, OLD, git

Run = Callable[..., Result]
HEAD = """\
## Review against `main`

| part | what changes |
|---|---|
| check | N files out of date |
| breaking | 3 breaking changes and 1 change that may matter |
| dispatch tables | 3 operators change in 3 cells, 1 is new, 1 is gone |
| diagnostics | 1 new |
| generated code | N files, +N -N |
"""


def test_the_page(run: Run, changed: Path) -> None:
    result = run("review", "--against", "main")
    assert (result.code, result.stderr) == (1, "")
    page = result.stdout
    assert re.sub(
        r"\b[0-9]+ files|(?<=[+-])[0-9]+", lambda m: "N files" if " " in m[0] else "N", page
    ).startswith(HEAD)
    for title in (
        "what breaks",
        "new diagnostics",
        "2 operators lose their Meta kernel",
        "cells that change",
        "new operators",
        "operators that are gone",
    ):
        assert f"\n**{title}**\n" in page
    assert (
        "| native_functions.yaml:3 | TG364 | `lib::shift`: dispatch key `Meta` was removed: no `Meta` "
        "| keep a kernel for the key or for an alias of it, or accept the change: "
        '`breaking --accept "reason"`; '
        "effect: breaks callers; main:native_functions.yaml:4:5: was this |\n"
    ) in page
    assert "| generated/python/ops/" in page
    assert "\n|  |" not in page, "columns have names"


def test_a_change_that_needs_nothing(run: Run, changed: Path) -> None:
    (changed / "native_functions.yaml").write_text(
        OLD + "- func: lib::more(Tensor self) -> Tensor\n"
    )
    run("generate")
    result = run("review", "--against", "main")
    assert result.code == 0, result.stdout
    assert "| check | up to date |\n| breaking | none |" in result.stdout
    assert "| diagnostics | no new ones |" in result.stdout


def test_warnings_count_where_they_are_denied(run: Run, changed: Path) -> None:
    warned = OLD + "  tags: nonsense\n"
    (changed / "native_functions.yaml").write_text(warned)
    git(changed, "commit", "-qam", "warned")
    run("generate")
    assert run("review", "--against", "HEAD", "--deny-warnings").code == 0, "it is not new"
    result = run("review", "--against", "HEAD~1")
    assert (result.code, "| diagnostics | 1 new |" in result.stdout) == (0, True)
    denied = run("review", "--against", "HEAD~1", "--deny-warnings")
    assert denied.code == 1
    (changed / "native_functions.yaml").write_text(OLD)
    assert "| diagnostics | 0 new, 1 resolved |" in run("review", "--against", "HEAD").stdout


def test_annotations_and_a_summary(run: Run, changed: Path) -> None:
    page = run("review", "--against", "main").stdout
    summary = changed / "summary.md"
    summary.write_text("before\n")
    arguments = ("--output-format", "github", "--summary", str(summary))
    result = run("review", "--against", "main", *arguments)
    assert result.code == 1
    assert summary.read_text() == f"before\n{page}\n"
    lines = result.stdout.splitlines()
    assert any(
        line.startswith("::error title=TG364,file=native_functions.yaml,line=3") for line in lines
    )
    assert any(line.startswith("::error title=TG016,file=generated/python/") for line in lines)
    assert any(line.startswith("::warning title=TG111,") for line in lines)
    assert run("review", "--against", "main", "--summary", "no/such/folder").code == 2


def test_a_page_of_html(run: Run, changed: Path) -> None:
    result = run("review", "--against", "main", "--html", "page.html")
    assert (result.code, result.stderr) == (1, "page written to page.html\n")
    page = (changed / "page.html").read_text()
    assert "<h1>Review against <code>main</code></h1>" in page
    for heading in re.findall(r"\*\*(.*)\*\*", result.stdout):
        assert f"<h2>{heading.replace('`', '')} <span>" in re.sub("</?code>", "", page)
    assert (
        '<td class="code"><code>native_functions.yaml:3</code></td><td>TG364</td><td><code>lib::shift</code>'
        in page
    )
    for name in ("a", "b"):
        (changed / name).mkdir()
        (changed / name / "torchgen_lite.toml").write_text("")
    several = run("review", "a", "b", "--against", "main", "--html", "page.html")
    assert several.code == 2 and "`--html` applies to one project" in several.stderr


def test_errors_are_all_that_is_said(run: Run, changed: Path) -> None:
    (changed / "native_functions.yaml").write_text(NEW.replace("CPU: turn2", "CPUU: turn2"))
    result = run("review", "--against", "main")
    assert result.code == 1
    assert result.stdout.startswith("## Review against `main`\n\n**errors**\n")
    assert (
        "| native_functions.yaml:9 | TG103 | unknown dispatch key `CPUU`: not a dispatch key |"
        in result.stdout
    )


def test_json(run: Run, changed: Path) -> None:
    data = json.loads(run("review", "--against", "main", "--output-format", "json").stdout)
    assert (data["kind"], data["ok"]) == ("review", False)
    assert {one["code"] for one in data["diagnostics"]} == {
        "TG016",
        "TG350",
        "TG364",
        "TG382",
        "TG111",
    }
    assert len(data["changes"]) == 3 and data["summary"]["changed"] > 0


def test_a_project_that_is_new(run: Run, project: Path) -> None:
    git(project, "init", "-q", "-b", "main")
    git(project, "commit", "-q", "--allow-empty", "-m", "one")
    run("generate")
    result = run("review", "--against", "main")
    assert (result.code, result.stderr) == (0, "")
    assert "| dispatch tables | 0 operators change in 0 cells, 1 is new |" in result.stdout
    assert "| generated code | 12 files, +" in result.stdout


def test_several_projects(run: Run, changed: Path) -> None:
    """Each project gets a section; paths are relative to the current folder."""
    for name in ("a", "b"):
        (changed / name).mkdir()
        (changed / name / "torchgen_lite.toml").write_text("")
        (changed / name / "native_functions.yaml").write_text(OLD)
    git(changed, "add", "a", "b")
    git(changed, "commit", "-qm", "two")
    (changed / "a/native_functions.yaml").write_text(
        OLD.replace("lib::turn(Tensor", "lib::turn(Tensor? x, Tensor")
    )
    result = run("review", "--against", "HEAD", "a", "b")
    assert result.code == 1
    assert re.findall("^## .*", result.stdout, re.M) == [
        "## `a` against `HEAD`",
        "## `b` against `HEAD`",
    ]
    assert "| a/native_functions.yaml:9 | TG356 |" in result.stdout
