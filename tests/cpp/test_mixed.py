"""A library with kernels in C++ and in Python: decided for each kernel, with one package."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.conftest import Result
from tests.cpp.compiling import (
    check_syntax,
    compile_library,
    needs_compiler,
    torch_flags,
    write_files,
)
from tests.cpp.torch_ops import run_python
from tests.forks import COMPILING
from torchgen_lite import generate, load
from torchgen_lite.pipeline import lint_targets

Run = Callable[..., Result]
YAML = """\
- func: tiny::twice(Tensor x) -> Tensor
  dispatch: {CPU: twice_cpu}
  fake: {like: x}
- func: tiny::half(Tensor x) -> Tensor
  dispatch: {CPU: half_cpu}
  fake: {like: x}
- func: tiny::thrice(Tensor x) -> Tensor
  dispatch: {CPU: thrice_cpu, CUDA: thrice_triton}
  fake: {like: x}
"""
CONFIG = """\
schema = ["ops.yaml"]
targets = ["{target}", "torch-python"]
[target.torch-python]
kernels = ["tiny.kernels"]
load = "tiny._C"
"""
PYTHON = "def half_cpu(x):\n    return x / 2\n\n\ndef thrice_triton(x):\n    return x * 3\n"
CPP = """\
#include <torch/csrc/stable/ops.h>

namespace tiny {

using torch::stable::Tensor;

static Tensor times(const Tensor& x, float factor) {
  const Tensor out = torch::stable::empty_like(x);
  const auto* from = static_cast<const float*>(x.const_data_ptr());
  auto* to = static_cast<float*>(out.mutable_data_ptr());
  for (int64_t i = 0; i < x.numel(); ++i) {
    to[i] = from[i] * factor;
  }
  return out;
}

Tensor twice_cpu(const Tensor& x) {
  return times(x, 2);
}

Tensor thrice_cpu(const Tensor& x) {
  return times(x, 3);
}

} // namespace tiny

#include <tiny/verify_kernels.h>
"""
CALLS = """\
import torch, tiny_ops
x = torch.tensor([2.0, 4.0])
print(tiny_ops.twice(x).tolist(), tiny_ops.half(x).tolist(), torch.ops.tiny.thrice(x).tolist())
both = torch.compile(lambda x: tiny_ops.half(tiny_ops.twice(x)), fullgraph=True, backend="eager")
print(both(x).tolist())
has = torch._C._dispatch_has_kernel_for_dispatch_key
print([has(f"tiny::{name}", key) for name in ("twice", "half", "thrice") for key in ("CPU", "CUDA")])
"""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    return write_project(tmp_path, "cpp-torch-stable")


def write_project(folder: Path, target: str, more: str = "") -> Path:
    config = CONFIG.format(target=target) + more
    files = {"ops.yaml": YAML, "torchgen_lite.toml": config, "kernels.cpp": CPP}
    write_files(folder, {**files, "tiny/__init__.py": "", "tiny/kernels.py": PYTHON})
    return folder


@needs_compiler
@pytest.mark.torch
def test_one_package_calls_both(project: Path) -> None:
    write_files(project, generate(load(root=project)))
    generated = project / "cpp-torch-stable"
    sources = ["kernels.cpp", *(str(path) for path in (generated / "src").glob("*.cpp"))]
    library = compile_library(project, sources, includes=[generated / "include"])
    library.rename(project / "tiny" / "_C.so")
    where = {"PYTHONPATH": f"{project}:{project / 'torch-python'}"}
    assert run_python(project, "-c", CALLS, imported=COMPILING, **where).splitlines() == [
        "[4.0, 8.0] [1.0, 2.0] [6.0, 12.0]",
        "[2.0, 4.0]",
        "[True, False, True, False, True, True]",
    ]


@needs_compiler
@pytest.mark.torch
def test_a_kernel_that_both_have_is_refused_by_name(project: Path) -> None:
    write_files(project, generate(load(root=project)))
    (project / "kernels.cpp").write_text(CPP.replace("thrice_cpu", "half_cpu"))
    include = project / "cpp-torch-stable" / "include"
    done = check_syntax(project, "kernels.cpp", flags=torch_flags(), includes=[include])
    [error] = [line for line in done.messages.splitlines() if ": error: " in line]
    assert error.partition(": error: ")[2] == (
        "'const tiny::function_of_python tiny::half_cpu' redeclared as different kind of entity"
    )


@pytest.mark.parametrize("target", ["cpp-torch", "cpp-torch-stable"])
def test_each_kernel_is_generated_once(tmp_path: Path, target: str) -> None:
    program = load(root=write_project(tmp_path, target))
    assert [d.code for d in lint_targets(program)] == []
    files = generate(program)
    declared = files[f"{target}/include/tiny/kernels.h"]
    in_cpp = {name for name in ("twice_cpu", "thrice_cpu") if f" {name}(" in declared}
    assert in_cpp == {"twice_cpu", "thrice_cpu"}
    assert "half_cpu" not in declared and "thrice_triton" not in declared
    assert f"{target}/src/register_cuda.cpp" not in files
    python = files["torch-python/tiny_ops/_operators.py"]
    assert "defines=False" in python
    assert '"half_cpu"' in python and '"thrice_triton"' in python and "twice_cpu" not in python


LEFT_OUT = """\
- func: tiny::halved(Tensor x) -> Tensor
  dispatch: {CPU: half_cpu}
  fake: {like: x}
