"""`kernels`: the functions that the author writes, their places, and their first lines."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.conftest import Result

Run = Callable[..., Result]

OPS = """\
- func: my::scale(Tensor self, *, float by=1, int[]? dim=None) -> Tensor
  dispatch:
    CPU: scale_cpu
    Meta: scale_meta
- func: my::add(Tensor self, Tensor other) -> Tensor
  dispatch:
    CPU, Meta: add_both
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "ops.yaml").write_text(OPS)
    return tmp_path


def configure(folder: Path, target: str, options: str) -> None:
    text = f'schema = ["ops.yaml"]\ntargets = ["{target}"]\n\n[target.{target}]\n{options}'
    (folder / "torchgen_lite.toml").write_text(text)


KERNELS = '''\
"""Kernels."""

import math


def scale_cpu(self, *, by, dim):
    return math.nan
'''
COMPLETE = '''\
"""Kernels."""

from __future__ import annotations

import math

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence
    from torchgen_lite.runtime.framework import Tensor


def scale_cpu(self, *, by, dim):
    return math.nan


def scale_meta(self: Tensor, *, by: float, dim: Sequence[int] | None) -> Tensor:
    raise NotImplementedError("scale_meta")


def add_both(self: Tensor, other: Tensor) -> Tensor:
    raise NotImplementedError("add_both")
'''


def test_missing_kernels_are_begun_in_python(run: Run, folder: Path) -> None:
    configure(folder, "python", 'kernels = ["kernels"]\n')
    (folder / "kernels.py").write_text(KERNELS)
    assert run("generate").code == 1
    assert run("kernels") == Result(
        0,
        """\
scale_cpu   kernels.py:6  CPU of my::scale
scale_meta  missing       Meta of my::scale
add_both    missing       CPU of my::add, Meta of my::add
""",
        "",
    )
    result = run("kernels", "--missing")
    assert result == Result(0, "", "2 functions added to kernels.py: scale_meta, add_both\n")
    assert (folder / "kernels.py").read_text() == COMPLETE
    assert run("kernels", "--missing") == Result(0, "", "Nothing is missing.\n")
    assert (folder / "kernels.py").read_text() == COMPLETE
    assert run("generate").code == 0


@pytest.mark.parametrize("target", ["python", "torch-python"])
@pytest.mark.parametrize(
    ("kernel", "hint"),
    [
        ("impl::f", "that is a name of C++: name a function of Python, or `skip` this"),
        (
            "class",
            "`class` is a reserved word in Python: name another function, as in `CPU: class_`",
        ),
        (
            "kernels.None",
            "`None` is a reserved word in Python: name another function, as in `CPU: None_`",
        ),
    ],
)
def test_a_name_that_python_lacks_is_not_begun(
    run: Run, folder: Path, target: str, kernel: str, hint: str
) -> None:
    """No function of Python can have it, so there is no signature to show either."""
    configure(folder, target, 'kernels = ["kernels"]\n')
    (folder / "ops.yaml").write_text(
        f"- func: my::f(Tensor self) -> Tensor\n  dispatch:\n    CPU, Meta: {kernel}\n"
    )
    (folder / "kernels.py").write_text("")
    said = f"not written, for reasons that `torchgen-lite lint` gives: `{kernel}`\n"
    assert run("kernels", "--missing") == Result(1, "", said)
    assert (folder / "kernels.py").read_text() == ""
    assert run("kernels").stdout == f"{kernel}  missing  CPU of my::f, Meta of my::f\n"
    assert run("kernels", "--check").code == 1
    said = run("generate").stderr
    assert f"error[TG302]: no module of `kernels` defines `{kernel}`" in said
    assert f"= help: {hint}" in said
    assert "def " not in said


@pytest.mark.parametrize("target", ["python", "torch-python"])
@pytest.mark.parametrize("words", ["f", "g as f"])
def test_what_a_module_imports_is_not_begun_in_it(
    run: Run, folder: Path, target: str, words: str
) -> None:
    """The stub took the place of the kernel, and the help was to define it."""
    configure(folder, target, 'kernels = ["kernels"]\n')
    (folder / "ops.yaml").write_text(
        "- func: my::f(Tensor self) -> Tensor\n  dispatch:\n    CPU, Meta: f\n"
    )
    text = f"from others import {words}\n"
    (folder / "kernels.py").write_text(text)
    (folder / "others.py").write_text("def f(self): ...\n")
    assert run("kernels", "--missing").code == 1
    assert (folder / "kernels.py").read_text() == text
    said = run("lint").stderr
    what = "`*`" if words == "*" else "it"
    assert f"= help: `kernels` imports {what}: name the module that defines it" in said
    configure(folder, target, 'kernels = ["kernels", "others"]\n')
    assert run("kernels", "--missing") == Result(0, "", "Nothing is missing.\n")
    assert "TG302" not in run("lint").stderr


