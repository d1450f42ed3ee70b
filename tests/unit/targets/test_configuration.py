"""The configuration as a whole: its JSON Schema and its page."""

from __future__ import annotations

from pathlib import Path

import jsonschema
import pytest

from tests.conftest import ROOT
from tests.expected import expect
from tests.pages import render_configuration_page
from torchgen_lite.diagnostics import has_errors
from torchgen_lite.loader.config.project import load_config, tomllib
from torchgen_lite.targets import DEFAULT_TARGETS, TARGETS
from torchgen_lite.targets.configuration import configuration_schema

SCHEMA = configuration_schema()
VALIDATOR = jsonschema.Draft7Validator(SCHEMA)
FILES = [
    path
    for folder in (".", "examples/*", "tests/cases/*/input", "tests/torch_python/project")
    for name in ("pyproject.toml", "torchgen_lite.toml")
    for path in sorted(ROOT.glob(f"{folder}/{name}"))
    if "unknown_key" not in path.parts
    and (path.name == "torchgen_lite.toml" or "[tool.torchgen_lite" in path.read_text("utf-8"))
]


def table(path: Path) -> object:
    data = tomllib.loads(path.read_text("utf-8"))
    return data["tool"]["torchgen_lite"] if path.name == "pyproject.toml" else data


def test_it_is_a_draft_7_schema() -> None:
    jsonschema.Draft7Validator.check_schema(SCHEMA)


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_configurations_of_this_repository_are_valid(path: Path) -> None:
    VALIDATOR.validate(table(path))


@pytest.mark.parametrize(
    "text",
    [
        'output-dri = "x"',
        "schema = 3",
        "lint = 3",
        "lint.selct = []",
        "target.python = 1",
        "target.pyhton = {}",
        'target.python.pakage = "x"',
        'target.python.package = ""',
        'target.python.kernels = "kernels"',
        'target.torch-python.library = "DEF"',
        'target.cpp-torch.namespace = "a-b"',
        "target.cpp-torch.shards = 300",
        "target.cpp-torch-stable.target-version = 2.10",
        "target.cpp-runtime = {}",
        'target.cpp-runtime = {tensor = "T", types = {Tensor = "T"}}',
        'target.torch-stubs.folder = "x"',
    ],
)
def test_the_schema_refuses_what_the_reader_refuses(tmp_path: Path, text: str) -> None:
    (tmp_path / "torchgen_lite.toml").write_text(text)
    config, found = load_config(tmp_path)
    targets = [TARGETS[name] for name in config.target_options if name in TARGETS]
    found += tuple(d for target in targets for d in target.read_options(config)[1])
    assert not VALIDATOR.is_valid(tomllib.loads(text))
    assert has_errors(found) or "pyhton" in text


def test_an_old_spelling_names_the_new_one(tmp_path: Path) -> None:
    (tmp_path / "torchgen_lite.toml").write_text('[target.torch-python]\nlibrary = "DEF"\n')
    _, (found,) = TARGETS["torch-python"].read_options(load_config(tmp_path)[0])
    assert (found.code, found.message) == ("TG510", "`library` takes `def` or `fragment`")
    assert str(found.help) == "did you mean `def`?"
    assert found.label is not None and found.label.span.line == 2


def test_an_option_has_one_name_in_every_target() -> None:
    names: dict[str, set[str]] = {}
    for target in TARGETS.values():
        for option in target.declared_options().values():
            names.setdefault(option.doc, set()).add(option.name)
    assert names and [doc for doc, found in names.items() if len(found) > 1] == []


def test_the_page_is_what_is_declared() -> None:
    page = render_configuration_page()
    expect(ROOT / "docs" / "configuration.md", page)
    assert f'`["{DEFAULT_TARGETS[0]}"]`' in page


def test_the_pipeline_and_the_commands_know_no_target() -> None:
    """Everything specific to a target is in its registration and its options."""
    package = ROOT / "torchgen_lite"
    # `init` gives a project a target; `table` and `why` explain registrations of the Python package.
    allowed = {package / "cli" / name for name in ("init.py", "tables/registrations.py")}
    quoted = [f'"{name}"' for name in TARGETS]
    paths = {package / "pipeline.py", *(package / "cli").rglob("*.py")} - allowed
    assert [p.name for p in paths if any(name in p.read_text("utf-8") for name in quoted)] == []
