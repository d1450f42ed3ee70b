"""The pages of diagnostic codes: each is in the form, has a code that is used, and is in the index."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator
from importlib.metadata import EntryPoint, EntryPoints
from pathlib import Path

import pytest
import yaml

from tests.expected import expect
from torchgen_lite.diagnostics import (
    code,
    code_names,
    every_code,
    explain,
    find_page,
    page_uri,
    read_code,
)

ROOT = Path(__file__).parents[3]
PACKAGE = ROOT / "torchgen_lite"
PAGES = PACKAGE / "diagnostics" / "codes"
INDEX = ROOT / "docs" / "diagnostics.md"
EFFECTS = ("", "breaks callers", "changes results", "breaks promises", "may change")
GROUPS = {
    "0": "configuration, command line, files",
    "1": "YAML and keys",
    "2": "the syntax of schemas",
    "3": "across entries, derivatives, PyTorch, and compared versions",
    "4": "lint",
    "5": "templates and targets",
    "6": "imported libraries",
    "9": "internal",
}
PAGE = """\
---
title: "`it` is wrong"
severity: warning
since: 1.2
where: without PyTorch
---

## What it means

It says
so.

It means it.

## Why it is wrong

Because.

## What to do

Write it
right.

## Bad

```yaml
- func: f()
```

## Good

```console
-- a --

$ b
```
"""


@pytest.fixture
def another_package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The folder of the pages of a package that has the letters ABC."""
    folder = tmp_path / "some_package" / "codes"
    folder.mkdir(parents=True)
    (folder.parent / "__init__.py").write_text("raise RuntimeError\n")
    entries = EntryPoints([EntryPoint(name, "some_package", code.GROUP) for name in ("ABC", "TG")])
    monkeypatch.setattr("importlib.metadata.entry_points", lambda **by: entries.select(**by))
    monkeypatch.syspath_prepend(str(tmp_path))
    caches = (code.read_code, code.find_page, code._folder)
    for cached in caches:
        cached.cache_clear()
    yield folder
    for cached in caches:
        cached.cache_clear()


@pytest.mark.parametrize("name", code_names())
def test_a_page_is_in_the_form(name: str) -> None:
    page = read_code(name)
    text = (PAGES / f"{name}.md").read_text("utf-8")
    front = yaml.safe_load(text.split("---\n")[1])
    read = {"title": page.title, "severity": page.severity, "since": page.since}
    others = {"where": page.where, "effect": page.effect}
    assert front == {**read, **{name: text for name, text in others.items() if text}}
    assert page.effect in EFFECTS
    assert (page.severity == "warning") == (page.effect == "may change") or not page.effect
    titles = re.findall("^## (.*)", text, re.MULTILINE)
    assert titles == ["What it means", "Why it is wrong", "What to do", "Bad", "Good"]
    assert page.explanation.endswith(".") and page.reason.endswith(".") and page.bad and page.good
    assert max(map(len, text.split("## Bad")[0].splitlines())) <= 120
    assert all(text in explain(page) for text in (page.explanation, page.reason, page.help))
    # It ends a message, in one line.
    assert re.fullmatch(r"[A-Z][a-z]+ (?:(?!\. ).){5,120}\.", page.help)


def test_a_page_is_read(another_package: Path) -> None:
    (another_package / "ABC001.md").write_text(PAGE)
    page = read_code("ABC001")
    assert page._asdict() == {
        "code": "ABC001",
        "title": "`it` is wrong",
        "severity": "warning",
        "since": "1.2",
        "explanation": "It says so.\n\nIt means it.",
        "reason": "Because.",
        "help": "Write it right.",
        "bad": "- func: f()",
        "good": "-- a --\n\n$ b",
        "where": "without PyTorch",
        "effect": "",
    }
    assert explain(page) == (
        "ABC001: `it` is wrong (warning)\n\nIt says so.\n\nIt means it.\n\nBecause.\n\n"
        "What to do: Write it right.\n\n"
        "Bad, without PyTorch:\n\n    - func: f()\n\nGood:\n\n    -- a --\n\n    $ b\n"
    )


def test_other_packages_have_codes_but_not_ours(another_package: Path) -> None:
    for name in ("ABC001", "TG999", "TG103"):
        (another_package / f"{name}.md").write_text(PAGE)
    assert [one.code for one in every_code()] == [*code_names(), "ABC001"]
    assert find_page("TG999") is None and find_page("ABC002") is None
    assert read_code("TG103").title == "unknown dispatch key"
    assert page_uri("ABC001") == (another_package / "ABC001.md").as_uri()
    with pytest.raises(KeyError, match="`ABC002` has no page"):
        read_code("ABC002")


@pytest.mark.parametrize(
    ("line", "instead"),
    [
        ("severity: warning", "severity: fatal"),
        ("## Good", "## Better"),
        ("## Why it is wrong\n\nBecause.\n\n", ""),
        ("---\n", ""),
    ],
)
def test_what_is_not_a_page_is_refused(another_package: Path, line: str, instead: str) -> None:
    (another_package / "ABC001.md").write_text(PAGE.replace(line, instead, 1))
    with pytest.raises(ValueError, match="ABC001.md` is not the page of a diagnostic code"):
        read_code("ABC001")


@pytest.mark.parametrize(
    "name", ["", "TG", "TG1", "TG1030", "tg103", "../TG103", "rst1", "RST", "TOOLONGNAME001"]
)
def test_what_is_not_a_code_has_no_page(name: str) -> None:
    assert find_page(name) is None


def test_a_run_reads_the_pages_of_what_it_reports_alone(tmp_path: Path) -> None:
    (tmp_path / "native_functions.yaml").write_text("- func: f(Tensr self) -> Tensor\n")
    program = (
        "import sys\nread = set()\n"
        "sys.addaudithook(lambda event, of: event == 'open' and read.add(str(of[0])))\n"
        "from torchgen_lite.cli import main\n"
        "main(['lint'], sys.stdout, sys.stderr)\n"
        "print(sorted(path[-8:] for path in read if path.endswith('.md')))"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=tmp_path, capture_output=True, text=True
    )
    assert done.stdout == "['TG202.md']\n", done.stderr


def test_a_page_has_the_address_that_the_distribution_gives(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(code, "documentation", lambda: "https://example.org/docs")
    assert page_uri("TG103") == "https://example.org/docs/diagnostics/TG103/"
    monkeypatch.setattr(code, "documentation", lambda: "")
    assert page_uri("TG103") == (PAGES / "TG103.md").as_uri()


def test_the_codes_with_pages_are_those_that_are_used() -> None:
    packages = (PACKAGE, ROOT / "tools" / "torchgen_lite_tools")
    texts = [path.read_text("utf-8") for root in packages for path in root.rglob("*.py")]
    used = {code for text in texts for code in re.findall(r'"(TG\d{3})"', text)}
    assert used == set(code_names())
    assert {name[2] for name in code_names()} == set(GROUPS)


def test_the_index_lists_the_pages() -> None:
    text = INDEX.read_text("utf-8")
    written = text[: text.index("\n## ")] + "".join(map(_table, GROUPS))
    expect(INDEX, written)


def _table(group: str) -> str:
    rows = [
        f"| [{one.code}](../torchgen_lite/diagnostics/codes/{one.code}.md) | {one.severity} | {one.title} |\n"
        for one in map(read_code, code_names())
        if one.code[2] == group
    ]
    head = "| code | severity | meaning |\n|---|---|---|\n"
    return f"\n## {group}xx: {GROUPS[group]}\n\n{head}{''.join(rows)}"