def test_an_empty_module(run: Run, folder: Path) -> None:
    configure(folder, "torch-python", 'kernels = ["kernels"]\nfakes = ["kernels"]\n')
    ops = OPS.replace("CPU, Meta", "CPU, CUDA") + "  fake: add_fake\n  vmap: add_vmap\n"
    (folder / "ops.yaml").write_text(ops)
    (folder / "kernels.py").write_text("")
    assert run("kernels", "--missing", "-q").code == 0
    text = (folder / "kernels.py").read_text()
    assert text.startswith("""\
from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence
    from torch import Tensor
    from typing import Any


def scale_cpu(self: Tensor, *, by: float, dim: Sequence[int] | None) -> Tensor:
""")
    assert """
def add_vmap(info: Any, in_dims: tuple[Any, ...], self: Tensor, other: Tensor) -> tuple[Any, Any]:
    raise NotImplementedError("add_vmap")
""" in text
    assert run("generate").code == 0


def test_which_of_several_modules(run: Run, folder: Path) -> None:
    configure(folder, "python", 'kernels = ["one", "two"]\n')
    (folder / "one.py").write_text("def scale_cpu(self, *, by, dim): ...\n")
    (folder / "two.py").write_text("")
    result = run("kernels", "--missing")
    assert result.code == 2 and "`scale_meta` may be in `one.py`, `two.py`: say" in result.stderr
    assert run("kernels", "--missing", "--output", "two.py").code == 0
    assert run("generate").code == 0


SOURCE = """\
#include <toy.h>

namespace my {

toy::Tensor scale_cpu(const toy::Tensor& self) {
  return add_both(self);
}

} // namespace my

#include <my/verify_kernels.h>
"""
BEGUN = """\
#include <toy.h>

namespace my {

toy::Tensor scale_cpu(const toy::Tensor& self) {
  return add_both(self);
}

} // namespace my

#include <torchgen_lite/span.h>
#include <cstdint>
#include <optional>
#include <stdexcept>

namespace my {

toy::Tensor scale_meta(
    const toy::Tensor& self,
    double by,
    std::optional<torchgen_lite::Span<int64_t>> dim) {
  throw std::logic_error("scale_meta is not written yet");
}

toy::Tensor add_both(const toy::Tensor& self, const toy::Tensor& other) {
  throw std::logic_error("add_both is not written yet");
}

} // namespace my

#include <my/verify_kernels.h>
"""


def test_a_missing_kernel_is_an_exit_code(run: Run, folder: Path) -> None:
    configure(folder, "cpp-torch", 'namespace = "my"\n')
    (folder / "cpu.cpp").write_text("Tensor scale_cpu() {}\nTensor add_both() {}\n")
    assert run("kernels", "cpu.cpp").code == 0
    result = run("kernels", "cpu.cpp", "--check")
    assert result.code == 1
    assert result.stderr == "1 function not defined: `scale_meta`\n"
    (folder / "meta.cpp").write_text("Tensor scale_meta() {}\n")
    assert run("kernels", "cpu.cpp", "meta.cpp", "--check").code == 0
    assert run("kernels", "--missing", "--check").code == 2


