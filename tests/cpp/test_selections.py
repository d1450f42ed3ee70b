"""Kernels that conditions choose, in libraries for PyTorch: as Python says, on both sides of every bound."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path

import pytest

from tests.conftest import ROOT
from tests.cpp.compiling import (
    check_syntax,
    compile_library,
    needs_compiler,
    quick_torch,
    write_files,
)
from tests.cpp.conditions import ARGUMENTS, CONDITIONS, Condition, counted, entries
from tests.cpp.stable_library import build_library
from tests.cpp.stable_library import flags as stable_flags
from tests.forks import run_forked
from torchgen_lite import generate, load

pytestmark = [pytest.mark.torch, needs_compiler]

# What says, of each condition and each call, what C++ and Python chose where they differ.
COMPARED = """
import json
import sys

import torch

from tests.cpp.conditions import ARGUMENTS, CONDITIONS, Facts, calls, said

LIBRARY, LEFT_OUT, NEEDS = json.loads(sys.argv[1])
torch.ops.load_library(LIBRARY)


def tensor(facts):
    base = torch.zeros(256, dtype=getattr(torch, facts.dtype))
    assert base.data_ptr() % 64 == 0
    made = base.as_strided(facts.shape, facts.strides, facts.offset)
    return made.requires_grad_(facts.requires_grad)


def passed(name, value):
    if isinstance(value, Facts):
        return tensor(value)
    return getattr(torch, value) if name == "dtype" and value else value


conditions = [one for one in CONDITIONS if one.needs not in NEEDS and not (set(LEFT_OUT) & set(one.text.split()))]
differ = []
seen = {one.text: set() for one in conditions}
for call in calls(700):
    given = {name: passed(name, value) for name, value in call.items() if name not in LEFT_OUT}
    for number, condition in enumerate(conditions):
        try:
            found = getattr(torch.ops.sel, f"c{number}")(**given)
        except (IndexError, RuntimeError, ValueError):
            found = -1
        expected = said(condition, call)
        seen[condition.text].add(expected)
        if found != expected:
            differ.append((condition.text, found, expected, str(call)))
