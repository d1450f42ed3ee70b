"""The proof takes what libtorch takes: every C++ type for every schema type, as argument and as result.

`kernel_types.h` says which types may stand for each other. The same functions, with numbers converted as generated code
does it, are registered with `m.impl` for operators of each type, and libtorch says whether it takes them.
"""

from __future__ import annotations

import ctypes
import re
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.conftest import ROOT
from tests.cpp.compiling import (
    EVERY_ERROR,
    check_syntax,
    needs_compiler,
    quick_torch,
    try_library,
    write_files,
)
from torchgen_lite import generate, load
from torchgen_lite.diagnostics import Source
from torchgen_lite.languages.cpp.torch_types import Sizes
from torchgen_lite.loader.formats.native_functions import load_native_functions
from torchgen_lite.targets.cpp_torch.types import signature

pytestmark = [pytest.mark.torch, needs_compiler]

SCHEMA_TYPES = """
    Tensor Tensor? Tensor[] Tensor?[] Tensor[2] Tensor[]? int int? int[] int[2] int[]? float float? float[] float[]?
    bool bool? bool[] bool[2] str str? str[] Scalar Scalar? Scalar[] SymInt SymInt? SymInt[] SymInt[]? SymBool
    ScalarType ScalarType? ScalarType[] Layout MemoryFormat? Device Device? Generator? Storage Stream complex
    complex[] Any int[][] Tensor[][] Dict(str,Tensor) Dict(int,str)
""".split()
VALUES = """
    at::Tensor
    std::optional<at::Tensor>
    at::TensorList
    std::vector<at::Tensor>
    c10::List<at::Tensor>
    at::ITensorListRef
    std::array<at::Tensor, 2>
    std::optional<at::TensorList>
    std::optional<std::vector<at::Tensor>>
    c10::List<std::optional<at::Tensor>>
    std::vector<std::optional<at::Tensor>>
    at::ArrayRef<std::optional<at::Tensor>>
    std::vector<std::vector<at::Tensor>>
    at::ArrayRef<at::TensorList>
    int64_t
    int
    int8_t
    uint64_t
    char
    std::optional<int64_t>
    std::optional<int>
    std::vector<int>
    std::array<unsigned, 2>
    std::optional<std::vector<int>>
    at::ArrayRef<int>
    at::IntArrayRef
    std::vector<int64_t>
    c10::List<int64_t>
    std::array<int64_t, 2>
    at::OptionalIntArrayRef
    std::optional<at::IntArrayRef>
    std::optional<std::vector<int64_t>>
    std::vector<std::vector<int64_t>>
    at::ArrayRef<at::IntArrayRef>
    double
    float
    std::optional<double>
    std::optional<float>
    at::ArrayRef<double>
    std::vector<double>
    std::vector<float>
    std::optional<at::ArrayRef<double>>
    c10::OptionalArrayRef<double>
    bool
    std::optional<bool>
    at::ArrayRef<bool>
    std::vector<bool>
    c10::List<bool>
    std::array<bool, 2>
    c10::string_view
    std::string
    const char*
    std::optional<c10::string_view>
    std::optional<std::string>
    at::ArrayRef<c10::string_view>
    std::vector<std::string>
    at::Scalar
    std::optional<at::Scalar>
    std::vector<at::Scalar>
    at::ArrayRef<at::Scalar>
    c10::List<at::Scalar>
    c10::SymInt
    std::optional<c10::SymInt>
    c10::SymIntArrayRef
    std::vector<c10::SymInt>
    at::OptionalSymIntArrayRef
    c10::SymFloat
    c10::SymBool
    at::ScalarType
    std::optional<at::ScalarType>
    std::vector<at::ScalarType>
    at::Layout
    std::optional<at::MemoryFormat>
    at::Device
    std::optional<at::Device>
    at::Generator
    std::optional<at::Generator>
    at::Storage
    at::Stream
    c10::complex<double>
    std::vector<c10::complex<double>>
    c10::IValue
    c10::Dict<std::string, at::Tensor>
    c10::Dict<int64_t, std::string>
""".strip().splitlines()
ARGUMENTS = [
    *(value.strip() for value in VALUES),
    *(f"const {value.strip()}&" for value in VALUES if "*" not in value),
    *(
        "at::Tensor&",
        "at::Tensor&&",
        "at::Tensor*",
        "double&",
        "int&",
        "int&&",
        "std::string&",
        "std::string&&",
    ),
    *("std::optional<at::Tensor>&", "std::vector<int64_t>&", "c10::SymInt&"),
]
RESULTS = [*(value.strip() for value in VALUES), "at::Tensor&", "const at::Tensor&"]

