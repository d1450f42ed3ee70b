"""Kernels may have numbers of other types than `int64_t` and `double`, which are converted with a check of the range.

Each integer type is tried at both of its bounds and beyond them, without PyTorch, and in operators of each target in
C++.
"""

from __future__ import annotations

import math
import re
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from tests.conftest import ROOT
from tests.cpp import stable_library
from tests.cpp.compiling import (
    QUICK,
    Compiled,
    check_syntax,
    compile_library,
    needs_compiler,
    quick_torch,
    together,
    write_files,
)
from tests.cpp_runtime.building import INCLUDE, build
from torchgen_lite import generate, load

pytestmark = needs_compiler

# Whether each is signed, and its number of bits.
INTEGERS = {
    "signed char": (True, 8),
    "unsigned char": (False, 8),
    "short": (True, 16),
    "unsigned short": (False, 16),
    "int": (True, 32),
    "unsigned": (False, 32),
    "long": (True, 64),
    "unsigned long": (False, 64),
    "long long": (True, 64),
    "unsigned long long": (False, 64),
    "int8_t": (True, 8),
    "uint8_t": (False, 8),
    "int16_t": (True, 16),
    "uint16_t": (False, 16),
    "int32_t": (True, 32),
    "uint32_t": (False, 32),
    "uint64_t": (False, 64),
    "size_t": (False, 64),
    "ptrdiff_t": (True, 64),
}
LEAST, MOST = -(2**63), 2**63 - 1


def bounds(is_signed: bool, bits: int) -> tuple[int, int]:
    if is_signed:
        return (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1)
    return (0, 2**bits - 1)


PROGRAM = """\
#include "kernel_numbers.h"
#include <cmath>
#include <cstdlib>
#include <iostream>
using namespace mylib::proof;
static bool is_wrong = false;
static void check(bool is_right, const std::string& what) {
  if (!is_right) {
    std::cout << what << "\\n";
    is_wrong = true;
  }
}
template <class Type> Type same(Type value) { return value; }
template <class Type> Type by_reference(const Type& value) noexcept { return value; }
// What the kernel gives back, or in words what is wrong.
template <auto kernel, class Wide> std::string called(Wide value) {
  static_assert(std::is_same_v<decltype(widened<kernel>()(value)), Wide>);
  try {
    return text_of_number(widened<kernel>()(value));
  } catch (const out_of_range& number) {
    return std::to_string(number.place) + " " + number.value + " " + number.type;
  }
}
template <class Type, class Wide> void takes(Wide value, const std::string& expected) {
  for (const auto& found : {called<&same<Type>>(value), called<&by_reference<Type>>(value)}) {
    check(found == expected, found + " is not " + expected);
  }
}
template <class Type> void checks_integers(const std::string& name) {
  static_assert(std::is_same_v<wide<Type>, int64_t> && std::is_same_v<std::decay_t<wide<const Type&>>, int64_t>);
  static_assert(std::is_same_v<wide<std::optional<Type>>, std::optional<int64_t>>);
  static_assert(std::is_same_v<wide<Type&>, Type&> && std::is_same_v<wide<Type*>, Type*>);
  check(name_of_number<Type>() == name, name);
}
int64_t exact(int64_t x, double y, const std::vector<int64_t>& z, bool b);
static_assert(widened<&exact>() == &exact);
char letter(char x, bool b);
static_assert(widened<&letter>() == &letter);
std::pair<std::vector<int>, float> several(
    const std::vector<int>& x, std::optional<std::vector<float>> y, std::array<unsigned, 2> z, std::string s) {
  return {x, y ? (*y)[0] : float(z[1] + s.size())};
}
// A view, as each library has one of its own.
template <class Type> struct Numbers {
  using value_type = Type;
  Numbers(const Type* begin, std::size_t size) : data(begin), count(size) {}
  Numbers(const std::vector<Type>& list) : Numbers(list.data(), list.size()) {}
  const Type* data;
  std::size_t count;
};
unsigned viewed(Numbers<unsigned char> x, const std::optional<Numbers<float>>& y) {
  return unsigned(x.data[1] + x.count + (y ? y->count : 0));
}
unsigned long large(int64_t x) { return static_cast<unsigned long>(x); }
int main() {
  const double infinity = std::numeric_limits<double>::infinity();
ROWS
  const auto both = widened<&several>()({1, -2}, std::nullopt, {3, 4}, "five");
  static_assert(std::is_same_v<decltype(both), const std::tuple<std::vector<int64_t>, double>>);
  check(both == std::tuple(std::vector<int64_t>{1, -2}, 8.0), "several");
  try {
    widened<&several>()({1}, std::vector<double>{1, 1e39}, {}, "");
    check(false, "a list");
  } catch (const out_of_range& number) {
    check(number.place == 1 && number.value == "9.9999999999999994e+38", number.value);
  }
  try {
    widened<&several>()({}, std::nullopt, {int64_t(1) << 32, 0}, "");
    check(false, "an array");
  } catch (const out_of_range& number) {
    check(number.place == 2 && number.value == "4294967296", number.value);
  }
  const auto views = widened<&viewed>()({5, 6}, std::nullopt);
  check(views == 8, "views");
  static_assert(std::is_same_v<wide<std::optional<Numbers<float>>>, std::optional<std::vector<double>>>);
  static_assert(std::is_same_v<wide<Numbers<int64_t>>, Numbers<int64_t>>);
  try {
    widened<&viewed>()({1, -1}, std::nullopt);
    check(false, "a view");
  } catch (const out_of_range& number) {
    check(number.place == 0 && number.value == "-1" && number.type == "uint8_t", number.value);
  }
  for (const auto& [call, expected] : {
           std::pair("a::f(x, y, z)", "a::f: argument 'y' is 1, which T cannot hold"),
           std::pair("f(x, y)", "f: argument 'y' is 1, which T cannot hold"),
       }) {
    try {
      refuse(call, {1, "1", "T"});
    } catch (const std::invalid_argument& error) {
      check(error.what() == std::string(expected), error.what());
    }
  }
  check(called<&large, int64_t>(5) == "5", "large");
  check(called<&large, int64_t>(-1) == "-1 18446744073709551615 int64_t", "large");
  return is_wrong;
}
"""
# A `float` is rounded to infinity from the middle between its largest value and the next power of two on.
LARGEST, FIRST_INFINITE = "0x1.fffffep127", "0x1.ffffffp127"
FLOATS = {
    "1.5": "1.5",
    f"-{LARGEST}": "-3.4028234663852886e+38",
    f"std::nextafter({FIRST_INFINITE}, 0)": "3.4028234663852886e+38",
    FIRST_INFINITE: "0 3.4028235677973366e+38 float",
    f"-{FIRST_INFINITE}": "0 -3.4028235677973366e+38 float",
    "-1e300": "0 -1.0000000000000001e+300 float",
    "infinity": "inf",
    "-infinity": "-inf",
    'std::nan("")': "nan",
}


