"""What `torch.compile` makes of an operator, as lint says it: beside PyTorch in tests/torch_python/test_traced.py."""

from __future__ import annotations

from pathlib import Path

import pytest

from torchgen_lite.analysis.lint import lint_program
from torchgen_lite.analysis.program import build_program
from torchgen_lite.diagnostics import Source
from torchgen_lite.loader.config.project import Config
from torchgen_lite.loader.formats.native_functions import load_native_functions

# An entry, and the codes of what lint says of it.
CASES = {
    # Numbers of the fake.
    "f(Tensor x) -> (int, Tensor)|[{value: 3}, {like: x}]": ["TG423"],
    "f(Tensor x) -> (bool, Tensor)|[{value: True}, {like: x}]": ["TG423"],
    "f(Tensor x) -> (float, Tensor)|[{value: 1.5}, {like: x}]": ["TG423"],
    "f(Tensor x) -> (SymInt, Tensor)|[{value: 3}, {like: x}]": ["TG423"],
    "f(Tensor x) -> (int, Tensor)|of_f": ["TG423"],
    "f(Tensor x) -> (SymInt, Tensor)|of_f": [],
    "f(Tensor x) -> (SymInt, Tensor)|[{value: x.size(0)}, {like: x}]": [],
    "f(Tensor x) -> (int, Tensor)|[{value: x.dim() + 1}, {like: x}]": [],
    "f(Tensor x, bool b) -> (bool, Tensor)|[{value: b}, {like: x}]": [],
    # Without a tensor nothing is computed of data.
    "f(int n) -> int|[{value: 3}]": [],
    # Sizes.
    "f(Tensor x, int n) -> Tensor|{like: x, shape: '[n, x.size(0)]'}": ["TG424"],
    "f(Tensor x, int[] s) -> Tensor|{like: x, shape: s}": ["TG424"],
    "f(Tensor x, int[2] s) -> (Tensor, Tensor)|[{like: x, shape: s}, {like: x, shape: s}]": [
        "TG424"
    ],
    "f(Tensor x, SymInt n) -> Tensor|{like: x, shape: '[n, x.size(0)]'}": [],
    "f(Tensor x, SymInt[] s) -> Tensor|{like: x, shape: s}": [],
    "f(Tensor x, int n) -> Tensor|{like: x}": [],
    # Written results.
    "f(Tensor(a!) x, Tensor y) -> (Tensor(a!), Tensor)|{like: y}": ["TG428"],
    "f(Tensor(a!) x, Tensor(b!) y) -> Tensor(a!)|": ["TG428"],
    "f(Tensor(a!) x, Tensor(b!) y) -> (Tensor(b!), Tensor(a!))|": ["TG428"],
    "f(Tensor(a!)[] x) -> Tensor(a!)[]|": ["TG428"],
    "f(Tensor(a!) x, Tensor(b!) y) -> (Tensor(a!), Tensor(b!))|": [],
    "f_(Tensor(a!) x) -> Tensor(a!)|": [],
    "f(Tensor(a!) x, Tensor(b!) y) -> Tensor|{like: y}": [],
    "f(Tensor(a!)? x, Tensor y) -> Tensor|{like: y}": [],
    # Dictionaries.
    "f(Tensor x, Dict(str, Tensor) d) -> Tensor|{like: x}": ["TG429"],
    "f(Tensor x, Dict(str, Tensor)? d=None) -> Tensor|{like: x}": ["TG429"],
    "f(Tensor x, Dict(str, int) d) -> Tensor|{like: x}": [],
}
TRACED = {"TG423", "TG424", "TG428", "TG429"}


def _found(schema: str, *fields: str) -> list[str]:
    text = "\n  ".join([f"- func: {schema}", *fields])
    source = Source("ops.yaml", text)
    functions, found = load_native_functions([source])
    config = Config(Path("."))
    program = lint_program(build_program(functions, config, diagnostics=found, sources=[source]))
    assert not program.has_errors, program.diagnostics
    return [one.code for one in program.diagnostics if one.code in TRACED]


@pytest.mark.parametrize("case", CASES)
def test_traced(case: str) -> None:
    schema, fake = case.split("|")
    fields = ["dispatch: {CPU: kernel}"] + ([f"fake: {fake}"] if fake else [])
    assert _found(f"my::{schema}", *fields) == CASES[case]


@pytest.mark.parametrize("case", [case for case, codes in CASES.items() if codes])
def test_what_is_composed_of_operators_is_not_in_a_trace(case: str) -> None:
    assert (
        _found(f"my::{case.split('|')[0]}", "dispatch: {CompositeImplicitAutograd: kernel}") == []
    )


def test_operators_of_pytorch_are_not_the_authors() -> None:
    assert (
        _found("f(Tensor(a!) x, Tensor y) -> (Tensor(a!), Tensor)", "dispatch: {CPU: kernel}") == []
    )


def test_a_kernel_for_meta_is_a_fake() -> None:
    assert _found("my::f(Tensor x) -> (int, Tensor)", "dispatch: {CPU: f, Meta: g}") == ["TG423"]


def test_an_own_kernel_for_functionalize_takes_writes() -> None:
    schema = "my::f(Tensor(a!) x, Tensor y) -> (Tensor(a!), Tensor)"
    assert _found(schema, "dispatch: {CPU: f, Functionalize: g}", "fake: {like: y}") == []