# Views as results, which libtorch copies when the kernel has returned; these are refused, as they are as arguments.
VIEWS = {
    ("bool[]", "at::ArrayRef<bool>"),
    ("bool[2]", "at::ArrayRef<bool>"),
    ("SymInt[]", "c10::SymIntArrayRef"),
    ("SymInt[]?", "at::OptionalSymIntArrayRef"),
    ("int[][]", "at::ArrayRef<at::IntArrayRef>"),
    ("Tensor[][]", "at::ArrayRef<at::TensorList>"),
}
# Results that no operator of the target has, because libtorch does not compile a vector of them.
NEVER_GIVEN = {"Scalar[]"}
# Types of which libtorch does not compile the one or the other use. Their rows are compiled first, and alone: what is
# refused is said in two or three attempts, of which each would compile the whole table.
SUSPECTED = """
    at::ArrayRef<at::TensorList>
    char
    at::ArrayRef<int>
    at::ArrayRef<at::IntArrayRef>
    at::ArrayRef<bool>
    std::vector<bool>
    const char*
    std::vector<at::Scalar>
    c10::List<at::Scalar>
    at::Tensor*
    double&
    int&
    std::string&
    std::optional<at::Tensor>&
    std::vector<int64_t>&
    c10::SymInt&
""".strip().splitlines()
TABLE = """\
#include <ATen/ATen.h>
#include <torch/library.h>
#include "kernel_types.h"
#include <algorithm>
#include <sstream>
template <class Type> void take(Type) {}
template <class Type> Type give() { TORCH_CHECK(false); }
using mylib::proof::meant;
using Taken = std::tuple<DEMANDED_TAKEN>;
using TakenSymbolic = std::tuple<SYMBOLIC_TAKEN>;
using Given = std::tuple<DEMANDED_GIVEN>;
using GivenSymbolic = std::tuple<SYMBOLIC_GIVEN>;
static const std::vector<std::string> types{SCHEMA_TYPES};
template <class Type, class... Types>
std::string is_meant(std::tuple<Types...>*) {
  return {(std::is_same_v<meant<Type>, meant<Types>> ? '1' : '0')...};
}
template <class Type, class Demanded, class Symbolic>
std::string proven() {
  std::string found = is_meant<Type>(static_cast<Demanded*>(nullptr));
  const std::string other = is_meant<Type>(static_cast<Symbolic*>(nullptr));
  std::transform(found.begin(), found.end(), other.begin(), found.begin(), [](char a, char b) { return std::max(a, b); });
  return found;
}
static std::string schema_of(const std::string& type, bool is_result) {
  return is_result ? "f() -> " + type : "f(" + type + " x) -> ()";
}
// What depends on the type of a kernel is small, since it is compiled for each.
template <auto kernel>
torch::CppFunction on_cpu() {
  constexpr auto function = mylib::proof::widened<kernel>();
  return torch::dispatch(c10::DispatchKey::CPU, TORCH_FN(function));
}
template <auto kernel>
std::unique_ptr<c10::FunctionSchema> inferred() {
  constexpr auto function = mylib::proof::widened<kernel>();
  return c10::detail::inferFunctionSchemaFromFunctor<std::remove_const_t<decltype(function)>>();
}
static std::string registered(torch::CppFunction (*on_cpu)(), std::unique_ptr<c10::FunctionSchema> (*inferred)(), bool is_result) {
  std::string found = " ";
  for (const auto& type : types) {
    try {
      torch::Library library(torch::Library::DEF, "relation", std::nullopt, __FILE__, __LINE__);
      library.def(schema_of(type, is_result).c_str());
      library.impl("f", on_cpu());
      found += "1";
    } catch (const c10::Error&) {
      found += "0";
    }
  }
  try {
    const auto schema = inferred();
    const auto& all = is_result ? schema->returns() : schema->arguments();
    return found + " " + all.at(0).real_type()->str();
  } catch (const std::exception&) {
    return found + " ";
  }
}
#define TAKE_PROVEN(...) out << proven<__VA_ARGS__, Taken, TakenSymbolic>();
#define GIVE_PROVEN(...) out << proven<__VA_ARGS__, Given, GivenSymbolic>();
#define REFUSED(...) out << "\\n";
#define TAKE(...) out << registered(on_cpu<&take<__VA_ARGS__>>, inferred<&take<__VA_ARGS__>>, false) << "\\n";
#define GIVE(...) out << registered(on_cpu<&give<__VA_ARGS__>>, inferred<&give<__VA_ARGS__>>, true) << "\\n";
extern "C" const char* table() {
  static std::string text;
  std::ostringstream out;
  for (const auto& type : types) {
    out << torch::jit::parseSchema(schema_of(type, false)).arguments()[0].real_type()->str() << "\\n";
  }
ROWS
  text = out.str();
  return text.c_str();
}
"""
INCLUDES = [ROOT / "torchgen_lite/copied" / folder for folder in ("cpp", "cpp_torch")]


