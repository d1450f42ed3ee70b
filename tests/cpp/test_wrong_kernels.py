"""Wrong kernels don't compile, and the compiler says why at the argument in the schema."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import torchgen_lite
from tests.cpp.compiling import (
    check_syntax,
    needs_compiler,
    with_header,
    with_torch,
    write_files,
)
from torchgen_lite.loader.config.project import Config

pytestmark = [pytest.mark.torch, needs_compiler]

YAML = """\
- func: demo::muladd(Tensor a, Tensor b, float s) -> Tensor
  dispatch:
    CPU: muladd_cpu
    CUDA: muladd_cuda
- func: demo::scale_(Tensor(a!) self, float s) -> Tensor(a!)
  dispatch:
    CPU: kernels::scale_
- func: demo::sum(Tensor[] xs, Tensor? weight=None) -> Tensor
- func: demo::norm(Tensor self, float p=2.0) -> Tensor
- func: demo::norm.dim(Tensor self, float p, int[1] dim) -> Tensor
  dispatch:
    CompositeImplicitAutograd: norm
- func: demo::tile(Tensor self, SymInt[] n) -> Tensor
  dispatch:
    CPU: tile
    Meta: tile_symint
- func: demo::topk(Tensor self, int k) -> Tensor
  dispatch:
    CPU: ::topk
"""
RIGHT = """\
#include <ATen/core/Tensor.h>
namespace demo {
at::Tensor muladd_cpu(const at::Tensor& a, const at::Tensor& b, double s) {
  return a;
}
at::Tensor sum(at::TensorList xs, const std::optional<at::Tensor>& weight) { return xs[0]; }
at::Tensor norm(const at::Tensor& self, double p) { return self; }
at::Tensor norm(const at::Tensor& self, double p, at::IntArrayRef dim) { return self; }
at::Tensor tile(const at::Tensor& self, at::IntArrayRef n) { return self; }
at::Tensor tile_symint(const at::Tensor& self, c10::SymIntArrayRef n) { return self; }
} // namespace demo
namespace kernels {
at::Tensor& scale_(at::Tensor& self, double s) { return self; }
} // namespace kernels
at::Tensor topk(const at::Tensor& self, int64_t k) { return self; }
"""
WRONG = """\
#include <ATen/core/Tensor.h>
namespace demo {
// A flipped type.
at::Tensor muladd_cpu(const at::Tensor& a, const at::Tensor& b, int64_t s);
// A missing argument.
at::Tensor sum(at::TensorList xs);
// A wrong return.
int64_t tile(const at::Tensor& self, at::IntArrayRef n);
// Several of the name, and the second schema has none.
at::Tensor norm(const at::Tensor& self, double p);
at::Tensor norm(const at::Tensor& self, double p, int64_t dim);
} // namespace demo
namespace kernels {
// Two arguments swapped.
at::Tensor& scale_(double s, at::Tensor& self);
} // namespace kernels
at::Tensor topk(const at::Tensor& self, double k);
"""


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("demo")
    (root / "ops.yaml").write_text(YAML)
    program = torchgen_lite.load("ops.yaml", config=Config(root=root), root=root)
    write_files(root, torchgen_lite.generate(program, targets=["cpp-torch"]))
    return root


def syntax(project: Path, text: str, *more: str) -> tuple[bool, list[str]]:
    """Whether a file with the proof at its end compiles, and the lines of what is said."""
    (project / "kernels.cpp").write_text(f"{text}#include <demo/verify_kernels.h>\n")
    include = project / "cpp-torch" / "include"
    compiler = with_header("ATen/core/Tensor.h", "g++")
    done = check_syntax(project, "kernels.cpp", compiler=compiler, flags=more, includes=[include])
    return done.ok, done.messages.splitlines()


def test_right_kernels(project: Path) -> None:
    assert syntax(project, RIGHT) == (True, [])


def errors(lines: list[str]) -> list[str]:
    """What is said, by the name of the file that is shown."""
    return [
        line.replace("error: static assertion failed: ", "").rpartition("include/demo/")[2]
        for line in lines
        if "error" in line
    ]


def test_wrong_kernels(project: Path) -> None:
    ok, lines = syntax(project, WRONG)
    assert not ok
    assert errors(lines) == [
        "verify/muladd.h:4:37: demo::muladd: kernel 'muladd_cpu' must take 'double' for argument 's' (schema: float)",
        "verify/scale_.h:4:17: demo::scale_: kernel 'scale_' must take 'at::Tensor&' for argument 'self' (schema: Tensor(a!))",
        "verify/scale_.h:4:34: demo::scale_: kernel 'scale_' must take 'double' for argument 's' (schema: float)",
        "verify/sum.h:4:4: demo::sum: kernel 'sum' must take 2 arguments",
        "verify/norm_dim.h:4:4: demo::norm.dim: kernel 'norm' must have the types of the schema, and be in no unnamed namespace",
        "verify/tile.h:4:43: demo::tile: kernel 'tile' must return 'at::Tensor' (schema: Tensor)",
        "verify/topk.h:4:28: demo::topk: kernel 'topk' must take 'int64_t' for argument 'k' (schema: int)",
    ]
    text = "\n".join(lines)
    # The compiler adds the schema, with the argument underlined, and the types that it found.
    assert (
        "4 | // demo::muladd(Tensor a, Tensor b, float s) -> Tensor\n      |                                     ^~~~"
        in text
    )
    assert "[with Found = long int; Expected = double]" in text
    assert "[with Found = double; Expected = at::Tensor&]" in text


BY_VALUE = """\
#include <ATen/core/Tensor.h>
namespace demo {
at::Tensor muladd_cpu(at::Tensor a, const at::Tensor& b, double s) { return a; }
at::Tensor tile(const at::Tensor& self, c10::SymIntArrayRef n) { return self; }
} // namespace demo
"""


def test_what_kernels_h_declares_otherwise(project: Path) -> None:
    # libtorch takes the first, but registrations would refer to a function that nothing defines.
    ok, lines = syntax(project, BY_VALUE)
    assert not ok
    assert errors(lines) == [
        "verify/muladd.h:4:17: demo::muladd: kernel 'muladd_cpu' must take 'const at::Tensor&' for argument 'a' (schema: Tensor)",
        "verify/tile.h:4:28: demo::tile: kernel 'tile' must take 'at::IntArrayRef' for argument 'n' (schema: SymInt[])",
    ]


HIDDEN = """\
#include <ATen/core/Tensor.h>
namespace demo {
namespace {
at::Tensor muladd_cpu(const at::Tensor& a, const at::Tensor& b, double s) { return a; }
} // namespace
} // namespace demo
"""


def test_a_kernel_in_an_unnamed_namespace(project: Path) -> None:
    ok, lines = syntax(project, HIDDEN)
    assert not ok
    assert errors(lines)[-1] == (
        "verify/muladd.h:4:4: demo::muladd: kernel 'muladd_cpu' must have the types of the schema, and be in no unnamed namespace"
    )


def test_a_unity_build_has_the_proof_of_every_file(project: Path) -> None:
    include = "#include <demo/verify_kernels.h>\n"
    *first, last, _ = RIGHT.split("\n")
    text = "\n".join([*first, include])
    assert syntax(project, f"{text}{last}\n") == (True, [])
    ok, lines = syntax(project, f"{text}{last.replace('int64_t', 'double')}\n")
    assert not ok
    assert [line.partition(" ")[0] for line in errors(lines)] == ["verify/topk.h:4:28:"]


def test_before_concepts_the_message_is_the_same(project: Path) -> None:
    # PyTorch's headers need C++20 by now; the proof alone does not.
    (project / "plain.cpp").write_text("""\