def rows() -> list[str]:
    """What the program checks of each type: both bounds, and the values beyond them that an `int` has."""
    found = []
    for type_, (is_signed, bits) in INTEGERS.items():
        word = f"{'int' if is_signed else 'uint'}{bits}_t"
        found.append(f'checks_integers<{type_}>("{word}");')
        first, last = bounds(is_signed, bits)
        for value in (first - 1, first, last, last + 1):
            if LEAST <= value <= MOST:
                is_held = first <= value <= last
                expected = str(value) if is_held else f"0 {value} {word}"
                number = f"int64_t({value + 1}) - 1" if value == LEAST else f"int64_t({value})"
                found.append(f'takes<{type_}>({number}, "{expected}");')
    for given, expected in FLOATS.items():
        found.append(f'takes<float>({given}, "{expected}");')
    found.append('takes<long double>(1e300, "1.0000000000000001e+300");')
    return found


@pytest.mark.parametrize("standard", ["c++17", "c++20"])
def test_bounds_of_each_type(tmp_path: Path, standard: str) -> None:
    program = PROGRAM.replace("ROWS", "\n".join(rows()))
    (tmp_path / "program.cpp").write_text(program)
    command = ["g++", f"-std={standard}", "-Wall", "-Wextra", "-Werror", "-O1"]
    command += [f"-I{ROOT / 'torchgen_lite/copied/cpp'}", "program.cpp", "-o", "program"]
    subprocess.run(command, cwd=tmp_path, check=True)
    done = subprocess.run([tmp_path / "program"], capture_output=True, text=True)
    assert (done.stdout, done.returncode) == ("", 0)


