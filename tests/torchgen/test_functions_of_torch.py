"""PyTorch's functions that formulas may call, compared with the installed PyTorch if it is the current release."""

from __future__ import annotations

import doctest
import importlib
import re
from pathlib import Path

import pytest

from torchgen_lite.analysis.derive.layout import has_symint
from torchgen_lite.key_tables import CURRENT
from torchgen_lite.loader.torch import functions as torch_functions
from torchgen_lite.loader.torch import schemas as torch_schemas
from torchgen_lite.loader.torch.functions import at_header, functions_of_torch, in_at, taken
from torchgen_lite.loader.torch.schemas import schemas_of

TORCH_FUNCTIONS, AT_FUNCTIONS = functions_of_torch()[:2]


def test_examples_in_docstrings() -> None:
    assert doctest.testmod(torch_functions).failed == 0
    assert doctest.testmod(torch_schemas).failed == 0


@pytest.fixture(scope="module")
def include() -> Path:
    """The headers of the current release."""
    torch = pytest.importorskip("torch")
    if not torch.__version__.startswith(f"{CURRENT.release}."):
        pytest.skip(f"the names are those of {CURRENT.release}")
    return Path(torch.__file__).parent / "include"


@pytest.mark.torch
def test_the_names_are_those_of_the_current_release(include: Path) -> None:
    import torch

    names = {name: getattr(torch, name) for name in dir(torch) if not name.startswith("_")}
    functions = {name for name, it in names.items() if callable(it) and not isinstance(it, type)}
    assert functions == TORCH_FUNCTIONS


def declared(text: str) -> set[str]:
    """The functions that a header declares at the beginning of a line, without the suffixes of variants."""
    found = re.findall(r"^(?:TORCH_API|inline|static inline) [^\n(]*?\b(\w+)\(", text, re.M)
    return {re.sub("(_symint)?(_outf?)?$", "", name) for name in found}


@pytest.mark.torch
def test_the_functions_of_at_are_those_of_its_headers(include: Path) -> None:
    folders = [include / "ATen" / folder for folder in ("ops", "core", "")]
    headers = [path for folder in folders for path in folder.glob("*.h")]
    texts = [path.read_text() for path in headers if not path.stem.endswith("_native")]
    found = set().union(*map(declared, texts))
    assert found >= AT_FUNCTIONS - TORCH_FUNCTIONS
    operators = re.findall(
        r"^#include <ATen/ops/(\w+)\.h>", (include / "ATen" / "Functions.h").read_text(), re.M
    )
    functions = [(include / "ATen" / "ops" / f"{name}.h").read_text() for name in operators]
    unknown = {name for text in functions for name in declared(text) if not in_at(name)}
    assert unknown == {"noopDelete"}


def parameters(text: str) -> list[str]:
    """The parameters of a list, without the text in brackets."""
    before = ""
    while text != before:
        before, text = text, re.sub(r"<[^<>]*>|\([^()]*\)|\{[^{}]*\}", "", text)
    return text.split(",") if text else []


@pytest.mark.torch
def test_the_numbers_of_arguments_are_those_of_its_headers(include: Path) -> None:
    operators = re.findall(
        r"^#include <(ATen/ops/\w+\.h)>", (include / "ATen" / "Functions.h").read_text(), re.M
    )
    counts: dict[str, set[int]] = {}
    declaration = re.compile(
        r"^(?:inline|TORCH_API|static inline|  (?!return)[\w:]+) .*?\b(\w+)\((.*)\)"
        r"(?: const;| \{|;)$",
        re.M,
    )
    for path in (*operators, "ATen/core/TensorBody.h"):
        is_method = not path.startswith("ATen/ops")
        for name, text in declaration.findall((include / path).read_text()):
            given = parameters(text)
            found = counts.setdefault(re.sub("_symint$", "", name), set())
            found |= {is_method + len(given), is_method + sum("=" not in one for one in given)}
    known = {name: taken(name) for name in counts if taken(name)}
    assert known == {name: (min(counts[name]), max(counts[name])) for name in known}
    assert len(known) > 1000


