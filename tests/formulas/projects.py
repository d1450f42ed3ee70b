"""The corpus as a project of each target."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tests.conftest import ROOT, SOURCES
from tests.cpp.compiling import write_files
from tests.forks import COMPILING, run_forked
from tests.formulas.rows import ROWS, SCALARS, WRITES, Row
from torchgen_lite import generate, load
from torchgen_lite.analysis.program import build_program
from torchgen_lite.diagnostics import Source
from torchgen_lite.loader.config.project import Config
from torchgen_lite.loader.formats.native_functions import load_native_functions
from torchgen_lite.pipeline import generate_all

_TORCH_KERNELS = """\
def row(self, other, *_):
    return self * other


def pair(self, other):
    return self * other, self + other


def row_(self, other):
    return self.mul_(other)
"""
_PYTHON_KERNELS = """\
import torchgen_lite_reference as tl


def row(self, other, *_):
    return tl.mul(self, other)


def pair(self, other):
    return tl.mul(self, other), tl.add(self, other)


def row_(self, other):
    return self.mul_(other)
"""
_CPP_KERNELS = """\
#include <ATen/ATen.h>
#include <string_view>

#include <tuple>

namespace corpus {

at::Tensor row(const at::Tensor& self, const at::Tensor& other, const std::optional<at::Tensor>&, at::TensorList, int64_t, std::optional<int64_t>, double, bool, const at::Scalar&, const std::optional<at::Scalar>&, at::IntArrayRef, std::string_view, int64_t, at::IntArrayRef, at::ArrayRef<double>, std::optional<int64_t>, std::optional<int64_t>, std::optional<double>, std::optional<bool>, std::optional<std::string_view>, at::OptionalIntArrayRef) {
  return self * other;
}

std::tuple<at::Tensor, at::Tensor> pair(const at::Tensor& self, const at::Tensor& other) {
  return {self * other, self + other};
}

at::Tensor& row_(at::Tensor& self, const at::Tensor& other) {
  return self.mul_(other);
}

} // namespace corpus
"""
_STABLE_KERNELS = """\
#include <corpus/kernels.h>
#include <torch/csrc/stable/ops.h>