YAML = """\
- func: nums::keep(Tensor x, int a, float b, int[] c, float? d=None) -> (float, int)
  dispatch:
    CPU: keep
- func: nums::scale(Tensor x, *, float s) -> float
  dispatch:
    CompositeImplicitAutograd: scale
- func: nums::sizes(Tensor x, SymInt n) -> int
  dispatch:
    CPU: sizes
- func: nums::twice(Tensor x, float s) -> float
  dispatch:
    CPU: twice
- func: nums::flat(Tensor x, int[] c, float[] d) -> int[]
  dispatch:
    CPU: flat
- func: nums::large(int x) -> int
  dispatch:
    CompositeExplicitAutograd: large
- func: nums::pick(Tensor x, int a) -> int
  dispatch:
    CPU:
      - {when: a > 0, kernel: pick_one}
      - pick_two
"""
HEADER = """\
#pragma once
#include <TENSOR_HEADER>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>
namespace nums {
std::pair<double, int> keep(
    const TENSOR& x, uint8_t a, float b, const std::vector<int>& c, std::optional<float> d);
double scale(const TENSOR& x, float s);
int sizes(const TENSOR& x, unsigned n);
double twice(const TENSOR& x, double s);
std::vector<int> flat(const TENSOR& x, const std::vector<short>& c, std::vector<float> d) noexcept;
size_t large(int64_t x);
int64_t pick_one(const TENSOR& x, int64_t a);
int64_t pick_two(const TENSOR& x, int64_t a);
} // namespace nums
"""
KERNELS = """\
#include "kernels.h"
namespace nums {
std::pair<double, int> keep(
    const TENSOR&, uint8_t a, float b, const std::vector<int>& c, std::optional<float> d) {
  return {double(b) + double(d.value_or(0)), int(a) + int(c.size())};
}
double scale(const TENSOR&, float s) { return double(s); }
int sizes(const TENSOR&, unsigned n) { return int(n); }
double twice(const TENSOR&, double s) { return 2 * s; }
std::vector<int> flat(const TENSOR&, const std::vector<short>& c, std::vector<float> d) noexcept {
  return {c[0], int(d.size())};
}
size_t large(int64_t x) { return static_cast<size_t>(x); }
int64_t pick_one(const TENSOR&, int64_t) { return 1; }
int64_t pick_two(const TENSOR&, int64_t) { return 2; }
} // namespace nums
"""


class Call(NamedTuple):
    """A call of an operator, after a tensor if it `takes_tensor`, and its result or what is wrong."""

    operator: str
    arguments: tuple[Any, ...]
    expected: Any
    takes_tensor: bool = True


CALLS = [
    Call("keep", (-1, 0.5, [1, 2], 1.5), "argument 'a' is -1, which uint8_t cannot hold"),
    Call("keep", (0, 0.5, [1, 2], 1.5), (2.0, 2)),
    Call("keep", (255, 0.5, [1, 2], None), (0.5, 257)),
    Call("keep", (256, 0.5, [1, 2], 1.5), "argument 'a' is 256, which uint8_t cannot hold"),
    Call(
        "keep",
        (1, 1e39, [], None),
        "argument 'b' is 9.9999999999999994e+38, which float cannot hold",
    ),
    Call("keep", (1, math.inf, [1], 0.0), (math.inf, 2)),
    Call(
        "keep",
        (1, 1.0, [2**31 - 1, -(2**31), 2**31], None),
        "argument 'c' is 2147483648, which int32_t cannot hold",
    ),
    Call(
        "keep",
        (1, 1.0, [], -1e300),
        "argument 'd' is -1.0000000000000001e+300, which float cannot hold",
    ),
    Call("scale", (1.5,), 1.5),
    Call("scale", (-1e39,), "argument 's' is -9.9999999999999994e+38, which float cannot hold"),
    Call("sizes", (2**32,), "argument 'n' is 4294967296, which uint32_t cannot hold"),
    Call("sizes", (7,), 7),
    Call("twice", (1e300,), 2e300),
    Call("flat", ([-(2**15), 2**15 - 1], [0.5]), [-(2**15), 1]),
    Call("flat", ([2**15], [0.5]), "argument 'c' is 32768, which int16_t cannot hold"),
    Call("flat", ([1], [1e39]), "argument 'd' is 9.9999999999999994e+38, which float cannot hold"),
    Call("large", (7,), 7, False),
    Call("large", (-1,), "a result is 18446744073709551615, which int64_t cannot hold", False),
    Call("pick", (5,), 1),
]
# What is printed for each, whatever calls it.
SAID = [
    (
        f"nums::{call.operator}: {call.expected}"
        if isinstance(call.expected, str)
        else repr(call.expected)
    )
    for call in CALLS
]
IN_PYTHON = """\
import sys
from math import inf
import torch
torch.ops.load_library(sys.argv[1])
nums = torch.ops.nums
x = torch.ones(2)
def said(function, *args, **kwargs):
    try:
        print(function(*args, **kwargs))
    except ValueError as error:
        print(str(error).splitlines()[0])
"""
IN_CPP = """\
#include <framework.h>
#include <nums/operators.h>
#include <iostream>
#include <limits>
#include <stdexcept>
#include <tuple>
#include <vector>
using Ints = std::vector<int64_t>;
using Floats = std::vector<double>;
void print(double x) {
  std::cout << x << (x > 1e100 || int64_t(x) != x ? "" : ".0");
}
void print(int64_t x) { std::cout << x; }
void print(const Ints& x) { std::cout << "[" << x[0] << ", " << x[1] << "]"; }
void print(const std::tuple<double, int64_t>& x) {
  std::cout << "(";
  print(std::get<0>(x));
  std::cout << ", " << std::get<1>(x) << ")";
}
template <class Function> void said(Function function) {
  try {
    print(function());
  } catch (const std::invalid_argument& error) {
    std::cout << error.what();
  }
  std::cout << "\\n";
}
int main() {
  [[maybe_unused]] const double inf = std::numeric_limits<double>::infinity();
  const fw::Tensor x;
"""
FRAMEWORK = """\
#pragma once
#include <torchgen_lite/keyset_of.h>
namespace fw {
struct Tensor {};
} // namespace fw
template <>
struct torchgen_lite::KeysetOf<fw::Tensor> {
  static DispatchKeySet get(const fw::Tensor&) {
    return DispatchKeySet(DispatchKey::CPU);
  }
};
"""


