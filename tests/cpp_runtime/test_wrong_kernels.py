"""Wrong kernels of the target `cpp-runtime` don't compile, and the compiler says why in the YAML."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import torchgen_lite
from tests.cpp.compiling import check_syntax, needs_compiler, write_files
from tests.cpp_runtime.building import INCLUDE
from torchgen_lite.loader.config.project import Config

pytestmark = needs_compiler

YAML = """\
- func: demo::muladd(Tensor a, Tensor b, float s) -> Tensor
  dispatch:
    CPU: muladd_cpu
    Meta: muladd_meta
    Autograd: muladd_autograd
- func: demo::scale_(Tensor(a!) self, float s) -> Tensor(a!)
  dispatch:
    CPU: kernels::scale_
- func: demo::sum(Tensor[] xs, Tensor? weight=None) -> Tensor
- func: demo::size(Tensor self, int dim) -> (int, str)
- func: demo::norm(Tensor self, float p=2.0) -> Tensor
- func: demo::norm.dim(Tensor self, float p, int[1] dim) -> Tensor
  dispatch:
    CompositeImplicitAutograd: norm
"""
# More arguments than one proof compares.
MANY = [f"n{i}" for i in range(44)]
YAML += f"- func: demo::many(Tensor self, {', '.join(f'int {n}' for n in MANY)}, float last) -> Tensor\n"
TENSOR = """\
#pragma once
#include <torchgen_lite/keyset_of.h>
namespace demo {
struct Tensor {
  torchgen_lite::DispatchKeySet keys;
};
} // namespace demo
template <>
struct torchgen_lite::KeysetOf<demo::Tensor> {
  static DispatchKeySet get(const demo::Tensor& tensor) { return tensor.keys; }
};
"""
START = """\
#include "tensor.h"
#include <cstdint>
#include <optional>
#include <string>
#include <tuple>
#include <torchgen_lite/span.h>
using torchgen_lite::DispatchKeySet;
using torchgen_lite::Span;
"""
INTS = ", ".join(f"int64_t {name}" for name in MANY)
RIGHT = """\
namespace demo {
Tensor muladd_cpu(const Tensor& a, const Tensor& b, double s);
Tensor muladd_autograd(DispatchKeySet keys, const Tensor& a, const Tensor& b, double s);
Tensor sum(Span<Tensor> xs, const std::optional<Tensor>& weight);
std::tuple<int64_t, std::string> size(const Tensor& self, int64_t dim);
Tensor norm(const Tensor& self, double p);
Tensor norm(const Tensor& self, double p, Span<int64_t> dim);
Tensor many(const Tensor& self, INTS, double last);
} // namespace demo
namespace kernels {
demo::Tensor& scale_(demo::Tensor& self, double s);
} // namespace kernels
"""
WRONG = """\
namespace demo {
// A flipped type.
Tensor muladd_cpu(const Tensor& a, const Tensor& b, int64_t s);
// By value.
Tensor muladd_meta(Tensor a, const Tensor& b, double s);
// Without the keys of the call.
Tensor muladd_autograd(const Tensor& a, const Tensor& b, double s);
// A missing argument.
Tensor sum(Span<Tensor> xs);
// A wrong return.
std::tuple<int64_t, const char*> size(const Tensor& self, int64_t dim);
// The last of many arguments.
Tensor many(const Tensor& self, INTS, bool last);
// Several of the name, and the second schema has none.
Tensor norm(const Tensor& self, double p);
Tensor norm(const Tensor& self, double p, int64_t dim);
} // namespace demo
namespace kernels {
// Two arguments swapped.
demo::Tensor& scale_(double s, demo::Tensor& self);
} // namespace kernels
"""
ERRORS = [
    "muladd.h:4:37: demo::muladd: kernel 'muladd_cpu' must take 'double' for argument 's' (schema: float)",
    "muladd.h:4:17: demo::muladd: kernel 'muladd_meta' must take 'const demo::Tensor&' for argument 'a' (schema: Tensor)",
    "muladd.h:4:4: demo::muladd: kernel 'muladd_autograd' must take 4 arguments, the first the keys of the call",
    "scale_.h:4:17: demo::scale_: kernel 'scale_' must take 'demo::Tensor&' for argument 'self' (schema: Tensor(a!))",
    "scale_.h:4:34: demo::scale_: kernel 'scale_' must take 'double' for argument 's' (schema: float)",
    "sum.h:4:4: demo::sum: kernel 'sum' must take 2 arguments",
    "size.h:4:41: demo::size: kernel 'size' must return 'std::tuple<int64_t, std::string>' (schema: (int, str))",
    "norm_dim.h:4:4: demo::norm.dim: kernel 'norm' must have the types of the schema, and be in no unnamed namespace",
    "many.h:4:414: demo::many: kernel 'many' must take 'double' for argument 'last' (schema: float)",
]
# What C++20 adds to each of these: the type found and the one expected, or that the counts differ.
FOUND = [
    "Found = long int; Expected = double",
    "Found = demo::Tensor; Expected = const demo::Tensor&",
    "arity<Found>::value == arity<Expected>::value",
    "Found = double; Expected = demo::Tensor&",
    "Found = demo::Tensor&; Expected = double",
    "arity<Found>::value == arity<Expected>::value",
    "Found = std::tuple<long int, const char*>",
    "Found = demo::proof::none_of_several",
    "Found = bool; Expected = double",
]


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("demo")
    write_files(root, {"ops.yaml": YAML, "tensor.h": TENSOR})
    options = {"cpp-runtime": {"tensor": "demo::Tensor", "headers": ["tensor.h"]}}
    config = Config(root=root, schema=("ops.yaml",), target_options=options)
    program = torchgen_lite.load(config=config)
    write_files(root, torchgen_lite.generate(program, targets=["cpp-runtime"]))
    return root


def compile_kernels(project: Path, text: str, standard: str) -> tuple[bool, str]:
    """Whether a file with the proof at its end compiles, and what is said."""
    source = f"{START}{text.replace('INTS', INTS)}#include <demo/verify_kernels.h>\n"
    write_files(project, {"kernels.cpp": source})
    includes = [project, project / "cpp-runtime" / "include", INCLUDE]
    return check_syntax(project, "kernels.cpp", flags=[f"-std={standard}"], includes=includes)


def errors(messages: str) -> list[str]:
    pattern = r"/demo/verify/(\w+\.h:4:\d+: )error: static assertion failed: (.*)"
    return ["".join(found) for found in re.findall(pattern, messages, flags=re.M)]


@pytest.mark.parametrize("standard", ["c++17", "c++20"])
def test_right_kernels(project: Path, standard: str) -> None:
    assert compile_kernels(project, RIGHT, standard) == (True, "")


@pytest.mark.parametrize("standard", ["c++17", "c++20"])
def test_wrong_kernels(project: Path, standard: str) -> None:
    ok, messages = compile_kernels(project, WRONG, standard)
    assert not ok
    assert errors(messages) == ERRORS
    assert messages.count("error: ") == len(ERRORS)
    if standard == "c++20":
        parts = re.split(r"error: ", messages)[1:]
        assert [text for text, part in zip(FOUND, parts) if text not in part] == []


def test_kernels_that_are_not_declared_are_not_missed(project: Path) -> None:
    assert compile_kernels(project, "", "c++17") == (True, "")


def test_the_prototypes_and_the_proof_refuse_each_other(project: Path) -> None:
    ok, messages = compile_kernels(project, "#include <demo/kernels.h>\n", "c++17")
    assert not ok
    error = "include kernels.h or verify_kernels.h, not both: kernels.h declares every kernel"
    lines = [
        line for line in messages.splitlines() if f"error: static assertion failed: {error}" in line
    ]
    assert lines and all(".h:4:4: error: " in line for line in lines)
