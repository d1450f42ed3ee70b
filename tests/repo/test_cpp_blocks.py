"""Blocks of C++ and CMake on the pages: they compile, quote what is compiled, or show the error that they give.

A block is compiled as it stands, or between what its page takes for granted (`AROUND`).
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.blocks import PAGES, Block, fences
from tests.conftest import ROOT, Result
from tests.cpp.compiling import (
    check_syntax,
    needs_compiler,
    quick_torch,
    torch_flags,
    with_torch,
    write_files,
)
from tests.cpp.torch_ops import GENERATOR, configure, needs_cmake
from tests.cpp.torch_ops import run as run_program
from tests.cpp_runtime.building import INCLUDE

Run = Callable[..., Result]
pytestmark = pytest.mark.tools

# Blocks that are part of a file, which another test compiles.
QUOTED = {
    ("cookbook", "at::Tensor Kernels::look_up("): "examples/torch_classes/kernels.cpp",
    ("cpp-build", "#include <torch_ops/verify"): "examples/torch_ops/csrc/pointwise.cpp",
    ("cpp-runtime", "template <class T, int... Sizes>"): "tests/cpp_runtime/eigen.cpp",
}
# What tests of their pages compile: tests/cpp_runtime/test_programs.py, tests/adopt/test_cpp.py.
ELSEWHERE = {("cpp-runtime", "// scale.cpp"), ("moving-over", "#include <ATen/ATen.h>")}
GENERATED = {("cpp-target", "  auto _node = autograd::make_node<MulBackward0>")}
# Blocks that show a wrong kernel; what the compiler says of it is the next block of the page.
WRONG = {
    ("cpp-target", "#include <ATen/ATen.h>\n\nnamespace demo"): "cpp-torch",
    ("cpp-stable-target", "#include <torch/csrc/stable/tensor.h>"): "cpp-torch-stable",
}
# What stands before a block, and what after it.
AROUND = {
    ("backends", "TORCH_LIBRARY_IMPL"): ("#include <torch/library.h>\n", ""),
    ("backends", "void structured_exp_out"): (
        "#include <aten_ops/structured.h>\nnamespace aten_ops {\n",
        "} // namespace aten_ops\n",
    ),
    ("cpp-target", "TORCH_LIBRARY_FRAGMENT"): (
        "#include <torch/custom_class.h>\n#include <torch/library.h>\n"
        "namespace tables {\nstruct Table : torch::CustomClassHolder {};\n} // namespace tables\n",
        "",
    ),
    ("cpp-target", "at::Tensor choose_CUDA_rms_norm"): (
        "#include <ATen/core/Tensor.h>\nnamespace my {\n"
        "at::Tensor rms_norm_vec8(const at::Tensor& x, const at::Tensor& weight, double eps);\n"
        "at::Tensor rms_norm_any(const at::Tensor& x, const at::Tensor& weight, double eps);\n"
        "} // namespace my\n"
        "struct Row {\n  void runs();\n};\nextern Row rows_of_choose_CUDA_rms_norm[2];\n",
        "",
    ),
    ("cpp-runtime-target", "Tensor relu_autograd"): (
        "#include <torchgen_lite/local_state.h>\nnamespace toy {\nusing namespace torchgen_lite;\n",
        "} // namespace toy\n",
    ),
    ("cpp-runtime", "TORCHGEN_LITE_LIBRARY_IMPL"): ("#include <torchgen_lite/runtime.h>\n", ""),
    ("cpp-runtime", "const RegistrationHandle trace"): (
        "#include <torchgen_lite/profiling.h>\nusing namespace torchgen_lite;\nvoid shown() {\n",
        "}\n",
    ),
}
WITHOUT_TORCH = {"cpp-runtime", "cpp-runtime-target"}


def found(language: str) -> list[tuple[str, Block]]:
    return [
        (page, block)
        for page, text in PAGES.items()
        for block in fences(text)
        if block.language == language
    ]


def entry(table: Any, page: str, block: Block) -> Any:
    """The key of a table that is this block's."""
    keys = [key for key in table if key[0] == page and block.text.startswith(key[1])]
    return keys[0] if keys else None