class Target(NamedTuple):
    """A target in C++: its C++ of tensors, and the header of that."""

    name: str
    tensor: str
    header: str

    def generated(self, folder: Path, header: str = HEADER, yaml: str = YAML) -> list[str]:
        """Write the project and what is generated; the sources."""
        options = 'folder = "stable"\nkernel-headers = ["kernels.h"]\n'
        if self.name == "cpp-runtime":
            options += 'tensor = "fw::Tensor"\nheaders = ["framework.h"]\nruntime = "installed"\n'
        else:
            options += 'module = ""\n'
        settings = (
            f'schema = "ops.yaml"\ntargets = ["{self.name}"]\n[target.{self.name}]\n{options}'
        )
        texts = {"ops.yaml": yaml, "torchgen_lite.toml": settings, "framework.h": FRAMEWORK}
        write_files(folder, {**texts, "stable/include/kernels.h": self.text(header)})
        program = load(root=folder)
        assert not program.diagnostics
        files = generate(program)
        write_files(folder, files)
        return [path for path in files if path.endswith(".cpp")]

    def text(self, text: str) -> str:
        return text.replace("TENSOR_HEADER", self.header).replace("TENSOR", self.tensor)

    def said(self, folder: Path, sources: Sequence[str]) -> str:
        """What a program prints that makes the calls."""
        if self.name == "cpp-runtime":
            return _run_in_cpp(folder, sources, CALLS)
        if self.name == "cpp-torch-stable":
            library = stable_library.build_library(folder, sources)
        else:
            library = compile_library(folder, sources, includes=[folder, folder / "stable/include"])
        lines = []
        for call in CALLS:
            given = [f"nums.{call.operator}", *["x"] * call.takes_tensor]
            given += map(repr, call.arguments)
            if call.operator == "scale":
                given[-1] = f"s={given[-1]}"
            lines.append(f"said({', '.join(given)})\n")
        command = [sys.executable, "-c", IN_PYTHON + "".join(lines), str(library)]
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
        assert not done.stderr
        return done.stdout

    def checked(self, folder: Path) -> Compiled:
        """What a compiler says of the registrations."""
        compiler: Sequence[str]
        if self.name == "cpp-runtime":
            compiler = (QUICK, "-std=c++17", f"-I{INCLUDE}")
        elif self.name == "cpp-torch-stable":
            compiler = ("g++", *stable_library.flags())
        else:
            compiler = quick_torch()
        includes = [folder, folder / "stable/include"]
        return check_syntax(folder, "stable/src/register.cpp", compiler=compiler, includes=includes)


