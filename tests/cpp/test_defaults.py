"""A default is the same value whether PyTorch fills it in, for a call from Python, or the compiler, for one from C++."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from tests.cpp.compiling import needs_compiler, quick_torch, write_files
from tests.forks import run_forked
from torchgen_lite import generate, load

pytestmark = [pytest.mark.torch, needs_compiler]

DEFAULTS = """
    Tensor?=None Generator?=None int=7 int=Mean int=long int=-9223372036854775808 int?=None
    int?=3 SymInt=5 SymInt?=None float=1 float=99999999999999999999 float=.5 float=1e30 float?=2.5 bool=True bool?=False str='it\\'s'
    str?="a\\"b" Scalar=2 Scalar=2.5 Scalar=True Scalar=1.5j Scalar?=None complex=2j ScalarType=float32
    ScalarType=4 ScalarType?=qint8 ScalarType?=None Layout=strided Layout?=None
    MemoryFormat=contiguous_format MemoryFormat?=None Device="cpu" Device="cuda:1" Device?=None int[]=[]
    int[]=[1,2] int[]=[long] int[2]=3 int[2]=[3,4] int[]?=None SymInt[]=[1] SymInt[3]=2 SymInt[]?=None
    float[]=[0.5,1] float[2]=1.5 float[]?=None bool[]=[True,False] bool[]=[] bool[2]=True
    bool[2]=[False,True] Tensor[]?=None
    """.split()

KERNELS = """\
#include <sstream>
#include <string>

#include <d/functions.h>
#include <torch/library.h>

namespace d {

std::string seen;

// What a kernel was given, as text.
struct Text {
  std::ostringstream out;
  void put(bool value) { out << (value ? "true" : "false"); }
  void put(int64_t value) { out << value; }
  void put(double value) { out << "double " << value; }
  void put(at::ScalarType value) { out << "type " << static_cast<int>(value); }
  void put(at::Layout value) { out << "layout " << static_cast<int>(value); }
  void put(at::MemoryFormat value) { out << "format " << static_cast<int>(value); }
  void put(at::Device value) { out << value; }
  void put(c10::string_view value) { out << value; }
  void put(c10::complex<double> value) { out << value; }
  void put(const c10::SymInt& value) { out << value; }
  void put(const at::Scalar& value) { out << static_cast<int>(value.type()) << value.toComplexDouble(); }
  void put(const at::Generator& value) { out << (value.defined() ? "some" : "undefined"); }
  void put(const at::Tensor& value) { out << (value.defined() ? "some" : "undefined"); }
  template <class T> void put(const std::optional<T>& value) { option(value); }
  template <class T> void put(const at::OptionalArrayRef<T>& value) { option(value); }
  template <class T> void put(at::ArrayRef<T> value) { list(value); }
  template <class T, size_t N> void put(const std::array<T, N>& value) { list(value); }
  template <class T> void put(const std::vector<T>& value) { list(value); }
  void put(const c10::List<bool>& value) { list(value.vec()); }
  template <class T> void option(const T& value) {
    if (value.has_value()) { put(*value); } else { out << "nothing"; }
  }
  template <class T> void list(const T& values) {
    out << values.size();
    for (const auto& value : values) { out << ", "; put(value); }
  }
};

template <class T>
void see(const T& value) {
  Text text;
  text.put(value);
  seen = text.out.str();
}

KERNELS
} // namespace d

#include <d/verify_kernels.h>

#define TORCH_EXTENSION_NAME d
#include "../src/register.cpp"

extern "C" const char* last() { return d::seen.c_str(); }

extern "C" void call(int number) {
  switch (number) {
CALLS
  }
}
"""


# Run elsewhere, since operators stay registered for as long as a process lives.
PROGRAM = """
import ctypes, sys, torch
torch.ops.load_library("defaults.so")
library = ctypes.CDLL("./defaults.so")
library.last.restype = ctypes.c_char_p
for number in range(int(sys.argv[1])):
    getattr(torch.ops.d, f"f{number}")()
    python = library.last().decode()
    library.call(number)
    print(python, library.last().decode(), sep="|")
"""


def build(folder: Path) -> None:
    """Make defaults.so with an operator for each default."""
    import torch

    yaml, kernels, calls = "", "", ""
    for number, text in enumerate(DEFAULTS):
        type_, _, default = text.partition("=")
        yaml += f"- func: d::f{number}({type_} x={default}) -> ()\n"
        yaml += f"  dispatch: {{CompositeExplicitAutograd: k{number}}}\n"
        calls += f"    case {number}: d::functions::f{number}(); break;\n"
    write_files(folder, {"ops.yaml": yaml})
    files = generate(load("ops.yaml", root=folder), targets=["cpp-torch"])
    write_files(folder, files)
    # The kernels as their schemas require them.
    for head in files["cpp-torch/include/d/kernels.h"].split("void k")[1:]:
        kernels += f"void k{head.partition(';')[0]} {{ see(x); }}\n"
    text = KERNELS.replace("KERNELS\n", kernels).replace("CALLS\n", calls)
    write_files(folder, {"cpp-torch/kernels/kernels.cpp": text})
    libraries = Path(torch.__file__).parent / "lib"
    command = [*quick_torch(), "-shared", "-Icpp-torch/include"]
    command += ["cpp-torch/kernels/kernels.cpp", "-o", "defaults.so", f"-L{libraries}"]
    command += [f"-Wl,-rpath,{libraries}", "-ltorch_cpu", "-lc10"]
    subprocess.run(command, cwd=folder, check=True)


@pytest.fixture(scope="module")
def seen(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """For each default what the kernel was given, from Python and from C++."""
    folder = tmp_path_factory.mktemp("defaults")
    build(folder)
    done = run_forked(["-c", PROGRAM, str(len(DEFAULTS))], folder, os.environ)
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


@pytest.mark.parametrize("number", range(len(DEFAULTS)), ids=lambda number: DEFAULTS[number])
def test_both_are_the_same(seen: list[str], number: int) -> None:
    python, _, cpp = seen[number].partition("|")
    assert python == cpp != ""


def test_they_are_what_is_written(seen: list[str]) -> None:
    found = {text: line.partition("|")[0] for text, line in zip(DEFAULTS, seen)}
    assert found["int[2]=3"] == "2, 3, 3" and found["int=long"] == "4"
    assert found["ScalarType=float32"] == "type 6" and found["str='it\\'s'"] == "it's"
