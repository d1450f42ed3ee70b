"""A library with every kind of registration and type compiles, and the installed PyTorch loads it."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

import torchgen_lite
from tests.conformance.backends import begin, build
from tests.cpp.compiling import (
    check_syntax,
    compile_library,
    long_include,
    needs_compiler,
    with_header,
    write_files,
)
from tests.forks import run_forked
from tests.installed import todays_torchgen
from tests.unit.analysis.test_ranges import FLOAT, GROUP, SCALAR
from torchgen_lite.loader.config.project import Config
from torchgen_lite.pipeline import generate_all

pytestmark = [pytest.mark.torch, needs_compiler]

ARGUMENTS = """
bool bool? bool[] bool[]? bool[3] int int? int[] int[]? int[2] int[][] float float? float[] float[]?
complex complex[] str str? str[] str[]? Scalar Scalar? Scalar[] SymInt SymInt? SymInt[] SymInt[]?
SymBool Tensor Tensor? Tensor[] Tensor?[] Tensor[]? Tensor[][] Tensor(a!) Tensor(a!)? Tensor(a!)[]
Device Device? Device[] ScalarType ScalarType? ScalarType[] Layout MemoryFormat MemoryFormat? QScheme
Generator? Storage Stream Stream? Any Dict(str,Tensor) Dict(int,Tensor)?
(int,Tensor)
""".split()
RETURNS = """
() bool bool[] int int? int[] int[][] float float[] complex str str? str[] Scalar SymInt SymInt[] SymBool
Tensor Tensor? Tensor[] Tensor?[] Tensor[][] (Tensor,int) (Tensor,Tensor[],str) Device ScalarType Layout
MemoryFormat QScheme Generator? Storage Stream Any Dict(str,Tensor)
""".split()
OPTIONS = "ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None"
KINDS = f"""\
- func: demo::muladd(Tensor a, Tensor b, float s=1.0) -> Tensor
  tags: pt2_compliant_tag
  dispatch:
    CPU: muladd
    CUDA, PrivateUse1: muladd
- func: demo::scale_(Tensor(a!) self, float s) -> Tensor(a!)
  variants: method
  dispatch:
    XPU: a::b::scale_
- func: demo::join(Tensor[] xs, Tensor?[] more, Tensor? w=None) -> Tensor
  dispatch:
    CUDA: join
- func: demo::ones(SymInt[] size, *, {OPTIONS}, MemoryFormat? memory_format=None) -> Tensor
  dispatch:
    CPU, CUDA: ones
- func: demo::zeros(SymInt[] size, *, SymInt[]? more=None, {OPTIONS.replace("=None", "").replace("?", "")}) -> Tensor
- func: demo::norm(Tensor self, float p=2.0, int[2] dim=1, str mode='mean') -> Tensor
  variants: function, method
  guard: "#ifndef NO_NORM"
  torch: ">=2.6"
- func: demo::norm.dim(Tensor self, SymInt? p=None, bool[2] flags=[True, False]) -> Tensor
  variants: function, method
  dispatch:
    CompositeImplicitAutograd: norm
- func: demo::norm.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)
- func: relu(Tensor self) -> Tensor
  dispatch:
    PrivateUse1: relu
"""
STRUCTURED = """\
- func: demo::neg(Tensor self) -> Tensor
  structured_delegate: neg.out
- func: demo::neg.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)
  structured: True
  dispatch:
    CPU: neg_out_cpu