def _run_in_cpp(folder: Path, sources: Sequence[str], calls: Sequence[Call]) -> str:
    lines = []
    for call in calls:
        given = ["x"] * call.takes_tensor + [_in_cpp(value) for value in call.arguments]
        lines.append(
            f"said([&] {{ return nums::ops::{call.operator}::call({', '.join(given)}); }});\n"
        )
    (folder / "main.cpp").write_text(IN_CPP + "".join(lines) + "}\n")
    flags = ("-std=c++17", f"-I{folder}", f"-I{folder / 'stable/include'}")
    everything = folder / together(folder, ["main.cpp", *sources])
    build([everything], folder / "program", flags, QUICK)
    return subprocess.run([folder / "program"], capture_output=True, text=True, check=True).stdout


def _in_cpp(value: Any) -> str:
    """An argument in C++."""
    if value is None:
        return "std::nullopt"
    if isinstance(value, list):
        is_float = any(isinstance(one, float) for one in value)
        return f"{'Floats' if is_float else 'Ints'}{{{', '.join(map(_in_cpp, value))}}}"
    return repr(value)


RUNTIME = Target("cpp-runtime", "fw::Tensor", "framework.h")
TARGETS = [
    pytest.param(Target("cpp-torch", "at::Tensor", "ATen/ATen.h"), marks=pytest.mark.torch),
    pytest.param(
        Target("cpp-torch-stable", "torch::stable::Tensor", "torch/csrc/stable/tensor.h"),
        marks=pytest.mark.torch,
    ),
    RUNTIME,
]
each_target = pytest.mark.parametrize("target", TARGETS, ids=lambda target: target.name)


@each_target
def test_operators_convert_numbers(target: Target, tmp_path: Path) -> None:
    sources = target.generated(tmp_path)
    (tmp_path / "kernels.cpp").write_text(target.text(KERNELS))
    assert target.said(tmp_path, [*sources, "kernels.cpp"]).splitlines() == SAID


class Wrong(NamedTuple):
    """A kernel, the end of its parameters in `HEADER`, and one that no conversion makes right."""

    name: str
    right: str
    wrong: str


WRONG = (
    Wrong("sizes", "unsigned n", "char n"),
    Wrong("twice", "double s", "int s"),
    Wrong("large", "int64_t x", "bool x"),
    Wrong("scale", "float s", "float& s"),
    Wrong("pick_two", "pick_two(const TENSOR& x, int64_t a", "pick_two(const TENSOR& x, int a"),
)


@each_target
def test_other_types_are_no_numbers(target: Target, tmp_path: Path) -> None:
    """Neither a character nor a bool, nor a number of the other kind, nor one that is taken to be written; and what
    generated code calls by its name has exactly the types of the schema."""
    target.generated(tmp_path)
    done = refused(target, tmp_path, WRONG)
    for kernel in WRONG:
        expected = f"'{kernel.name}' must take '.*' for argument '{kernel.right[-1]}'"
        assert re.search(expected, done.messages), kernel
    alone = refused(target, tmp_path, WRONG[-1:])
    assert len(re.findall(r"\berror: static assertion", alone.messages)) == 1


def refused(target: Target, folder: Path, kernels: Sequence[Wrong]) -> Compiled:
    """What a compiler says where these kernels are wrong."""
    header = HEADER
    for kernel in kernels:
        assert f"{kernel.right})" in header
        header = header.replace(f"{kernel.right})", f"{kernel.wrong})")
    (folder / "stable/include/kernels.h").write_text(target.text(header))
    done = target.checked(folder)
    assert not done.ok
    return done


ABOVE = """\
- func: nums::above(Tensor x, int a) -> int
  dispatch:
    AutogradCPU: above
"""
ABOVE_HEADER = """\
#pragma once
#include "framework.h"
namespace nums {
inline int above(torchgen_lite::DispatchKeySet, const TENSOR&, short a) { return a; }
} // namespace nums
"""


def test_the_keys_of_a_call_are_no_argument(tmp_path: Path) -> None:
    sources = RUNTIME.generated(tmp_path, ABOVE_HEADER, ABOVE)
    framework = FRAMEWORK.replace("DispatchKey::CPU", "DispatchKey::AutogradCPU")
    write_files(tmp_path, {"framework.h": framework})
    calls = [Call("above", (5,), 5), Call("above", (2**15,), None)]
    done = _run_in_cpp(tmp_path, sources, calls)
    assert done == "5\nnums::above: argument 'a' is 32768, which int16_t cannot hold\n"
