"""Kernels may have numbers of other types than `int64_t` and `double`, which are converted with a check of the range.

Each integer type is tried at both of its bounds and beyond them, without PyTorch, and in operators that PyTorch calls.
"""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import ROOT
from tests.cpp.compiling import (
    check_syntax,
    compile_library,
    needs_compiler,
    with_torch,
    write_files,
)
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
    command += [f"-I{ROOT / 'torchgen_lite/copied/cpp_torch'}", "program.cpp", "-o", "program"]
    subprocess.run(command, cwd=tmp_path, check=True)
    done = subprocess.run([tmp_path / "program"], capture_output=True, text=True)
    assert (done.stdout, done.returncode) == ("", 0)


YAML = """\
- func: nums::keep(Tensor x, int a, float b, int[] c, float? d=None) -> (Tensor, int)
  dispatch:
    CPU: keep
- func: nums::scale(Tensor x, *, float s) -> Tensor
  dispatch:
    CompositeImplicitAutograd: scale
- func: nums::sizes(Tensor x, SymInt n) -> int
  dispatch:
    CPU: sizes
- func: nums::twice(Tensor x, float s) -> Tensor
  dispatch:
    CPU: twice
- func: nums::large(int x) -> int
  dispatch:
    CompositeExplicitAutograd: large
"""
HEADER = """\
#pragma once
#include <ATen/ATen.h>
#include <tuple>
#include <utility>
#include <vector>
namespace nums {
std::pair<at::Tensor, int> keep(
    at::Tensor x, uint8_t a, float b, const std::vector<int>& c, std::optional<float> d);
at::Tensor scale(const at::Tensor& x, float s);
int sizes(const at::Tensor& x, unsigned n);
at::Tensor twice(const at::Tensor& x, double s);
size_t large(int64_t x);
} // namespace nums
"""
KERNELS = """\
#include "kernels.h"
namespace nums {
std::pair<at::Tensor, int> keep(
    at::Tensor x, uint8_t a, float b, const std::vector<int>& c, std::optional<float> d) {
  return {x * double(b) + double(d.value_or(0)), int(a) + int(c.size())};
}
at::Tensor scale(const at::Tensor& x, float s) { return x * double(s); }
int sizes(const at::Tensor& x, unsigned n) { return int(x.numel()) + int(n); }
at::Tensor twice(const at::Tensor& x, double s) { return x * s; }
size_t large(int64_t x) { return static_cast<size_t>(x); }
} // namespace nums
"""
CALLS = """\
import math
import sys
import torch
torch.ops.load_library(sys.argv[1])
nums = torch.ops.nums
x = torch.ones(2, dtype=torch.float64)
def said(function, *args, **kwargs):
    try:
        print(function(*args, **kwargs))
    except Exception as error:
        print(type(error).__name__, str(error).splitlines()[0])
for a in (-1, 0, 255, 256):
    said(nums.keep, x, a, 0.5, [1, 2], 1.5)
said(nums.keep, x, 1, 1e39, [])
said(nums.keep, x, 1, math.inf, [1], math.nan)
said(nums.keep, x, 1, 1.0, [2**31 - 1, -(2**31), 2**31])
said(nums.keep, x, 1, 1.0, [], -1e300)
said(nums.scale, x, s=3e38)
said(nums.scale, x, s=-1e39)
said(nums.sizes, x, 2**32)
said(nums.sizes, x, 7)
said(nums.large, 7)
said(nums.large, -1)
"""
SAID = """\
ValueError nums::keep: argument 'a' is -1, which uint8_t cannot hold
(tensor([2., 2.], dtype=torch.float64), 2)
(tensor([2., 2.], dtype=torch.float64), 257)
ValueError nums::keep: argument 'a' is 256, which uint8_t cannot hold
ValueError nums::keep: argument 'b' is 9.9999999999999994e+38, which float cannot hold
(tensor([nan, nan], dtype=torch.float64), 2)
ValueError nums::keep: argument 'c' is 2147483648, which int32_t cannot hold
ValueError nums::keep: argument 'd' is -1.0000000000000001e+300, which float cannot hold
tensor([3.0000e+38, 3.0000e+38], dtype=torch.float64)
ValueError nums::scale: argument 's' is -9.9999999999999994e+38, which float cannot hold
ValueError nums::sizes: argument 'n' is 4294967296, which uint32_t cannot hold
9
7
ValueError nums::large: a result is 18446744073709551615, which int64_t cannot hold
"""


def generated(folder: Path, header: str) -> dict[str, str]:
    settings = (
        'schema = ["ops.yaml"]\n[target.cpp-torch]\nmodule = ""\nkernel-headers = ["kernels.h"]\n'
    )
    write_files(folder, {"ops.yaml": YAML, "kernels.h": header, "torchgen_lite.toml": settings})
    files = generate(load(root=folder), targets=["cpp-torch"])
    write_files(folder, files)
    return files


@pytest.mark.torch
def test_operators_convert_numbers(tmp_path: Path) -> None:
    files = generated(tmp_path, HEADER)
    (tmp_path / "kernels.cpp").write_text(KERNELS)
    sources = [path for path in files if path.endswith(".cpp")]
    includes = [tmp_path, tmp_path / "cpp-torch/include"]
    library = compile_library(tmp_path, [*sources, "kernels.cpp"], includes=includes)
    command = [sys.executable, "-c", CALLS, str(library)]
    done = subprocess.run(command, capture_output=True, text=True)
    assert (done.stdout, done.stderr) == (SAID, "")


@pytest.mark.torch
def test_other_types_are_no_numbers(tmp_path: Path) -> None:
    """Neither a character nor a bool, nor a number of the other kind, nor one that is taken to be written."""
    files = generated(tmp_path, HEADER)
    source = next(path for path in files if path.endswith("/register.cpp"))
    includes = [tmp_path, tmp_path / "cpp-torch/include"]
    for old, new in (
        ("unsigned n", "char n"),
        ("double s", "int s"),
        ("int64_t x", "bool x"),
        ("float s", "float& s"),
    ):
        (tmp_path / "kernels.h").write_text(HEADER.replace(f"{old})", f"{new})"))
        done = check_syntax(tmp_path, source, flags=with_torch(), includes=includes)
        name = old[-1]
        assert not done.ok and re.search(
            f"must take '.*' for argument '{name}'", done.messages
        ), new