class Row(NamedTuple):
    """What is said of a C++ type, as argument or as result, for each schema type; `registered` is empty if libtorch
    does not compile it."""

    use: str
    type: str
    proven: str
    registered: str = ""
    inferred: str = ""


def demanded(sizes: Sizes, is_result: bool) -> str:
    """The types that generated code has, where `SymInt` is that or an `int`."""
    texts = [f"- func: demo::f{at}({one} x) -> {one}\n" for at, one in enumerate(SCHEMA_TYPES)]
    functions, problems = load_native_functions([Source("ops.yaml", "".join(texts))])
    assert not problems
    signatures = [signature(function, sizes) for function in functions]
    return ", ".join(str(s.returns if is_result else s.types[0]) for s in signatures)


def read_table(folder: Path) -> tuple[list[str], list[Row]]:
    """The real type of each schema type, and the row of each C++ type, as argument and as result."""
    head = TABLE
    for sizes, name in (("int", "DEMANDED"), ("SymInt", "SYMBOLIC")):
        for is_result, word in ((False, "TAKEN"), (True, "GIVEN")):
            head = head.replace(f"{name}_{word}", demanded(sizes, is_result))
    head = head.replace("SCHEMA_TYPES", ", ".join(f'"{one}"' for one in SCHEMA_TYPES))
    every = [*(("TAKE", one) for one in ARGUMENTS), *(("GIVE", one) for one in RESULTS)]
    refused = compile_rows(folder, head, every, suspected(every), set())
    compile_rows(folder, head, every, set(range(len(every))), refused)
    function = ctypes.CDLL(str(folder / "library.so")).table
    function.restype = ctypes.c_char_p
    lines = function().decode().splitlines()
    real, found = lines[: len(SCHEMA_TYPES)], lines[len(SCHEMA_TYPES) :]
    return real, [Row(*one, *line.split(" ", 2)) for one, line in zip(every, found, strict=True)]


def suspected(every: Sequence[tuple[str, str]]) -> set[int]:
    """The rows of suspected types, which may be taken by reference."""
    types = {name.strip() for name in SUSPECTED}
    types |= {f"const {name}&" for name in types}
    return {at for at, (_, type_) in enumerate(every) if type_ in types}


