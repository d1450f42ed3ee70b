"""Kernels that are static functions of a class: the class is declared, and one of the author's is proven.

Of PyTorch's headers the proof needs the names of types alone, so that a compiler is all there has to be.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.conftest import ROOT
from tests.cpp.compiling import check_syntax, needs_compiler, write_files
from tests.cpp.stable_library import flags as stable_flags
from torchgen_lite import generate, load
from torchgen_lite.pipeline import generate_all

pytestmark = needs_compiler

FILES = {
    "pytorch.yaml": """\
- func: neg(Tensor self) -> Tensor
- func: mul.Tensor(Tensor self, Tensor other) -> Tensor
- func: mul.Scalar(Tensor self, Scalar other) -> Tensor
- func: flatten(Tensor self) -> Tensor
""",
    "xla.yaml": """\
backend: XLA
cpp_namespace: torch_xla
supported:
  - neg
  - mul.Tensor
  - func: mul.Scalar(Tensor self, Scalar other) -> Tensor
autograd:
  - flatten
""",
    "torchgen_lite.toml": """\
schema = ["xla.yaml"]
native = "pytorch.yaml"
targets = ["cpp-torch"]
[target.cpp-torch]
namespace = "mine"
""",
    "ATen/core/Tensor.h": "#pragma once\nnamespace at { struct Tensor {}; }\n",
    "c10/core/Scalar.h": "#pragma once\nnamespace at { struct Scalar {}; }\n",
    "ATen/core/ATen_fwd.h": """\
#pragma once
namespace c10 {
struct SymInt;
template <class T> class List;
template <class T> class IListRef;
template <class T> class ArrayRef;
template <class T> class OptionalArrayRef;
using SymIntArrayRef = ArrayRef<SymInt>;
} // namespace c10
namespace at {
struct Generator;
struct Scalar;
struct Tensor;
using OptionalSymIntArrayRef = c10::OptionalArrayRef<c10::SymInt>;
} // namespace at
""",
    **dict.fromkeys(
        ("c10/core/SymIntArrayRef.h", "c10/util/ArrayRef.h", "c10/util/OptionalArrayRef.h"), ""
    ),
}
OWN = """\
#include <ATen/core/Tensor.h>
#include <c10/core/Scalar.h>
namespace torch_xla {
struct XLANativeFunctions {
  static at::Tensor neg(const at::Tensor& self);
  static at::Tensor mul(const at::Tensor& self, const at::Tensor& other);
  static at::Tensor mul(const at::Tensor& self, const at::Scalar& other);
  static at::Tensor flatten(const at::Tensor& self);
};
} // namespace torch_xla
"""
DEFINED = """\
#include <mine/XLANativeFunctions.h>
namespace torch_xla {
at::Tensor XLANativeFunctions::neg(const at::Tensor& self) { return self; }
} // namespace torch_xla
"""


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("members")
    write_files(root, FILES)
    write_files(root, generate(load(root=root), targets=["cpp-torch"]))
    return root


def said(project: Path, text: str) -> list[str]:
    """The errors about a file with the proof at its end."""
    (project / "kernels.cpp").write_text(f"{text}#include <mine/verify_kernels.h>\n")
    includes = [project, project / "cpp-torch" / "include"]
    done = check_syntax(project, "kernels.cpp", flags=["-std=c++20"], includes=includes)
    lines = [line for line in done.messages.splitlines() if "error: " in line]
    assert done.ok == (not lines), done.messages
    lines = [line.replace("error: static assertion failed: ", "") for line in lines]
    return [line.removeprefix(f"{includes[1]}/mine/verify/") for line in lines]


@pytest.mark.parametrize(
    "text", ["", "namespace torch_xla {}\n", OWN, DEFINED], ids=["none", "empty", "own", "ours"]
)
def test_right_or_not_there(project: Path, text: str) -> None:
    assert said(project, text) == []


def test_members_of_another_type(project: Path) -> None:
    wrong = OWN.replace("neg(const at::Tensor& self)", "neg(double self)")
    wrong = wrong.replace("const at::Scalar& other", "double other")
    wrong = wrong.replace("at::Tensor flatten", "void flatten")
    assert said(project, wrong) == [
        "neg.h:4:14: aten::neg: kernel 'neg' must take 'const at::Tensor&' for argument 'self' (schema: Tensor)",
        "mul_Scalar.h:4:4: aten::mul.Scalar: kernel 'mul' must have the types of the schema, and be in no unnamed namespace",
        "flatten.h:4:34: aten::flatten: kernel 'flatten' must return 'at::Tensor' (schema: Tensor)",
    ]


def test_a_member_that_the_class_lacks(project: Path) -> None:
    lacking = OWN.replace("  static at::Tensor flatten(const at::Tensor& self);\n", "")
    error = said(project, lacking)[0]
    assert error.startswith("flatten.h:4:")
    assert error.endswith("'flatten' is not a member of 'torch_xla::XLANativeFunctions'")


def test_a_class_in_no_namespace(tmp_path: Path) -> None:
    text = FILES["xla.yaml"].replace(
        "cpp_namespace: torch_xla\n", 'cpp_namespace: ""\nclass_name: Alone\n'
    )
    write_files(tmp_path, {**FILES, "xla.yaml": text})
    write_files(tmp_path, generate(load(root=tmp_path), targets=["cpp-torch"]))
    alone = "at::Tensor Alone::neg(const at::Tensor& self) { return self; }\n"
    for given in ("", f"#include <mine/XLANativeFunctions.h>\n{alone}"):
        assert said(tmp_path, given) == []


OWN_CLASS = """\
- func: lib::neg(Tensor self) -> Tensor
  dispatch:
    CPU: lib::Kernels::neg