@pytest.mark.torch
def test_functions_of_tensors_are_those_whose_every_overload_takes_one(include: Path) -> None:
    import torch

    registered = set(torch._C._dispatch_get_all_op_names())
    overloads: dict[str, list[bool]] = {}
    for schema in torch._C._jit_get_all_schemas():
        name = schema.name + f".{schema.overload_name}" * bool(schema.overload_name)
        if name in registered and name.startswith("aten::"):
            required = [a for a in schema.arguments if not (a.is_out or a.has_default_value())]
            takes = any(str(a.type) in ("Tensor", "List[Tensor]") for a in required)
            overloads.setdefault(schema.name.removeprefix("aten::"), []).append(takes)
    names = {line.split()[0] for line in text_of_functions().splitlines() if line[0] != "#"}
    assert {n for n in names if all(overloads.get(n, [False]))} == functions_of_torch().of_tensors


def text_of_functions() -> str:
    return Path(torch_functions.__file__).with_suffix(".txt").read_text("utf-8")


@pytest.mark.torch
def test_every_function_of_at_has_a_header(include: Path) -> None:
    assert {name for name in AT_FUNCTIONS if not (include / at_header(name)).exists()} == set()
    python_only = TORCH_FUNCTIONS - AT_FUNCTIONS
    operators = {path.stem for path in (include / "ATen" / "ops").glob("*.h")}
    # It is a method alone in C++.
    assert {name for name in python_only if name.removesuffix("_") in operators} == {"get_device"}


@pytest.mark.torch
def test_the_methods_of_tensors_are_those_of_each_language(include: Path) -> None:
    import torch

    python = {name for name in dir(torch.Tensor) if callable(getattr(torch.Tensor, name))}
    assert {n for n in python if n[0] != "_"} == functions_of_torch().python_methods
    classes = [
        (include / "ATen" / "core" / f"Tensor{name}.h").read_text() for name in ("Body", "Base")
    ]
    declared_there = set(re.findall(r"\b(\w+)\(", "".join(classes)))
    assert functions_of_torch().cpp_methods <= {re.sub("_symint$", "", n) for n in declared_there}
    assert methods_of_schemas() <= functions_of_torch().cpp_methods


def native_entries() -> list[dict[str, str]]:
    import torchgen
    import yaml

    path = "packaged/ATen/native/native_functions.yaml"
    text = (Path(torchgen.__file__).parent / path).read_text()
    entries: list[dict[str, str]] = yaml.load(text, Loader=yaml.CSafeLoader)
    return [entry for entry in entries if entry["func"][0] != "_"]


def methods_of_schemas() -> set[str]:
    methods = [e["func"] for e in native_entries() if "method" in e.get("variants", "")]
    return {re.split(r"\W", text)[0] for text in methods}


@pytest.mark.torch
def test_the_schemas_are_those_of_the_current_release(include: Path) -> None:
    """All but out variants, and those that name dimensions."""
    given = [entry["func"] for entry in native_entries() if "Dimname" not in entry["func"]]
    functional = [text for text in given if "!" not in text.partition("*, ")[2].partition("->")[0]]
    names = dict.fromkeys(re.split(r"\W", text)[0] for text in functional)
    assert [str(schema) for name in names for schema in schemas_of(name)] == [
        text for name in names for text in functional if re.split(r"\W", text)[0] == name
    ]


@pytest.mark.torch
def test_functions_that_take_symbolic_integers_have_a_form_for_them(include: Path) -> None:
    """What the printer of C++ calls `NAME_symint` is there, as a function or as a method."""
    body = (include / "ATen" / "core" / "TensorBody.h").read_text()
    missing = set()
    for name in AT_FUNCTIONS | functions_of_torch().cpp_methods:
        if any(has_symint(schema) for schema in schemas_of(name)):
            header = include / "ATen" / "ops" / f"{name.removesuffix('_')}.h"
            text = body + (header.read_text() if header.exists() else "")
            missing |= set() if f" {name}_symint(" in text else {name}
    assert missing == set()


@pytest.mark.torch
def test_what_else_python_has_is_there() -> None:
    """Attributes of tensors, classes in small letters, and functions of modules."""
    import torch

    lines = [line.split() for line in text_of_functions().splitlines() if line[0] != "#"]
    words = {word: [line[0] for line in lines if word in line[2:]] for word in ("field", "class")}
    assert all(isinstance(getattr(torch, name), type) for name in words["class"])
    assert [n for n in words["field"] if n not in dir(torch.Tensor)] == []
    paths = functions_of_torch().of_modules
    assert len(paths) > 100
    for path in paths:
        module, _, name = f"torch.{path}".rpartition(".")
        assert callable(getattr(importlib.import_module(module), name)), path
