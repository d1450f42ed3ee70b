"""What is generated in C++ for every operator of PyTorch has the types and texts of PyTorch's own headers.

One translation unit sees both, `aten_ops::ops::X` and `at::_ops::X`, and compares them while it compiles.
docs/conformance.md has the figures.
"""

from __future__ import annotations

import re
import shutil
import subprocess
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest

import torchgen_lite
from tests.cpp.compiling import check_syntax, needs_compiler, torch_flags, write_files
from torchgen_lite.analysis import Program
from torchgen_lite.analysis.derive import Derived, operator_name
from torchgen_lite.dialects import cpp, cpp_text
from torchgen_lite.loader.config import Config

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
  TEXT(OURS, THEIRS, overload_name)                         \\
  TEXT(OURS, THEIRS, schema_str)

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


def differences(generated: Path, pairs: Iterable[tuple[str, str]]) -> list[str]:
    """`struct: member` wherever ours of the first name is not theirs of the second."""
    lines = [f"COMPARE({ours}, {theirs})" for ours, theirs in pairs]
    return said(generated, COMPARE + "\n".join(lines) + "\n")


def said(generated: Path, text: str) -> list[str]:
    """What the compiler has against a translation unit: its errors, one each."""
    (generated / "compare.cpp").write_text(text)
    include = generated / "include"
    done = check_syntax(generated, "compare.cpp", flags=torch_flags(), includes=[include])
    errors = re.findall(r"error: (?:static assertion failed: )?(.*)", done.messages)
    assert done.ok == (not errors), done.messages
    return errors


def structs(files: Iterable[Path]) -> list[str]:
    found = [re.findall(r"^struct (?:TORCH_API )?(\w+) {", f.read_text(), re.M) for f in files]
    return sorted(name for names in found for name in names)


# Pairs that are not the same, so that it shows that the compiler does compare.
WRONG_PAIRS = (("add_Tensor", "add_Scalar"), ("acos", "cos"))
WRONG = [
    "add_Tensor: schema",
    "add_Tensor: ptr_schema",
    "add_Tensor: call",
    "add_Tensor: redispatch",
    "add_Tensor: overload_name",
    "add_Tensor: schema_str",
    "acos: name",
    "acos: schema_str",
]


def test_every_operator_is_pytorchs(generated: Path, installed: Path) -> None:
    ours = structs((generated / "include" / "aten_ops").glob("operators_*.h"))
    assert ours == structs((installed / "ops").glob("*_ops.h"))
    assert len(ours) == 3101
    pairs = [*((name, name) for name in ours), *WRONG_PAIRS]
    assert differences(generated, pairs) == WRONG


def free_functions(
    functions: Derived, keyset: tuple[str, ...], *, methods: bool
) -> Iterator[tuple[str, str]]:
    """The name of each free function, and the type of a pointer to it."""
    for function in functions.functions:
        if methods or "function" in function.variants:
            for style in cpp.styles(function):
                signature = cpp.signature(function, style)
                types = ", ".join([*keyset, *[p.type for p in signature.parameters]])
                yield signature.name, f"{signature.returns} (*)({types})"


@pytest.mark.parametrize("inner", ["functions", "redispatch"])
def test_free_functions(generated: Path, installed: Path, ours: Derived, inner: str) -> None:
    """Each of at::'s is there with the same type, and there are no others."""
    keyset = () if inner == "functions" else ("c10::DispatchKeySet",)
    found = list(free_functions(ours, keyset, methods=inner == "redispatch"))
    assert len(found) == {"functions": 4720, "redispatch": 4983}[inner]
    if inner == "functions":
        theirs, scope, header = (installed / "ops").glob("*.h"), "at", "Functions.h"
    else:
        theirs, scope = installed.glob("RedispatchFunctions.h"), "at::redispatch"
        header = "RedispatchFunctions.h"
    texts = [text for text in map(Path.read_text, theirs) if "// @generated by torchgen" in text]
    names = [re.findall(r"^ *inline [^(\n]*?(\w+)\(.*{$", text, re.M) for text in texts]
    assert Counter(n for inside in names for n in inside) == Counter(n for n, _ in found)

    file = "functions" if inner == "functions" else "redispatch_functions"
    headers = (generated / "include" / "aten_ops").glob(f"{file}_*.h")
    assert sum(len(re.findall("^inline ", h.read_text(), re.M)) for h in headers) == len(found)
    lines = [
        f"  (void)static_cast<{type_}>(&{where}::{name});"
        for plain, type_ in found
        for where, name in (
            (f"aten_ops::{inner}", cpp_text.identifier(plain)),
            (scope, plain),
        )
    ]
    head = f"#include <ATen/{header}>\n#include <aten_ops/{file}.h>\nvoid compare() {{\n"
    assert said(generated, head + "\n".join(lines) + "\n}\n") == []


def write_few(folder: Path, program: Program) -> None:
    """The operators with methods, as somebody's own file has them."""
    entries = [f for f in program.functions if operator_name(f) in WITH_METHODS]
    assert len(entries) == len(WITH_METHODS)
    (folder / "few.yaml").write_text(
        "".join(f"- func: {f.func}\n  variants: {', '.join(f.variants)}\n" for f in entries)
    )
    options = {"cpp-torch": {"namespace": "few", "folder": "few"}}
    config = Config(root=folder, schema=("few.yaml",), target_options=options)
    few = torchgen_lite.load(config=config)
    write_files(folder, torchgen_lite.generate(few, targets=["cpp-torch"]))


def test_calls_run_pytorchs_kernels(program: Program, generated: Path, tmp_path: Path) -> None:
    import torch

    write_few(tmp_path, program)
    shutil.copy(Path(__file__).with_name("calls.cpp"), tmp_path)
    # All in one unit: the headers of libtorch are most of the work.
    sources = [generated / "src" / "operators_9.cpp", "few/src/operators.cpp", "calls.cpp"]
    text = "".join(f'#include "{source}"\n' for source in sources)
    (tmp_path / "all.cpp").write_text(text)
    libraries = Path(torch.__file__).parent / "lib"
    command = ["g++", "-O0", *torch_flags(), f"-I{generated / 'include'}", "-Ifew/include"]
    command += ["all.cpp", "-o", "calls", f"-L{libraries}", f"-Wl,-rpath,{libraries}"]
    command += ["-ltorch", "-ltorch_cpu", "-lc10"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    done = subprocess.run(["./calls"], cwd=tmp_path, capture_output=True, text=True)
    assert (done.stdout, done.stderr) == ("45 checks, 0 failures\n", "")