def compiled(with_torch: bool) -> str:
    """One file of all blocks that are compiled with or without PyTorch. Errors name pages and their lines."""
    text = ""
    for page, block in found("cpp"):
        if any(entry(table, page, block) for table in (QUOTED, ELSEWHERE, GENERATED, WRONG)):
            continue
        if (page in WITHOUT_TORCH) is with_torch:
            continue
        before, after = AROUND.get(entry(AROUND, page, block), ("", ""))
        text += f'{before}#line {block.line + 1} "docs/{page}.md"\n{block.text}{after}'
    return text


def shown(page: str, start: str, language: str = "cpp") -> str:
    """The text of the block that begins so."""
    [text] = [
        block.text for one, block in found(language) if one == page and block.text.startswith(start)
    ]
    return text


CONFIG = 'schema = "ops.yaml"\n'


def generate(run: Run, folder: Path, target: str, schema: str, config: str = CONFIG) -> Path:
    """The headers that a project has generated."""
    write_files(folder, {"ops.yaml": schema, "torchgen_lite.toml": config})
    result = run(
        "generate", "--config", str(folder / "torchgen_lite.toml"), "--target", target, "--quiet"
    )
    assert result.code == 0, result.stderr
    return folder / "generated" / target / "include"


def test_each_entry_is_of_one_block() -> None:
    for table in (QUOTED, ELSEWHERE, GENERATED, WRONG, AROUND):
        for page, start in table:
            assert shown(page, start)


@pytest.mark.parametrize(("page", "start"), QUOTED, ids=[page for page, _ in QUOTED])
def test_what_is_quoted_stands_in_the_file(page: str, start: str) -> None:
    assert shown(page, start) in (ROOT / QUOTED[page, start]).read_text()


@needs_compiler
def test_blocks_for_the_runtime_compile(run: Run, tmp_path: Path) -> None:
    schema = "- func: toy::relu(Tensor self) -> Tensor\n  variants: function, method\n"
    config = f'{CONFIG}[target.cpp-runtime]\ntensor = "toy::Tensor"\nheaders = ["toy/tensor.h"]\n'
    include = generate(run, tmp_path, "cpp-runtime", schema, config)
    # The header of the tensor is the page's first block.
    write_files(include, {"toy/tensor.h": "#pragma once\n"})
    write_files(tmp_path, {"blocks.cpp": compiled(with_torch=False)})
    done = check_syntax(tmp_path, "blocks.cpp", flags=["-std=c++17"], includes=[include, INCLUDE])
    assert done.ok, done.messages


@needs_compiler
@pytest.mark.torch
def test_blocks_for_pytorch_compile(run: Run, tmp_path: Path) -> None:
    device = "- func: exp.out\n  dispatch: {PrivateUse1: exp_out}\n"
    write_files(tmp_path / "device", {"xla.yaml": shown("backends", "# xla.yaml", "yaml")})
    both = 'schema = ["xla.yaml", "ops.yaml"]\nnative = "torch"\n'
    structured = shown("cpp-target", "- func: mylib::scale(", "yaml")
    named = "- func: my_ops::f(Tensor x) -> Tensor\n  dispatch: {PrivateUse1: f}\n"
    includes = [
        generate(run, tmp_path / "device", "cpp-torch", device, both),
        generate(run, tmp_path / "structured", "cpp-torch", structured),
        generate(run, tmp_path / "named", "cpp-torch", named),
    ]
    write_files(tmp_path, {"blocks.cpp": compiled(with_torch=True)})
    done = check_syntax(tmp_path, "blocks.cpp", compiler=quick_torch(), includes=includes)
    assert done.ok, done.messages