"""


def entries() -> str:
    """One operator for each type that an argument or a result can have."""
    lines = [KINDS]
    for index, type_ in enumerate(ARGUMENTS):
        name = type_.replace(",", ", ")
        tags = "  tags: nondeterministic_seeded\n" if "Generator" in type_ else ""
        lines.append(f'- func: "demo::takes_{index}({name} x) -> ()"\n{tags}')
    for index, type_ in enumerate(RETURNS):
        name = type_.replace(",", ", ")
        lines.append(f'- func: "demo::gives_{index}(Tensor x) -> {name}"\n')
    return "".join(lines)


def kernels(header: str) -> str:
    """A kernel for each one that `kernels.h` declares."""
    text = header.replace("#pragma once", "#include <stdexcept>")
    return re.sub(r"\);$", ') { throw std::runtime_error("no kernel"); }', text, flags=re.M)


def test_everything_compiles_and_loads(tmp_path: Path) -> None:
    """As a library is loaded, libtorch compares the type of each kernel with the schema."""
    (tmp_path / "ops.yaml").write_text(entries())
    program = torchgen_lite.load("ops.yaml", config=Config(root=tmp_path), root=tmp_path)
    assert program.diagnostics == ()
    found = generate_all(program, targets=["cpp-torch"]).diagnostics
    assert {one.code for one in found} == {"TG516"}, "most of `takes_` return and write nothing"
    files = torchgen_lite.generate(program, targets=["cpp-torch"])
    write_files(tmp_path, files)
    sources = sorted(path for path in files if path.endswith(".cpp"))
    assert len(sources) == 7
    lines = [
        "#include <demo/functions.h>",
        "#include <demo/methods.h>",
        "#include <demo/redispatch_functions.h>",
        "struct Wrapped : demo::TensorMethods<Wrapped> {",
        "  operator const at::Tensor&() const { return tensor; }",
        "  at::Tensor tensor;",
        "};",
        "at::Tensor call(const Wrapped& wrapped) {",
        "  return wrapped.scale_(2).add(wrapped.norm(2.0)).add(demo::functions::ones({2, 3}));",
        "}",
    ]
    (tmp_path / "calls.cpp").write_text("\n".join(lines) + "\n")
    (tmp_path / "kernels.cpp").write_text(kernels(files["cpp-torch/include/demo/kernels.h"]))
    include = tmp_path / "cpp-torch" / "include"
    compile_library(tmp_path, [*sources, "calls.cpp", "kernels.cpp"], includes=[include])
    program_text = """\
import torch
torch.ops.load_library("./library.so")
names = [name for name in torch._C._dispatch_get_all_op_names() if name.startswith("demo::")]
print(len(names))
print(torch.ops.demo.takes_1.default._schema)
"""
    done = run_forked(["-c", program_text], tmp_path, os.environ)
    own = [f for f in program.functions if f.namespace == "demo"]
    assert done.stdout == f"{len(own)}\ndemo::takes_1(bool? x) -> ()\n", done.stderr


NAMED = """\
- func: aten::cat.names(Tensor[] tensors, Dimname dim) -> Tensor
  torch: "<2.13"
  dispatch: {XLA: cat_names}
"""


@todays_torchgen
def test_a_file_for_several_releases(tmp_path: Path) -> None:
    """The installed one gets what is for it; stubs of the other kernels have types that it lacks."""
    (tmp_path / "ops.yaml").write_text(FLOAT + SCALAR + GROUP + NAMED)
    folder = tmp_path / "made"
    folder.mkdir()
    begin(folder, [tmp_path / "ops.yaml"], [])
    stubs = (folder / "src" / "stubs.cpp").read_text()
    assert "#if TORCHGEN_LITE_TORCH_VERSION < 21300\nat::Tensor cat_names(" in stubs
    build(folder)
    code = """if True:
        import torch
        torch.ops.load_library("./library.so")
        names = torch._C._dispatch_get_all_op_names()
        print(*sorted(name for name in names if name.startswith("my::")))
        print(torch.ops.my.f.default._schema)
        print(torch.ops.my.mul.default._schema)
        try:
            torch.ops.my.add(torch.ones(2), torch.ones(2))
        except RuntimeError as error:
            print(str(error).splitlines()[0])
        """
    done = run_forked(["-c", code], folder, os.environ)
    assert done.stdout.splitlines() == [
        "my::add my::add.out my::f my::mul",
        "my::f(Tensor x, Scalar s) -> Tensor",
        "my::mul(Tensor x, Tensor y, int more) -> Tensor",
        "structured_add::meta is not written yet",
    ], done.stderr


@pytest.mark.parametrize("header", ["methods", "redispatch_functions", "kernels"])
def test_headers_stand_alone(tmp_path: Path, header: str) -> None:
    """Each includes what it uses; the other headers are the first ones of sources, which stand alone, or copied."""
    (tmp_path / "ops.yaml").write_text(entries() + STRUCTURED)
    program = torchgen_lite.load("ops.yaml", config=Config(root=tmp_path), root=tmp_path)
    files = torchgen_lite.generate(program, targets=["cpp-torch"])
    write_files(tmp_path, files)
    (tmp_path / "one.cpp").write_text(f"#include <demo/{header}.h>\n")
    headers = {path.partition("/include/")[2]: text for path, text in files.items()}
    compiler = with_header(long_include(headers[f"demo/{header}.h"], headers))
    include = tmp_path / "cpp-torch" / "include"
    done = check_syntax(tmp_path, "one.cpp", compiler=compiler, includes=[include])
    assert done.ok, done.messages
