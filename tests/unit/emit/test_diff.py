"""Patches that `git apply` takes."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from torchgen_lite.cli.plans import render_depfile
from torchgen_lite.emit.diff import count_lines, render_diff
from torchgen_lite.emit.plan import Change

CASES = {
    "update": Change("d/a.txt", "update", "1\n2\n3\n", "1\n22\n3\n"),
    "create": Change("d/new.txt", "create", None, "1\n2\n"),
    "create empty": Change("d/new.txt", "create", None, ""),
    "delete": Change("d/a.txt", "delete", "1\n2\n", None),
    "no newline before": Change("a.txt", "update", "1\n2", "1\n2\n"),
    "no newline after": Change("a.txt", "update", "1\n2\n", "1\n2"),
    "no newline in either": Change("a.txt", "update", "1\n2", "1\n3"),
    "form feed": Change("a.txt", "update", "1\x0c2\n3\n", "1\x0c2\n4\n"),
    "crlf": Change("a.txt", "update", "1\r\n2\r\n", "1\n2\n"),
    "spaces": Change("a b.txt", "update", "1\n", "2\n"),
    "spaces at the end": Change("a b.txt ", "create", None, "2\n"),
    "tab": Change("a\tb.txt", "update", "1\n", "2\n"),
    "quotes": Change("d\"\\/a'.txt", "delete", "1\n", None),
    "newline": Change("a\nb.txt", "create", None, "1\n"),
    "not ASCII": Change("é/ø b.txt", "update", "é\n", "ø\n"),
    "name not UTF-8": Change("\udcff.txt", "update", "1\n", "2\n"),
    "text not UTF-8": Change("a.txt", "update", "1\n\udcff\n3\n", "1\n2\n3\n"),
    "executable": Change("a.txt", "update", "1\n", "2\n", is_executable=True),
    "executable deleted": Change("a.txt", "delete", "1\n", None, is_executable=True),
}


@pytest.mark.parametrize("name", CASES)
def test_git_applies_it(name: str, tmp_path: Path) -> None:
    change = CASES[name]
    path = tmp_path / "out" / change.path
    path.parent.mkdir(parents=True)
    if change.old is not None:
        path.write_bytes(change.old.encode("utf-8", "surrogateescape"))
        path.chmod(0o755 if change.is_executable else 0o644)
    patch = render_diff([change], "out").encode("utf-8", "surrogateescape")
    subprocess.run(["git", "init", "-q"], cwd=tmp_path, check=True)
    command = ["git", "-c", "core.autocrlf=false", "apply", "--whitespace=nowarn", "-"]
    said = subprocess.run(command, cwd=tmp_path, input=patch, check=True, capture_output=True)
    assert said.stderr == b""
    assert (path.read_bytes().decode() if path.exists() else None) == change.new


def test_text_of_a_patch() -> None:
    assert render_diff([CASES["no newline after"]], "") == (
        "diff --git a/a.txt b/a.txt\n"
        "--- a/a.txt\n"
        "+++ b/a.txt\n"
        "@@ -1,2 +1,2 @@\n"
        " 1\n"
        "-2\n"
        "+2\n"
        "\\ No newline at end of file\n"
    )


def test_unchanged_files_are_left_out() -> None:
    assert render_diff([Change("a.txt", "keep", "1\n", "1\n")], "") == ""


def test_count_lines() -> None:
    assert count_lines(CASES["update"]) == (1, 1)
    assert count_lines(CASES["create"]) == (2, 0)
    assert count_lines(CASES["delete"]) == (0, 2)


def test_depfile() -> None:
    assert render_depfile("out/a b.py", ["x.yaml", "c#$.j2", "x.yaml"]) == (
        "out/a\\ b.py: x.yaml c\\#$$.j2\n"
    )