print(json.dumps([differ[:9], {text: sorted(values) for text, values in seen.items()}]))
"""
# What no call decides otherwise.
ALWAYS = {"65536 * 65536 > n", "true"}


def kernels(declared: str) -> str:
    """The definitions of both kernels, which `kernels.h` declares, and the proof."""
    text = ""
    for name, value in (("yes", 1), ("no_", 0)):
        start = declared.index(f"int64_t {name}(")
        prototype = declared[start : declared.index(";", start)]
        text += f"{prototype} {{\n  return {value};\n}}\n"
    return text


def compare(folder: Path, library: Path, left_out: list[str], needs: list[str]) -> None:
    settings = json.dumps([str(library), left_out, needs])
    (folder / "compared.py").write_text(COMPARED)
    path = os.pathsep.join(filter(None, (str(ROOT), os.environ.get("PYTHONPATH"))))
    environment = {**os.environ, "PYTHONPATH": path, "TORCHGEN_LITE_TRACE": "kernels"}
    done = run_forked(["compared.py", settings], folder, environment)
    assert done.returncode == 0, done.stderr
    # libtorch says more there, of exceptions.
    ran = [line for line in done.stderr.splitlines() if line.startswith("sel::c")]
    assert sorted(ran) == counted(without(left_out, needs), 700)
    differ, seen = json.loads(done.stdout)
    assert differ == []
    assert {text for text, values in seen.items() if not {0, 1} <= set(values)} == ALWAYS


def generated(
    folder: Path, target: str, conditions: list[Condition], left_out: list[str]
) -> Mapping[str, str]:
    names = [name for name in ARGUMENTS if name not in left_out]
    configuration = (
        f'schema = ["ops.yaml"]\ntargets = ["{target}"]\n[target.{target}]\nfolder = "stable"\n'
    )
    write_files(
        folder, {"ops.yaml": entries(conditions, names), "torchgen_lite.toml": configuration}
    )
    program = load(root=folder)
    assert not program.diagnostics
    files = generate(program)
    write_files(folder, files)
    return files


def without(left_out: list[str], needs: list[str]) -> list[Condition]:
    return [
        c for c in CONDITIONS if c.needs not in needs and not set(left_out) & set(c.text.split())
    ]


def test_libtorch_chooses_as_python_does(tmp_path: Path) -> None:
    files = generated(tmp_path, "cpp-torch", CONDITIONS, [])
    includes = "#include <ATen/core/Tensor.h>\nnamespace sel {\n"
    body = kernels(files["stable/include/sel/kernels.h"])
    write_files(tmp_path, {"kernels.cpp": f"{includes}{body}}}\n#include <sel/verify_kernels.h>\n"})
    sources = [path for path in files if path.endswith(".cpp")]
    library = compile_library(
        tmp_path, [*sources], apart=["kernels.cpp"], includes=[tmp_path / "stable" / "include"]
    )
    compare(tmp_path, library, [], [])


def test_the_stable_abi_chooses_as_python_does(tmp_path: Path) -> None:
    left_out = ["a"]
    needs = ["requires_grad"]
    files = generated(tmp_path, "cpp-torch-stable", without(left_out, needs), left_out)
    body = kernels(files["stable/include/sel/kernels.h"])
    includes = (
        '#pragma GCC diagnostic ignored "-Wunused-parameter"\n'
        "#include <torch/csrc/stable/library.h>\n#include <optional>\nnamespace sel {\n"
    )
    write_files(tmp_path, {"kernels.cpp": f"{includes}{body}}}\n"})
    sources = [path for path in files if path.endswith(".cpp")]
    library = build_library(tmp_path, [*sources, "kernels.cpp"])
    compare(tmp_path, library, left_out, needs)


# Kernels of the author's header with other types than those of `kernels.h`.
DECLARED = {
    "cpp-torch": """\
#include <ATen/core/Tensor.h>
#include <vector>
namespace sel {
at::Tensor one(at::Tensor x, std::vector<int64_t> s, std::string mode);
at::Tensor two(const at::Tensor& x, at::IntArrayRef s, c10::string_view mode);
} // namespace sel
""",
    "cpp-torch-stable": """\
#include <torch/csrc/stable/tensor.h>
#include <string>
#include <vector>
namespace sel {
torch::stable::Tensor one(torch::stable::Tensor x, std::vector<int64_t> s, std::string_view mode);
torch::stable::Tensor two(
    const torch::stable::Tensor& x,
    torch::headeronly::HeaderOnlyArrayRef<int64_t> s,
    const std::string& mode);
} // namespace sel
""",
}


@pytest.mark.parametrize("target", DECLARED)
def test_kernels_of_headers_may_have_other_types(target: str, tmp_path: Path) -> None:
    entry = "- func: sel::f(Tensor x, int[] s, str mode) -> Tensor\n  dispatch:\n    CPU:\n"
    rows = "      - {when: len(s) > 1, kernel: one}\n      - two\n"
    options = 'folder = "stable"\nkernel-headers = ["declared.h"]\n'
    configuration = f'schema = ["ops.yaml"]\ntargets = ["{target}"]\n[target.{target}]\n{options}'
    files = {"ops.yaml": entry + rows, "torchgen_lite.toml": configuration}
    write_files(tmp_path, {**files, "declared.h": DECLARED[target]})
    write_files(tmp_path, generate(load(root=tmp_path)))
    compiler = quick_torch() if target == "cpp-torch" else ("g++", *stable_flags())
    includes = [tmp_path, tmp_path / "stable" / "include"]
    done = check_syntax(tmp_path, "stable/src/register.cpp", compiler=compiler, includes=includes)
    assert done == (True, "")
