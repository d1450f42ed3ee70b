"""No text of the configuration becomes code: each key gets text that would break out of strings, comments and lines."""

from __future__ import annotations

import io
import json
import os
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest

from tests.cpp.torch_ops import PROGRAMS, has_programs
from tests.hostile.text import HOSTILE, RESERVED, escaped, places
from torchgen_lite.cli import main
from torchgen_lite.cli.listing import render_rows
from torchgen_lite.diagnostics import Source, has_errors, render_github
from torchgen_lite.loader.config.project import parse_config
from torchgen_lite.pipeline import generate_all, load
from torchgen_lite.targets import TARGETS
from torchgen_lite.targets.configuration import configuration_schema

# Expressions and types of C++ that the author of a framework writes.
CODE = {"constants", "types", "tensor"}
SOURCE = Source(
    "ops.yaml",
    """\
- func: lib::f(Tensor self, str s='a') -> Tensor
  guard: "#ifdef A"
  dispatch:
    CPU: f
- func: g(Tensor self) -> Tensor
  dispatch:
    CPU: g
""",
)


def keys(
    schema: Mapping[str, Any], tables: tuple[str, ...] = ()
) -> Iterator[tuple[tuple[str, ...], Any]]:
    """Each key that the configuration may have, behind the names of its tables, and the JSON Schema of its values."""
    for name, one in schema["properties"].items():
        if "properties" in one:
            yield from keys(one, (*tables, name))
        else:
            yield (*tables, name), one


def settings(key: tuple[str, ...], value: object) -> dict[str, Any]:
    """A configuration with a value, and with what everything needs."""
    usual = {"schema": "ops.yaml", "target": {"cpp-runtime": {"tensor": "toy::Tensor"}}}
    table: Any = usual
    for name in key[:-1]:
        table = table.setdefault(name, {})
    table[key[-1]] = value
    return usual


def make_files(root: Path, value: object) -> None:
    """Files and folders of these names, as far as there can be any: some keys name what is there."""
    for name in [value] if isinstance(value, str) else value if isinstance(value, list) else []:
        path = root / name
        if (
            "\0" not in name
            and name.isprintable()
            and path.is_relative_to(root)
            and not path.exists()
        ):
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(SOURCE.text)


KEYS = dict(keys(configuration_schema()))


@pytest.mark.slow("for some keys, each text in a hundred places, for all targets")
@pytest.mark.parametrize("key", KEYS, ids=".".join)
def test_no_text_of_the_configuration_becomes_code(tmp_path: Path, key: tuple[str, ...]) -> None:
    (tmp_path / "ops.yaml").write_text(SOURCE.text)
    targets = [key[1]] if key[0] == "target" else list(TARGETS)
    wrong, names = list[str](), {"ops.yaml"}
    for text in (*HOSTILE, *RESERVED):
        for value in places(KEYS[key], text):
            written = Source("torchgen_lite.toml", toml_file(settings(key, value)))
            config, found = parse_config(written, tmp_path / "torchgen_lite.toml", [])
            assert "TG001" not in [one.code for one in found], written.text
            if not has_errors(found):
                make_files(tmp_path, value)
                program = load(config=config)
                found = program.diagnostics
            wrong += [f"{value!r}: {line}" for line in said(found)]
            if has_errors(found):
                continue
            for target in targets:
                files = generate_all(program, targets=[target]).files
                names |= {*config.schema, *(f"{config.output_dir}/{path}" for path in files)}
                try:
                    if key[-1] not in CODE:
                        wrong += [f"{value!r}: {what}" for what in escaped(files)]
                except (SyntaxError, AssertionError) as error:
                    wrong.append(f"{value!r}: {error}")
    assert wrong == []
    # CMake has no lists of names with one bracket alone.
    listed = sorted(name for name in names if not {*"[]"} & {*name} and name[-1:] != "\\")
    assert not has_programs("cmake") or read_by_cmake(tuple(listed)) == listed


def said(found: Sequence[Any]) -> Iterator[str]:
    """Text that GitHub would read as another command."""
    lines = render_github(found).split("\n")
    yield from (line for line in lines[:-1] if not line.startswith(("::error ", "::warning ")))
    assert len(lines) == len(found) + 1


# Most keys change no name.
@cache
def read_by_cmake(names: tuple[str, ...]) -> list[str]:
    """What CMake makes of a list of names."""
    text = render_rows("outputs", [{"name": name} for name in names], "cmake")
    told = 'foreach(name IN LISTS TORCHGEN_LITE_OUTPUTS)\n  message("${name}")\nendforeach()\n'
    environment = {**os.environ, "PATH": PROGRAMS}
    with TemporaryDirectory() as folder:
        script = Path(folder, "names.cmake")
        script.write_text(text + told)
        command = ["cmake", "-P", str(script)]
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    return done.stderr.split("\n")[:-1]


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
    """The JSON of these values is TOML, except for tables and for surrogates, which UTF-8 cannot encode."""
    if isinstance(value, dict):
        return f"{{{', '.join(f'{toml(key)} = {toml(one)}' for key, one in value.items())}}}"
    if isinstance(value, list):
        return f"[{', '.join(map(toml, value))}]"
    return json.dumps(value).replace("\\udcff", "\\u00ff")


def toml_file(table: Mapping[str, object]) -> str:
    return "".join(f"{toml(key)} = {toml(value)}\n" for key, value in table.items())