namespace corpus {

using torch::headeronly::HeaderOnlyArrayRef;
using torch::stable::Tensor;

static Tensor times(const char* name, const Tensor& self, const Tensor& other) {
  StableIValue stack[] = {torch::stable::detail::from(self), torch::stable::detail::from(other)};
  TORCH_ERROR_CODE_CHECK(torch_call_dispatcher(name, "Tensor", stack, TORCH_ABI_VERSION));
  return torch::stable::detail::to<Tensor>(stack[0]);
}

Tensor row(const Tensor& self, const Tensor& other, const std::optional<Tensor>&, HeaderOnlyArrayRef<Tensor>, int64_t, std::optional<int64_t>, double, bool, HeaderOnlyArrayRef<int64_t>, const std::string&, int64_t, HeaderOnlyArrayRef<int64_t>, HeaderOnlyArrayRef<double>, std::optional<int64_t>, std::optional<int64_t>, std::optional<double>, std::optional<bool>, const std::optional<std::string>&, const std::optional<std::vector<int64_t>>&) {
  return times("aten::mul", self, other);
}

std::tuple<Tensor, Tensor> pair(const Tensor& self, const Tensor& other) {
  return {times("aten::mul", self, other), torch::stable::subtract(self, other, -1)};
}

Tensor row_(Tensor& self, const Tensor& other) {
  times("aten::mul_", self, other);
  return self;
}

} // namespace corpus
"""


def entry(index: int, row: Row) -> str:
    """One operator of the corpus."""
    kernel = {WRITES: "row_"}.get(row.schema, "pair" if "low" in row.schema else "row")
    name = f"row{index}" + "_" * (row.schema == WRITES)
    tensors = {"self", "other", *(["weight", "xs"] if kernel == "row" else [])} - {row.of}
    without = "".join(f"    {tensor}: not_differentiable\n" for tensor in sorted(tensors))
    formula = json.dumps(row.formula)
    values = "".join(f"      {name}: {json.dumps(value)}\n" for name, value in row.let)
    let = f"    let:\n{values}" if values else ""
    return (
        f"- func: corpus::{name}{row.schema}\n  dispatch: {{CPU: {kernel}}}\n"
        f"  derivatives:\n{let}    {row.of}: {formula}\n{without}"
    )


def schema(target: str, rows: Sequence[Row]) -> str:
    """The entries of the rows that a target has."""
    has = [(index, row) for index, row in enumerate(rows) if not row.is_refused(target)]
    text = "".join(entry(index, row) for index, row in has)
    return text.replace(SCALARS, "") if target == "cpp-torch-stable" else text


def write_project(folder: Path, target: str, rows: Sequence[Row] = ROWS) -> list[str]:
    """Generate the corpus for a target; return the paths of what was generated."""
    write_files(folder, {"corpus.yaml": schema(target, rows)})
    config = f'schema = ["corpus.yaml"]\ntargets = ["{target}"]\n'
    if target == "cpp-torch":
        write_files(folder, {"kernels.cpp": _CPP_KERNELS})
        config += '[target.cpp-torch]\nmodule = ""\n'
    elif target == "cpp-torch-stable":
        write_files(folder, {"kernels.cpp": _STABLE_KERNELS})
        config = 'schema = ["corpus.yaml"]\ntargets = ["cpp-torch-stable", "torch-python"]\n'
        config += '[target.cpp-torch-stable]\nfolder = "stable"\n'
        config += '[target.torch-python]\npackage = "corpus_ops"\nload = "_C"\n'
    elif target == "torch-python":
        write_files(folder, {"corpus_kernels.py": _TORCH_KERNELS})
        config += '[target.torch-python]\npackage = "corpus_ops"\nkernels = ["corpus_kernels"]\n'
    else:
        write_files(folder, {"corpus_kernels.py": _PYTHON_KERNELS})
        config = with_reference(folder)
    write_files(folder, {"torchgen_lite.toml": config})
    files = generate(load(root=folder))
    write_files(folder, files)
    return list(files)


def with_reference(folder: Path) -> str:
    """The reference operators and the corpus, as one package with a dispatcher of its own."""
    shutil.copy(ROOT / "native_functions.yaml", folder)
    kernels = sorted((ROOT / "reference" / "torchgen_lite_reference" / "kernels").glob("[a-z]*.py"))
    modules = [f"torchgen_lite_reference.kernels.{path.stem}" for path in kernels]
    formulas = ROOT / "reference" / "torchgen_lite_reference" / "autograd" / "formulas"
    helpers = [
        f"torchgen_lite_reference.autograd.formulas.{path.stem}"
        for path in formulas.glob("[a-z]*.py")
    ]
    return f"""\
schema = ["native_functions.yaml", "corpus.yaml"]
source-roots = [".", {json.dumps(str(ROOT / "reference"))}]
targets = ["python"]
[target.python]
package = "corpus_ops"
shards = 1
dispatcher = "own"
framework = "torchgen_lite_reference.framework"
kernels = {json.dumps([*modules, "corpus_kernels"])}
formulas = {json.dumps(helpers)}
"""


def run(target: str, folder: Path, module: str = "tests.formulas.programs") -> dict[str, Any]:
    """What each row gives, from a process that has only the code of this target."""
    paths = [folder, folder / "python", folder / "torch-python", *SOURCES]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(map(str, paths))}
    done = run_forked(["-m", module, target], folder, environment, COMPILING)
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def codes(text: str, target: str) -> list[str]:
    """The codes of the errors for a target."""
    source = Source("ops.yaml", text)
    functions, found = load_native_functions([source])
    options = {"torch-python": {"package": "ops", "defines": True}}
    config = Config(Path("nowhere"), target_options=options)
    program = build_program(functions, config, diagnostics=found, sources=[source])
    generated = generate_all(program, targets=[target])
    every = [*program.diagnostics, *generated.diagnostics]
    return sorted({d.code for d in every if d.severity == "error"})