- func: tiny::keyword(Tensor x, *, int lambda) -> Tensor
  dispatch: {CPU: keyword_cpu}
  fake: {like: x}
"""


@pytest.mark.parametrize("target", ["cpp-torch", "cpp-torch-stable"])
def test_the_kernels_of_an_operator_that_python_leaves_out_are_in_cpp(
    tmp_path: Path, target: str
) -> None:
    """Which it skips, or cannot have; a kernel may be that of another operator, too, which Python has."""
    write_project(tmp_path, target, 'skip = ["tiny::halved"]\n')
    (tmp_path / "ops.yaml").write_text(YAML + LEFT_OUT)
    with (tmp_path / "tiny" / "kernels.py").open("a") as kernels:
        kernels.write("\n\ndef keyword_cpu(x, **kwargs):\n    return x\n")
    files = generate(load(root=tmp_path))
    declared = files[f"{target}/include/tiny/kernels.h"]
    assert " half_cpu(" in declared and " keyword_cpu(" in declared
    proof = files[f"{target}/include/tiny/verify_kernels.h"]
    assert "function_of_python thrice_triton;" in proof and "half_cpu" not in proof
    registered = files[f"{target}/src/register.cpp"]
    assert '"halved"' in registered and '"keyword"' in registered
    assert '"half", TORCH_' not in registered
    python = files["torch-python/tiny_ops/_operators.py"]
    assert '"half_cpu"' in python and "keyword_cpu" not in python and "halved" not in python


@needs_compiler
@pytest.mark.torch
def test_a_function_of_python_may_have_a_name_that_is_a_keyword_of_cpp(project: Path) -> None:
    for name, text in (("ops.yaml", YAML), ("tiny/kernels.py", PYTHON)):
        (project / name).write_text(text.replace("half_cpu", "delete"))
    files = generate(load(root=project))
    write_files(project, files)
    include = project / "cpp-torch-stable" / "include"
    assert "function_of_python delete_;" in (include / "tiny" / "verify_kernels.h").read_text()
    assert '"delete"' in files["torch-python/tiny_ops/_operators.py"]
    done = check_syntax(project, "kernels.cpp", flags=torch_flags(), includes=[include])
    assert done.messages == ""


STRUCTURED = """\
- func: tiny::scale.out(Tensor x, float s, *, Tensor(a!) out) -> Tensor(a!)
  structured: True
  dispatch: {CPU: scale_out}
- func: tiny::scale(Tensor x, float s) -> Tensor
  structured_delegate: scale.out
"""


@pytest.mark.parametrize(
    ("function", "found"),
    [
        ("scale", []),
        (
            "scale_out",
            ["kernel `scale_out` is a structured class, and Python has a function of that name"],
        ),
    ],
)
def test_a_structured_kernel_is_no_function_of_python(
    tmp_path: Path, function: str, found: list[str]
) -> None:
    """Both languages would register it: a class of C++ serves every variant, a function one of them."""
    folder = write_project(tmp_path, "cpp-torch")
    (folder / "ops.yaml").write_text(STRUCTURED)
    (folder / "tiny/kernels.py").write_text(f"def {function}(x, s, *, out): ...\n")
    diagnostics = lint_targets(load(root=folder))
    assert [d.message for d in diagnostics if d.code == "TG513"] == found


def test_tables_show_both(project: Path, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(project)
    for name, kernel in (("twice", "twice_cpu"), ("half", "half_cpu")):
        for target in ("cpp-torch-stable", "torch-python"):
            table = run("table", f"tiny::{name}", "--target", target, "--key", "CPU").stdout
            assert kernel in table
        assert f"=> kernel: {kernel}\n" in run("why", f"tiny::{name}", "CPU").stdout
    missing = run("kernels", "--missing").stdout
    assert "twice_cpu" in missing and "half_cpu" not in missing


def test_python_that_defines_has_every_kernel(tmp_path: Path) -> None:
    """They are two libraries then, each with all kernels."""
    program = load(root=write_project(tmp_path, "cpp-torch", "defines = true\n"))
    found = [(d.code, d.message) for d in lint_targets(program)]
    names = ("twice_cpu", "thrice_cpu")
    assert found == [("TG302", f"no module of `kernels` defines `{name}`") for name in names]