def test_missing_kernels_are_begun_in_cpp(run: Run, folder: Path) -> None:
    configure(folder, "cpp-runtime", 'tensor = "toy::Tensor"\nheaders = ["toy.h"]\n')
    (folder / "cpu.cpp").write_text(SOURCE)
    assert run("kernels", "cpu.cpp").stdout.startswith("scale_cpu   cpu.cpp:5  CPU of my::scale\n")
    assert run("kernels", "--missing", "cpu.cpp").stdout.splitlines()[1:] == [
        "namespace my { toy::Tensor add_both(const toy::Tensor& self, const toy::Tensor& other); }"
    ]
    assert run("kernels", "--missing", "--output", "cpu.cpp", "-q") == Result(0, "", "")
    assert (folder / "cpu.cpp").read_text() == BEGUN
    assert run("kernels", "--missing", "--output", "cpu.cpp").stderr == "Nothing is missing.\n"
    assert run("kernels", "--missing", "--output", "all.h", "-q").code == 0
    text = (folder / "all.h").read_text()
    assert text.startswith('#pragma once\n\n#include "toy.h"\n')
    assert "toy::Tensor add_both(const toy::Tensor& self, const toy::Tensor& other);\n" in text
    assert run("kernels", "no.cpp").code == 2


def test_functions_of_libtorch_are_there(run: Run, folder: Path) -> None:
    configure(folder, "cpp-torch", "")
    (folder / "ops.yaml").write_text(OPS.replace("scale_cpu", "at::native::scale"))
    assert run("kernels", "--missing").stdout == """\
namespace my { at::Tensor scale_meta(const at::Tensor& self, double by, at::OptionalIntArrayRef dim); }
namespace my { at::Tensor add_both(const at::Tensor& self, const at::Tensor& other); }
"""


RANGES = """\
- func: my::f(Tensor x, float s) -> Tensor
  torch: "<2.13"
  dispatch: {CPU: f_float}
- func: my::f(Tensor x, Scalar s) -> Tensor
  torch: ">=2.13"
  dispatch: {CPU: f}
- func: my::half(Tensor self) -> Tensor
  structured_delegate: half.out
- func: my::half.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)
  torch: ">=2.13"
  structured: True
  dispatch: {CPU: half_out}
- func: my::g(Tensor x) -> Tensor
  dispatch: {CPU: g}
- func: my::h(Tensor x) -> Tensor
  torch: "<2.12"
  dispatch: {CPU: h}
- func: my::h(Tensor x) -> Tensor
  torch: ">=2.13"
  dispatch: {CPU: h}
"""
BY_RELEASE = """\
#include <my/version.h>
#include <my/structured.h>
#include <stdexcept>

namespace my {

#if TORCHGEN_LITE_TORCH_VERSION < 21300
at::Tensor f_float(const at::Tensor& x, double s) {
  throw std::logic_error("f_float is not written yet");
}
#endif

at::Tensor g(const at::Tensor& x) {
  throw std::logic_error("g is not written yet");
}

#if TORCHGEN_LITE_TORCH_VERSION < 21200 || TORCHGEN_LITE_TORCH_VERSION >= 21300
at::Tensor h(const at::Tensor& x) {
  throw std::logic_error("h is not written yet");
}
#endif

#if TORCHGEN_LITE_TORCH_VERSION >= 21300
at::Tensor f(const at::Tensor& x, const at::Scalar& s) {
  throw std::logic_error("f is not written yet");
}
#endif

#if TORCHGEN_LITE_TORCH_VERSION >= 21300
void structured_half::meta(const at::Tensor& self) {
  throw std::logic_error("structured_half::meta is not written yet");
}
#endif

#if TORCHGEN_LITE_TORCH_VERSION >= 21300
void structured_half_out::impl(const at::Tensor& self, const at::Tensor& out) {
  throw std::logic_error("structured_half_out::impl is not written yet");
}
#endif

} // namespace my

#include <my/verify_kernels.h>
"""


def test_kernels_for_other_releases_are_under_their_condition(run: Run, folder: Path) -> None:
    """One release may lack the types of the other."""
    configure(folder, "cpp-torch", "")
    (folder / "src").mkdir()
    (folder / "ops.yaml").write_text(RANGES)
    assert run("kernels", "--missing", "--output", "src/cpu.cpp").code == 0
    assert (folder / "src" / "cpu.cpp").read_text() == BY_RELEASE


@pytest.mark.torch
def test_structured_kernels_of_libtorch_are_there(run: Run, folder: Path) -> None:
    """`at::native::exp_out` calls a stub, and the backend registers what that calls."""
    pytest.importorskip("torch")
    configure(folder, "cpp-torch", 'namespace = "chip"\n')
    (folder / "ops.yaml").write_text("""\
- func: aten::exp.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)
  structured: True
  dispatch: {PrivateUse1: at::native::exp_out, XLA: exp_xla}
""")
    impl = "void structured_exp_xla::impl(const at::Tensor& self, const at::Tensor& out)"
    assert run("kernels", "--missing").stdout == f"namespace chip {{ {impl}; }}\n"
    assert run("generate").code == 0
    text = (folder / "generated/cpp-torch/include/chip/structured.h").read_text()
    assert "#include <ATen/ops/exp_meta.h>\n#include <ATen/ops/exp_native.h>\n" in text
    assert "structured_exp_xla : public" in text and "structured_exp_out" not in text