namespace at { class Tensor; }
namespace demo { struct proof_types { using schema = at::Tensor&(at::Tensor&, double); }; }
#include <demo/kernel_check.h>
namespace demo {
at::Tensor& scale_(at::Tensor& self, long s);
using found = proof::kernel<
    proof_types::schema,
    decltype(proof::look<proof_types::schema>::of(&scale_))>;
static_assert(proof::takes<found::found<0>, found::expected<0>>);
static_assert(proof::gives<found::found_return, found::expected_return>);
static_assert(!proof::takes<found::found<1>, found::expected<1>>);
static_assert(proof::takes<found::found<1>, found::expected<1>>, "'s' is 'float'");
} // namespace demo
""")
    include = project / "cpp-torch" / "include"
    done = check_syntax(project, "plain.cpp", flags=["-std=c++17"], includes=[include])
    lines = [line for line in done.messages.splitlines() if "error" in line]
    assert lines == ["plain.cpp:12:22: error: static assertion failed: 's' is 'float'"]


def test_kernels_h_and_the_proof_exclude_each_other(project: Path) -> None:
    ok, lines = syntax(project, "#include <demo/kernels.h>\n")
    assert not ok
    assert "kernels.h declares every kernel" in errors(lines)[0]


STRUCTURED = """\
- func: demo::neg(Tensor self) -> Tensor
  structured_delegate: neg.out
- func: demo::neg.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)
  structured: True
  dispatch:
    CPU: neg_out_cpu
"""
WRONG_STRUCTURED = """\
#include <demo/structured.h>
namespace demo {
TORCH_META_FUNC(neg)(const at::Tensor& self, int64_t dim) {}
TORCH_IMPL_FUNC(neg_out_cpu)(const at::Tensor& out) {}
} // namespace demo
"""


def test_wrong_structured_kernels(tmp_path: Path) -> None:
    # These are functions of classes, so that the compiler knows by itself; it shows the class.
    (tmp_path / "ops.yaml").write_text(STRUCTURED)
    program = torchgen_lite.load("ops.yaml", config=Config(root=tmp_path), root=tmp_path)
    write_files(tmp_path, torchgen_lite.generate(program, targets=["cpp-torch"]))
    (tmp_path / "kernels.cpp").write_text(WRONG_STRUCTURED)
    include = tmp_path / "cpp-torch" / "include"
    done = check_syntax(tmp_path, "kernels.cpp", flags=with_torch(), includes=[include])
    lines = done.messages.splitlines()
    assert [
        line.partition(" error: no declaration matches ")[2] for line in lines if "error" in line
    ] == [
        "'void demo::structured_neg::meta(const at::Tensor&, int64_t)'",
        "'void demo::structured_neg_out_cpu::impl(const at::Tensor&)'",
    ]
    notes = [line.rpartition("/")[2] for line in lines if "note: candidate is" in line]
    assert [re.sub(r":\d+:\d+: note: candidate is: ", ": ", note) for note in notes] == [
        "structured.h: 'void demo::structured_neg::meta(const at::Tensor&)'",
        "structured.h: 'void demo::structured_neg_out_cpu::impl(const at::Tensor&, const at::Tensor&)'",
    ]
