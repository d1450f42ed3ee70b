"""The JSON Schema for editors."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml

from torchgen_lite.loader.entry.fields import build_json_schema
from torchgen_lite.loader.entry.reader import Dialect

SCHEMA = build_json_schema(
    Dialect({"core": "Basic.", "pointwise": "Element by element."}, ("vendor",))
)
VALIDATOR = jsonschema.Draft7Validator(SCHEMA)

RIGHT = """
- func: f(Tensor self) -> Tensor
- func: ns::f.x(Tensor self) -> Tensor
  variants: function, method
  dispatch: {"CPU, CUDA": k, PrivateUse1: a::b.c, Math: m}
  tags: [core, pointwise]
  device_guard: false
  vendor: 3
  torch: ">=2.6"
  dtypes: [float32, bool]
  samples:
    calls: []
    reference: {let: {half: 0.5}, result: self * half}
- func: g(Tensor self) -> Tensor
  samples: {calls: [], reference: self}
"""

WRONG = [
    "func: f() -> ()",
    "- f",
    "- {}",
    "- {func: 3}",
    "- {func: f}",
    "- {func: 'f(int x)'}",
    "- {func: f() -> (), unknown: 1}",
    "- {func: f() -> (), variants: mehtod}",
    "- {func: f() -> (), dispatch: {CPUU: k}}",
    "- {func: f() -> (), dispatch: {CPU: k-1}}",
    "- {func: f() -> (), dispatch: [CPU]}",
    "- {func: f() -> (), tags: corre}",
    "- {func: f() -> (), tags: [core, corre]}",
    "- {func: f() -> (), device_guard: 'no'}",
    "- {func: f() -> (), device_check: nocheck}",
    "- {func: f() -> (), structured: true, structured_delegate: g}",
    "- {func: f() -> (), structured_delegate: 'g h'}",
    "- {func: f() -> (), guard: USE_ROCM}",
    "- {func: f() -> (), torch: '2.6'}",
    "- {func: f() -> (), dtypes: half}",
    "- {func: f() -> (), samples: {calls: [], reference: {out: [x]}}}",
    "- {func: f() -> (), samples: {calls: [], reference: {let: x}}}",
]


def test_it_is_a_draft_7_schema_with_descriptions() -> None:
    jsonschema.Draft7Validator.check_schema(SCHEMA)
    entry: Any = SCHEMA
    properties = entry["definitions"]["entry"]["properties"]
    assert all(value["description"] for value in properties.values())


def test_right_files_are_valid() -> None:
    VALIDATOR.validate(yaml.safe_load(RIGHT))


@pytest.mark.parametrize("text", WRONG)
def test_wrong_files_are_not(text: str) -> None:
    assert not VALIDATOR.is_valid(yaml.safe_load(text))


def test_a_device_of_ones_own_is_a_key() -> None:
    entries = yaml.safe_load("- func: f() -> ()\n  dispatch:\n    SIM, AutogradSIM: f")
    assert not VALIDATOR.is_valid(entries)
    jsonschema.Draft7Validator(build_json_schema(Dialect(privateuse1="SIM"))).validate(entries)


def test_our_own_file_is_valid() -> None:
    path = Path(__file__).parents[4] / "native_functions.yaml"
    validator = jsonschema.Draft7Validator(build_json_schema())
    validator.validate(yaml.safe_load(path.read_text("utf-8")))


@pytest.mark.torch
def test_pytorchs_file_is_valid() -> None:
    from torchgen_lite.loader.formats.native_functions import load_schema_sources
    from torchgen_lite.loader.torch.files import find_torch_files, load_tags

    files, _ = find_torch_files()
    if files is None:
        pytest.skip("no PyTorch")
    sources, _ = load_schema_sources([files.tags], files.tags.parent)
    validator = jsonschema.Draft7Validator(build_json_schema(Dialect(load_tags(sources[0])[0])))
    validator.validate(yaml.safe_load(files.native_functions.read_text("utf-8")))