STRUCTURED = """\
- func: my::half(Tensor self) -> Tensor
  structured_delegate: half.out
- func: my::half.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)
  structured: True
  dispatch: {CPU: half_out, CUDA: half_out}
"""


def test_functions_of_structured_kernels_are_members(run: Run, folder: Path) -> None:
    configure(folder, "cpp-torch", "")
    (folder / "ops.yaml").write_text(STRUCTURED)
    (folder / "cpu.cpp").write_text(
        "#include <my/structured.h>\n\nTORCH_META_FUNC(half)(const at::Tensor& self) {}\n"
    )
    impl = "void structured_half_out::impl(const at::Tensor& self, const at::Tensor& out)"
    assert run("kernels", "cpu.cpp").stdout == (
        "structured_half::meta      cpu.cpp:3  meta of my::half.out\n"
        "structured_half_out::impl  missing    CPU of my::half.out, CUDA of my::half.out\n"
    )
    assert run("kernels", "cpu.cpp", "-v").stdout.endswith(f"CUDA of my::half.out  {impl}\n")
    assert run("kernels", "--missing", "cpu.cpp", "--output", "all.h").stderr == ""
    assert run("kernels", "--missing", "--output", "cpu.cpp").code == 0
    assert f"namespace my {{\n\n{impl} {{\n" in (folder / "cpu.cpp").read_text()
    assert run("kernels", "--missing", "--output", "cpu.cpp").stderr == "Nothing is missing.\n"


@pytest.mark.parametrize("target", ["cpp-torch", "cpp-torch-stable"])
def test_kernels_for_libtorch(run: Run, folder: Path, target: str) -> None:
    configure(folder, target, "")
    assert run("kernels", "--missing", "--output", "cpu.cpp", "-q").code == 0
    text = (folder / "cpu.cpp").read_text()
    assert "Tensor add_both(" in text and text.endswith("\n\n#include <my/verify_kernels.h>\n")


def test_where_no_file_of_cpp_is_given_nothing_is_said_to_be_missing(
    run: Run, folder: Path
) -> None:
    """`kernels` called all of a library missing, which the compiler found, and `--check` failed in CI."""
    configure(folder, "cpp-torch", "")
    listed = run("kernels")
    assert {line.split()[1] for line in listed.stdout.splitlines()} == {"unknown"}
    assert listed.stderr == (
        "C++ functions are looked up in SOURCE, as in `torchgen-lite kernels src/*.cpp`.\n"
    )
    asked = run("kernels", "--check")
    assert (asked.code, asked.stdout) == (2, "")
    assert "C++ functions are looked up in SOURCE" in asked.stderr
    (folder / "empty.cpp").write_text("")
    assert run("kernels", "--check", "empty.cpp").code == 1


@pytest.mark.parametrize(
    ("target", "options"),
    [
        ("cpp-runtime", 'tensor = "my::Tensor"\nnamespace = "my"\n'),
        ("cpp-torch-stable", 'namespace = "my"\n'),
    ],
)
@pytest.mark.parametrize("schema", ["Tensor x, Storage s) -> Tensor", "Tensor x) -> Storage"])
def test_a_kernel_without_a_type_in_cpp_is_named_beside_those_that_are_written(
    run: Run, folder: Path, target: str, options: str, schema: str
) -> None:
    entry = f"- func: my::typeless({schema}\n  dispatch:\n    CPU: typeless_cpu\n"
    (folder / "ops.yaml").write_text(OPS + entry)
    configure(folder, target, options)
    result = run("kernels", "--missing", "--output", "new.cpp")
    assert (result.code, result.stderr) == (
        1,
        "3 functions added to new.cpp: scale_cpu, scale_meta, add_both\n"
        "not written, for reasons that `torchgen-lite lint` gives: `typeless_cpu`\n",
    )
    assert "typeless" in run("lint").stderr