def compile_rows(
    folder: Path, head: str, every: Sequence[tuple[str, str]], asked: set[int], refused: set[int]
) -> set[int]:
    """Compile the table with the rows that are asked for; return those that libtorch refuses, and those already known.

    What is wrong with a template is said where it is first used; then the next use is asked.
    """
    first = head[: head.index("ROWS")].count("\n") + 1
    while True:
        rows = [row_of(*one, at in refused) if at in asked else "" for at, one in enumerate(every)]
        (folder / "table.cpp").write_text(head.replace("ROWS", "\n".join(rows)))
        compiler = [*quick_torch(), *EVERY_ERROR]
        done = try_library(folder, ["table.cpp"], compiler=compiler, includes=INCLUDES)
        if done.ok:
            return refused
        more = rows_of_errors(done.messages, first)
        assert more - refused, done.messages
        refused = refused | more


def row_of(word: str, type_: str, is_refused: bool) -> str:
    return f"{word}_PROVEN({type_}) {'REFUSED' if is_refused else word}({type_})"


def rows_of_errors(messages: str, first: int) -> set[int]:
    """The rows that libtorch refuses to compile."""
    used = r"^table\.cpp:(\d+):\d+: .*(?:required from here|requested here)"
    found = re.findall(used, messages, flags=re.M)
    found += re.findall(r"^table\.cpp:(\d+):\d+: error", messages, flags=re.M)
    return {int(line) - first for line in found if int(line) >= first}


def plain(real: str) -> str:
    """A real type without the sizes of lists; a kernel may have `int64_t` for every `SymInt`."""
    return re.sub(r"\[\d+\]", "[]", real).replace("SymInt", "int")


def test_the_proof_takes_what_libtorch_takes(tmp_path: Path) -> None:
    real, rows = read_table(tmp_path)
    different = []
    for row in rows:
        for at, schema_type in enumerate(SCHEMA_TYPES):
            is_taken = bool(row.registered) and row.registered[at] == "1"
            means_it = plain(row.inferred) == plain(real[at])
            if row.use == "GIVE" and schema_type in NEVER_GIVEN:
                continue
            if row.use == "GIVE" and (schema_type, row.type) in VIEWS:
                assert is_taken and row.proven[at] == "0"
            elif (row.proven[at] == "1") != (is_taken and means_it):
                different.append((row.use, schema_type, row.type, row.proven[at], is_taken))
    assert different == []


YAML = """\
- func: demo::f(Tensor(a!) self, int[] n, str k) -> Tensor(a!)
  dispatch:
    CUDA: f
- func: demo::tile(Tensor self, SymInt[] n) -> Tensor
  dispatch:
    CUDA: tile
- func: fill_.Scalar
  dispatch:
    CUDA: fill_
"""
HEADER = """\
#include <ATen/ATen.h>
namespace demo {
at::Tensor f(at::Tensor self, std::vector<int64_t> n, const std::string& k);
at::Tensor tile(at::Tensor self, c10::SymIntArrayRef n);
at::Tensor fill_(at::Tensor self, at::Scalar value);
} // namespace demo
"""


def test_kernels_behind_a_guard_of_the_device_keep_their_types(tmp_path: Path) -> None:
    write_files(tmp_path, {"ops.yaml": YAML, "kernels.h": HEADER})
    settings = 'schema = ["ops.yaml"]\nnative = "torch"\n[target.cpp-torch]\nkernel-headers = ["kernels.h"]\n'
    write_files(tmp_path, {"torchgen_lite.toml": settings})
    write_files(tmp_path, generate(load(root=tmp_path), targets=["cpp-torch"]))
    includes = [tmp_path, tmp_path / "cpp-torch/include"]
    file = "cpp-torch/src/register_cuda.cpp"
    done = check_syntax(tmp_path, file, compiler=quick_torch(), includes=includes)
    assert done.ok, done.messages
