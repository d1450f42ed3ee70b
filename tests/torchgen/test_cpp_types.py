"""The C++ generated for every operator of PyTorch has the types and texts of PyTorch's own headers.

One translation unit includes both, `aten_ops::ops::X` and `at::_ops::X`, and compares them at compile time, and so it
does with functions and methods. All calls are compiled: those of functions call, and those of redispatching ones redispatch.
tests/conformance/README.md has the figures.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import pytest

import torchgen_lite
from tests.conformance.torch_calls import free_functions, methods, pointer
from tests.conformance.torch_calls import torch_flags as link_flags
from tests.conftest import ROOT
from tests.cpp.compiling import check_syntax, needs_compiler, quick_torch, with_torch, write_files
from torchgen_lite.analysis.program import Program
from torchgen_lite.analysis.resolve import Resolved
from torchgen_lite.languages.cpp import text as cpp_text
from torchgen_lite.loader.config.project import Config
from torchgen_lite.loader.entry.entry import NativeFunction

pytestmark = [pytest.mark.torch, needs_compiler]

COMPARE = """\
#include <ATen/Operators.h>
#include <aten_ops/operators.h>

#include <string_view>
#include <type_traits>

#define TYPE(OURS, THEIRS, WHAT)                            \\
  static_assert(                                            \\
      std::is_same_v<                                       \\
          aten_ops::ops::OURS::WHAT,                        \\
          at::_ops::THEIRS::WHAT>,                          \\
      #OURS ": " #WHAT);
#define FUNCTION(OURS, THEIRS, WHAT)                        \\
  static_assert(                                            \\
      std::is_same_v<                                       \\
          decltype(&aten_ops::ops::OURS::WHAT),             \\
          decltype(&at::_ops::THEIRS::WHAT)>,               \\
      #OURS ": " #WHAT);
#define TEXT(OURS, THEIRS, WHAT)                            \\
  static_assert(                                            \\
      std::string_view(aten_ops::ops::OURS::WHAT) ==        \\
          std::string_view(at::_ops::THEIRS::WHAT),         \\
      #OURS ": " #WHAT);
#define COMPARE(OURS, THEIRS)                               \\
  TYPE(OURS, THEIRS, schema)                                \\
  TYPE(OURS, THEIRS, ptr_schema)                            \\
  FUNCTION(OURS, THEIRS, call)                              \\
  FUNCTION(OURS, THEIRS, redispatch)                        \\
  TEXT(OURS, THEIRS, name)                                  \\
  TEXT(OURS, THEIRS, overload_name)

"""
# Operators with methods that tests/torchgen/calls.cpp calls.
WITH_METHODS = (
    "aten::add.Tensor",
    "aten::sum",
    "aten::sum.dim_IntList",
    "aten::narrow",
    "aten::clamp",
    "aten::new_zeros",
    "aten::mul_.Tensor",
)


@pytest.fixture(scope="module")
def generated(program: Program, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder `cpp-torch` of `generate --torch --target cpp-torch`."""
    root = tmp_path_factory.mktemp("torch")
    write_files(root, torchgen_lite.generate(program, targets=["cpp-torch"]))
    return root / "cpp-torch"


@pytest.fixture(scope="module")
def installed() -> Path:
    """PyTorch's generated headers."""
    torch = pytest.importorskip("torch")
    return Path(torch.__file__).parent / "include" / "ATen"


@pytest.fixture(scope="module")
def said(generated: Path, ours: Resolved) -> Mapping[str, list[str]]:
    """The errors that the compiler reports for each file that compares.

    It reads them in one translation unit: the templates that they use are the same.
    """
    functions = [operator.function for operator in ours.operators]
    pairs = [*((name, name) for name in our_structs(generated)), *WRONG_PAIRS]
    texts = {
        "operators": compare_operators(pairs),
        "functions": compare_functions(functions, redispatch=False),
        "redispatch_functions": compare_functions(functions, redispatch=True),
        "methods": compare_methods(functions),
    }
    write_files(generated, {f"compare_{name}.h": text for name, text in texts.items()})
    lines = [f'#include "compare_{name}.h"\n' for name in texts]
    write_files(generated, {"compare.cpp": "".join(lines)})
    include = generated / "include"
    done = check_syntax(generated, "compare.cpp", flags=with_torch(), includes=[include])
    pattern = r"^(\S*): (?:\w+ )*error: (?:static assertion failed: )?(.*)"
    errors = re.findall(pattern, done.messages, re.M)
    # What is wrong with a header is no difference.
    others = [error for error in errors if not error[0].startswith("compare_")]
    assert not others and done.ok == (not errors), done.messages
    return {
        name: [text for place, text in errors if place.startswith(f"compare_{name}.h:")]
        for name in texts
    }


def our_structs(generated: Path) -> list[str]:
    return structs((generated / "include" / "aten_ops").glob("operators_*.h"))


def compare_operators(pairs: Iterable[tuple[str, str]]) -> str:
    """A difference is said as `struct: member`, for our first struct of a pair and their second one."""
    lines = [f"COMPARE({ours}, {theirs})" for ours, theirs in pairs]
    return COMPARE + "\n".join(lines) + "\n"


def compare_functions(functions: Sequence[NativeFunction], *, redispatch: bool) -> str:
    """Both sides have a function of this name and type, or it cannot be pointed to."""
    ours_scope, scope = ("redispatch", "at::redispatch") if redispatch else ("functions", "at")
    lines = [
        f"  (void)static_cast<{pointer(signature)}>(&{name});"
        for plain, signature in free_functions(functions, redispatch=redispatch)
        for name in (
            f"aten_ops::{ours_scope}::{cpp_text.function_name(plain)}",
            f"{scope}::{plain}",
        )
    ]
    header = "RedispatchFunctions.h" if redispatch else "Functions.h"
    file = "redispatch_functions" if redispatch else "functions"
    head = f"#include <ATen/{header}>\n#include <aten_ops/{file}.h>\nvoid compare_{file}() {{\n"
    return head + "\n".join(lines) + "\n}\n"


METHODS = """\
#include <ATen/Tensor.h>
#include <aten_ops/methods.h>
struct Ours : aten_ops::TensorMethods<Ours> {
  operator const at::Tensor&() const;
};
void compare_methods() {
"""


def compare_methods(functions: Sequence[NativeFunction]) -> str:
    """The same for methods of `at::Tensor`."""
    lines = [
        f"  (void)static_cast<{pointer(signature, f'{owner}::')}>(&{owner}::{name});"
        for plain, signature in methods(functions)
        for owner, name in (("Ours", cpp_text.function_name(plain)), ("at::Tensor", plain))
    ]
    return METHODS + "\n".join(lines) + "\n}\n"


def structs(files: Iterable[Path]) -> list[str]:
    found = [re.findall(r"^struct (?:TORCH_API )?(\w+)", f.read_text(), re.M) for f in files]
    return sorted(name for names in found for name in names)


# Pairs that differ, to prove that the compiler does compare.
WRONG_PAIRS = (("add_Tensor", "add_Scalar"), ("acos", "cos"))
WRONG = [
    "add_Tensor: schema",
    "add_Tensor: ptr_schema",
    "add_Tensor: call",
    "add_Tensor: redispatch",
    "add_Tensor: overload_name",
    "acos: name",
]


def test_every_operator_is_pytorchs(
    generated: Path, installed: Path, said: Mapping[str, list[str]]
) -> None:
    """Both sides have the same operators, with the same types and texts."""
    assert our_structs(generated) == structs((installed / "ops").glob("*_ops.h"))
    assert said["operators"] == WRONG


def names_in(files: Iterable[Path], pattern: str) -> Counter[str]:
    """The names that PyTorch's headers define, with the number of their definitions."""
    return Counter(name for f in files for name in re.findall(pattern, f.read_text(), re.M))


WRITTEN_BY_HAND = Counter(["for_blob", "expect_contiguous"])
INLINE = r"^ *inline [^(\n]*?(\w+)\(.*{$"


@pytest.mark.parametrize("redispatch", [False, True])
def test_free_functions(
    generated: Path,
    installed: Path,
    ours: Resolved,
    said: Mapping[str, list[str]],
    redispatch: bool,
) -> None:
    """Each function in namespace `at` has a generated one with the same type, and there are no others."""
    functions = [operator.function for operator in ours.operators]
    found = list(free_functions(functions, redispatch=redispatch))
    headers = installed.glob("RedispatchFunctions.h" if redispatch else "ops/*.h")
    assert names_in(headers, INLINE) - WRITTEN_BY_HAND == Counter(name for name, _ in found)
    file = "redispatch_functions" if redispatch else "functions"
    declared = (generated / "include" / "aten_ops").glob(f"{file}_*.h")
    assert sum(len(re.findall("^inline ", h.read_text(), re.M)) for h in declared) == len(found)
    assert said[file] == []


def test_methods(installed: Path, ours: Resolved, said: Mapping[str, list[str]]) -> None:
    """The same for the methods of at::Tensor."""
    found = methods([operator.function for operator in ours.operators])
    defined = names_in([installed / "core" / "TensorBody.h"], r"^inline .*? Tensor::(\w+)\(.*{$")
    assert defined - WRITTEN_BY_HAND == Counter(name for name, _ in found)
    assert said["methods"] == []


def write_few(folder: Path, program: Program) -> None:
    """Generate the operators with methods as if another library declared them."""
    entries = [f for f in program.functions if f.name in WITH_METHODS]
    assert len(entries) == len(WITH_METHODS)
    (folder / "few.yaml").write_text(
        "".join(f"- func: {f.func}\n  variants: {', '.join(f.variants)}\n" for f in entries)
    )
    options = {"cpp-torch": {"namespace": "few", "folder": "few"}}
    config = Config(root=folder, schema=("few.yaml",), target_options=options)
    few = torchgen_lite.load(config=config)
    write_files(folder, torchgen_lite.generate(few, targets=["cpp-torch"]))


@pytest.fixture(scope="module")
def compiled(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """The compiled calls of one shard, and what torch_calls.py of tests/conformance says about them."""
    folder = tmp_path_factory.mktemp("compiled")
    command = [sys.executable, "-m", "tests.conformance.torch_calls", "--shard", "9"]
    command += ["--folder", str(folder), "--optimize=-O0"]
    path = {"PYTHONPATH": str(ROOT)}
    done = subprocess.run(command, env=os.environ | path, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return folder, done.stdout


def test_calls_arrive_where_pytorchs_do(compiled: tuple[Path, str]) -> None:
    assert compiled[1].splitlines()[-5:] == [
        "at::_ops: 1254 calls compared, 1254 arrived, with 4566 arguments; 0 ambiguous",
        "at::: 1209 calls compared, 1209 arrived, with 5193 arguments; 2 ambiguous",
        "at::redispatch: 1323 calls compared, 1323 arrived, with 5589 arguments; 2 ambiguous",
        "at::Tensor: 294 calls compared, 294 arrived, with 864 arguments; 0 ambiguous",
        "0 differences",
    ]


def test_calls_run_pytorchs_kernels(
    program: Program, compiled: tuple[Path, str], tmp_path: Path
) -> None:
    write_few(tmp_path, program)
    shutil.copy(Path(__file__).with_name("calls.cpp"), tmp_path)
    _, libraries = link_flags()
    include = compiled[0] / "cpp-torch" / "include"
    command = [*quick_torch(), "calls.cpp", "-o", "calls", "-Ifew/include", f"-I{include}"]
    command += libraries
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    done = subprocess.run(["./calls"], cwd=tmp_path, capture_output=True, text=True)
    assert (done.stdout, done.stderr) == ("45 checks, 0 failures\n", "")