- func: lib::scale(Tensor self, Scalar by) -> Tensor
  dispatch:
    CPU: Global::scale
    Meta: scale_meta
"""
KERNELS = """\
#include <ATen/core/Tensor.h>
#include <c10/core/Scalar.h>
namespace lib {
class Kernels {
 public:
  static at::Tensor neg(const at::Tensor& self);
};
at::Tensor scale_meta(const at::Tensor& self, const at::Scalar& by);
} // namespace lib
struct Global {
  static at::Tensor scale(const at::Tensor& self, const at::Scalar& by);
};
"""


def test_classes_of_a_library(tmp_path: Path) -> None:
    settings = 'schema = ["ops.yaml"]\n[target.cpp-torch]\nkernel-headers = ["kernels.h"]\n'
    settings += 'namespace = "mine"\nkernel-classes = ["lib::Kernels", "Global"]\n'
    stubs = {path: text for path, text in FILES.items() if path.endswith(".h")}
    write_files(tmp_path, {**stubs, "ops.yaml": OWN_CLASS})
    (tmp_path / "torchgen_lite.toml").write_text(settings)
    files = generate(load(root=tmp_path), targets=["cpp-torch"])
    write_files(tmp_path, files)
    text = files["cpp-torch/src/register.cpp"]
    assert "&::lib::Kernels::neg>()" in text and "&::Global::scale>()" in text
    assert "Kernels" not in files["cpp-torch/include/mine/kernels.h"]
    for given in ("", KERNELS):
        assert said(tmp_path, given) == []
    wrong = KERNELS.replace("neg(const at::Tensor& self)", "neg(double self)")
    assert said(tmp_path, wrong.replace("scale(const at::Tensor& self", "scale(double self")) == [
        "neg.h:4:13: lib::neg: kernel 'neg' must take 'const at::Tensor&' for argument 'self' (schema: Tensor)",
        "scale.h:4:15: lib::scale: kernel 'scale' must take 'const at::Tensor&' for argument 'self' (schema: Tensor)",
    ]


CUSTOM = """\
backend: XLA
cpp_namespace: torch_xla
supported:
  - neg
custom:
  - func: xla_op(Tensor self) -> Tensor
  - func: xla_op.scaled(Tensor self, float s) -> Tensor
"""
VARIANTS = """\
- func: neg_(Tensor(a!) self) -> Tensor(a!)
- func: neg.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)
"""
TOY = "#pragma once\nnamespace toy { struct Tensor {}; }\n"


@pytest.mark.parametrize("flag", ["", "use_out_as_primary: true\n"])
@pytest.mark.parametrize(
    "target", ["cpp-runtime", pytest.param("cpp-torch-stable", marks=pytest.mark.torch)]
)
def test_the_other_targets_register_members_and_no_variants(
    tmp_path: Path, target: str, flag: str
) -> None:
    table = f'[target.{target}]\nnamespace = "mine"\n'
    if target == "cpp-runtime":
        table += 'tensor = "toy::Tensor"\nheaders = ["toy.h"]\n'
    settings = 'schema = ["xla.yaml"]\nnative = "pytorch.yaml"\n'
    pytorch = FILES["pytorch.yaml"] + VARIANTS
    files = {"xla.yaml": flag + CUSTOM, "pytorch.yaml": pytorch, "toy.h": TOY}
    write_files(tmp_path, {**files, "torchgen_lite.toml": settings + table})
    generated = generate_all(load(root=tmp_path), targets=[target])
    assert [d.message for d in generated.diagnostics if d.code == "TG373"] == (
        []
        if flag
        else [f"target `{target}` does not derive in-place and out variants: `neg.out` and 1 more"]
    )
    write_files(tmp_path, generated.files)
    flags = ["-std=c++17"] if target == "cpp-runtime" else stable_flags()
    includes = [tmp_path, tmp_path / target / "include", ROOT / "torchgen_lite" / "cpp" / "include"]
    done = check_syntax(tmp_path, f"{target}/src/register_xla.cpp", flags=flags, includes=includes)
    assert done.ok, done.messages


def test_a_definition_that_the_class_does_not_declare(project: Path) -> None:
    (error,) = said(project, DEFINED.replace("const at::Tensor&", "at::Tensor"))
    assert error.startswith("kernels.cpp:3:12: error: no declaration matches")