def assert_said(run: Run, folder: Path, target: str, kernel: str, said: str) -> None:
    """The compiler says this of a kernel of `muladd`, in whatever namespace it is."""
    namespace = said.partition("/")[0]
    schema = f"- func: {namespace}::muladd(Tensor a, Tensor b, float s) -> Tensor\n  dispatch: {{CPU: muladd_cpu}}\n"
    include = generate(run, folder, target, schema)
    write_files(folder, {"kernels.cpp": kernel.replace("demo", namespace)})
    flags = with_torch() if target == "cpp-torch" else torch_flags()
    done = check_syntax(folder, "kernels.cpp", flags=flags, includes=[include])
    assert not done.ok
    for line in said.replace("‘", "'").replace("’", "'").splitlines():
        assert line in done.messages


@needs_compiler
@pytest.mark.torch
@pytest.mark.parametrize(("page", "start"), WRONG, ids=[page for page, _ in WRONG])
def test_a_wrong_kernel_gives_the_error_that_is_shown(
    page: str, start: str, run: Run, tmp_path: Path
) -> None:
    kernel = shown(page, start)
    said = PAGES[page].partition(kernel)[2].split("```")[2].strip("\n")
    assert_said(run, tmp_path, WRONG[page, start], kernel, said)


@needs_compiler
@pytest.mark.torch
@pytest.mark.parametrize("page", ["README", "start-operators"])
def test_the_error_to_begin_with_is_what_the_compiler_says(
    page: str, run: Run, tmp_path: Path
) -> None:
    """Of both targets it is the same, and the headers of the stable ABI are read in a second."""
    kernel = shown("cpp-stable-target", "#include <torch/csrc/stable/tensor.h>")
    said = shown(page, "torch_ops/verify/muladd.h:", "").strip("\n")
    assert_said(run, tmp_path, "cpp-torch-stable", kernel, said)


def test_generated_code_is_as_quoted(run: Run, tmp_path: Path) -> None:
    schema = (
        "- func: demo::mul(Tensor self, Tensor other) -> Tensor\n  dispatch: {CPU: mul_cpu}\n"
        "  derivatives:\n    self: grad * other\n    other: grad * self\n"
    )
    include = generate(run, tmp_path, "cpp-torch", schema)
    text = (include.parent / "src" / "register_autograd.cpp").read_text()
    [(page, start)] = GENERATED
    assert shown(page, start) in text


# What CMake needs beside a block: the lines before it, and a source of the target.
PROJECT = "cmake_minimum_required(VERSION 3.20)\nproject(shown LANGUAGES CXX)\n"
TARGETS = {
    ("cpp-build", "find_package(Torch"): ("", "csrc/kernels.cpp"),
    ("cpp-runtime-target", "find_package"): ("", "src/main.cpp"),
    ("cpp-runtime", "find_package"): ("add_executable(app main.cpp)\n", "main.cpp"),
}


@needs_cmake
@pytest.mark.parametrize(
    ("page", "block"),
    [
        pytest.param(page, block, id=page, marks=[pytest.mark.torch] * ("Torch" in block.text))
        for page, block in found("cmake")
    ],
)
def test_cmake_configures_it(page: str, block: Block, tmp_path: Path) -> None:
    before, source = TARGETS[entry(TARGETS, page, block)]
    files = {
        "CMakeLists.txt": PROJECT + before + block.text,
        source: "int main() {}\n",
        "ops.yaml": "- func: toy::f(Tensor x) -> Tensor\n",
        "torchgen_lite.toml": 'targets = ["cpp-runtime"]\n[target.cpp-runtime]\ntensor = "toy::Tensor"\n',
    }
    write_files(tmp_path, files)
    if "Torch" in block.text:
        configure(tmp_path, *GENERATOR)
    else:
        run_program(tmp_path, "cmake", "-S", ".", "-B", "build", "-G", "Ninja", *GENERATOR)
    assert (tmp_path / "build" / "build.ninja").is_file()
