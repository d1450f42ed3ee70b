"""Names of operators and namespaces that mean something to C++."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

from tests.cpp.compiling import needs_compiler, torch_flags
from torchgen_lite.analysis.program import build_program
from torchgen_lite.diagnostics import Source
from torchgen_lite.languages.cpp.text import function_name, identifier
from torchgen_lite.loader.config.project import Config
from torchgen_lite.loader.formats.native_functions import load_native_functions
from torchgen_lite.pipeline import generate_all
from torchgen_lite.targets import TARGETS


def errors(text: str, target: str, **options: object) -> list[str]:
    source = Source("ops.yaml", text)
    functions, found = load_native_functions([source])
    config = Config(Path("nowhere"), target_options={target: {"namespace": "lib", **options}})
    program = build_program(functions, config, diagnostics=found, sources=[source])
    generated = generate_all(program, targets=[target])
    return [d.code for d in generated.diagnostics if d.severity == "error"]


@pytest.mark.parametrize("target", ["cpp-torch", "cpp-torch-stable"])
@pytest.mark.parametrize("name", ["NULL", "errno", "__FILE__", "_Exit"])
def test_a_namespace_that_may_be_a_macro_is_refused(target: str, name: str) -> None:
    """`TORCH_LIBRARY_IMPL(NULL, CPU, m)` registers kernels for `__null`, or does not compile."""
    assert errors(f"- func: {name}::f(Tensor x) -> Tensor\n", target) == ["TG512"]


@pytest.mark.parametrize("target", TARGETS)
def test_no_operator_is_in_the_namespace_of_all(target: str) -> None:
    """`TORCH_LIBRARY(_, m)` is for fallbacks: a library that defines operators in it aborts."""
    assert errors("- func: _::f(Tensor x) -> Tensor\n", target) == ["TG215"]


@pytest.mark.parametrize("target", ["cpp-torch", "cpp-torch-stable", "cpp-runtime"])
@pytest.mark.parametrize("name", ["index", "from", "random::more"])
def test_a_namespace_that_is_a_function_is_refused(target: str, name: str) -> None:
    """<cstring> declares `index`, <cstdlib> `random`, and torch/csrc/stable a function `from`."""
    usual = {"tensor": "int"} if target == "cpp-runtime" else {}
    text = "- func: lib::f(Tensor x) -> Tensor\n"
    assert errors(text, target, **{**usual, "namespace": name}) == ["TG510"]


@pytest.mark.parametrize("kernel", ["__FILE__", "errno", "TORCH_LIBRARY", "C10_EXPORT"])
def test_a_kernel_that_is_a_macro_is_refused(kernel: str) -> None:
    text = f"- func: lib::f(Tensor x) -> Tensor\n  dispatch:\n    CPU: {kernel}\n"
    assert errors(text, "cpp-runtime", tensor="int") == ["TG513"]


def test_an_operator_that_is_called_as_a_macro_has_another_name_in_cpp() -> None:
    assert function_name("__FILE__") == "__FILE___"


def test_no_name_is_a_default_of_a_tensor() -> None:
    """`complex128` was taken for a constant of the framework, and a formula could not say it in C++."""
    text = "- func: lib::f(Tensor[] y=complex128, Tensor? z=float) -> Tensor\n"
    assert errors(text, "cpp-torch") == ["TG218", "TG218"]


@pytest.mark.parametrize("namespace", ["lib", "aten"])
@pytest.mark.parametrize("calls_only", [False, True])
@pytest.mark.parametrize("argument", ["int x=channels_last", "int[2] x=Mean"])
def test_a_default_that_libtorch_cannot_read_is_refused(
    namespace: str, calls_only: bool, argument: str
) -> None:
    """Without kernels, or under a namespace of PyTorch, it got into C++ unchanged."""
    text = f"- func: {namespace}::f(Tensor self, {argument}) -> Tensor\n"
    assert errors(text, "cpp-torch", **{"calls-only": calls_only}) == ["TG512"]


MACRO = re.compile(r"^#define ([A-Za-z]\w*)(\(?)", re.MULTILINE)
HEADERS = {
    "cpp-torch": ("torch/library.h", "ATen/core/Tensor.h", "cmath", "cstdio", "cinttypes"),
    "cpp-torch-stable": ("torch/csrc/stable/library.h", "torch/csrc/stable/ops.h", "cmath"),
}


@needs_compiler
@pytest.mark.torch
@pytest.mark.parametrize("target", HEADERS)
def test_no_name_in_cpp_is_a_macro(tmp_path: Path, target: str) -> None:
    """Every macro of the headers that generated code includes has another name as an argument, and as a function."""
    source = tmp_path / "macros.cpp"
    source.write_text("".join(f"#include <{name}>\n" for name in HEADERS[target]))
    command = ["g++", *torch_flags(), "-dM", "-E", str(source)]
    macros = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    # A macro with parameters means nothing unless brackets follow, as they do after a function.
    found = {name: bool(bracket) for name, bracket in MACRO.findall(macros)}
    assert len(found) > 500
    assert {"M_PI", "EOF"} <= found.keys()
    assert [name for name in found if function_name(name) == name] == []
    assert [name for name, takes in found.items() if not takes and identifier(name) == name] == []
