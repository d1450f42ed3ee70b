"""No text of the configuration becomes code: each option gets what would leave strings, comments and lines."""

from __future__ import annotations

import io
import json
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.hostile.text import HOSTILE, RESERVED, escaped
from torchgen_lite.analysis.program import build_program
from torchgen_lite.cli import main
from torchgen_lite.diagnostics import Source
from torchgen_lite.loader.config import Config
from torchgen_lite.loader.native_functions import load_native_functions
from torchgen_lite.pipeline import generate_all
from torchgen_lite.targets import TARGETS

# Expressions and types of C++ that the author of a framework writes.
CODE = {"constants", "types", "tensor"}
SOURCE = Source(
    "ops.yaml",
    """\
- func: lib::f(Tensor self, str s='a') -> Tensor
  guard: "#ifdef A"
  dispatch:
    CPU: f
""",
)


def values(text: str) -> Iterator[object]:
    """A text in every shape that an option may have."""
    yield text
    yield [text]
    yield {"Device": text}


@pytest.mark.parametrize("target", TARGETS)
def test_no_text_of_an_option_becomes_code(target: str) -> None:
    functions, _ = load_native_functions([SOURCE])
    usual: dict[str, object] = {"tensor": "toy::Tensor"} if target == "cpp-runtime" else {}
    accepted, wrong = 0, []
    for option in TARGETS[target].declared_options().values():
        for text in (*HOSTILE, *RESERVED):
            for value in values(text):
                options = {target: {**usual, option.name: value}}
                program = build_program(functions, Config(Path("nowhere"), target_options=options))
                files = generate_all(program, targets=[target]).files
                accepted += bool(files)
                try:
                    if option.name not in CODE:
                        wrong += [f"{option.name} = {value!r}: {what}" for what in escaped(files)]
                except (SyntaxError, AssertionError) as error:
                    wrong.append(f"{option.name} = {value!r}: {error}")
    assert wrong == []
    assert accepted > 0 or target == "torch-stubs"


# Long, odd and looking elsewhere; members that are workspaces of each other are below.
PATTERNS = (
    *HOSTILE,
    *RESERVED,
    "",
    ".",
    "..",
    "/",
    "//",
    "~",
    "*",
    "**",
    "***",
    "**/*",
    "a/../..",
    "[",
    "[!",
    "{a,b}",
)
ODD = (
    "*" * 300,
    "x" * 5000,
    "../" * 300,
    "*/" * 60,
    "a//b",
    "loop",
    "loop/*",
    "pipe",
    "\\",
    "C:\\x",
    "-q",
    "=",
)


@pytest.mark.parametrize("command", ["lint", "check", "fmt --check", "breaking --against ."])
def test_members_of_a_workspace(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: str
) -> None:
    """No traceback, nothing is written, and an error says what is wrong."""
    folder = tmp_path / "outer" / "inner"
    (folder / "one").mkdir(parents=True)
    (folder / "loop").symlink_to(folder / "loop")
    os.mkfifo(folder / "pipe")
    for member in ("one", "two"):
        (folder / member).mkdir(exist_ok=True)
        other = {"one": "../two", "two": "../one"}[member]
        text = f'schema = ["ops.yaml"]\n[workspace]\nmembers = ["{other}"]\n'
        (folder / member / "torchgen_lite.toml").write_text(text)
        (folder / member / "ops.yaml").write_text(SOURCE.text)
    monkeypatch.chdir(folder)
    before = sorted(tmp_path.rglob("*"))
    wrong = []
    for value in (
        *[[text] for text in (*PATTERNS, *ODD)],
        ["one", "one/", "./one", "*"],
        [[]],
        {},
        1,
    ):
        config = f"[workspace]\nmembers = {toml(value)}\n"
        (folder / "torchgen_lite.toml").write_text(config)
        out, err = io.StringIO(), io.StringIO()
        code = main(command.split(), out, err)
        said = out.getvalue() + err.getvalue()
        if code not in (0, 1, 2) or (code == 2 and not said) or "TG900" in said:
            wrong.append((value, code, said))
        (folder / "torchgen_lite.toml").unlink()
    assert wrong == []
    assert sorted(tmp_path.rglob("*")) == before


def toml(value: object) -> str:
    """JSON is TOML for what stands here, but for surrogates, which no file in UTF-8 has."""
    return json.dumps(value).replace("\\udcff", "\\u00ff") if value != {} else "{}"
