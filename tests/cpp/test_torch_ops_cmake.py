"""examples/torch_ops built with CMake: operators from Python and from C++, and what a change rebuilds."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

from tests.cpp.compiling import compile_library, needs_compiler
from tests.cpp.torch_ops import (
    EXAMPLE,
    GENERATOR,
    TOGETHER,
    configure,
    copy_example,
    needs_cmake,
    run,
    run_example_tests,
    run_python,
)
from tests.forks import COMPILING

pytestmark = [pytest.mark.torch, needs_compiler, needs_cmake]
LIBRARIES = ["torch_ops", "torch_ops_stable"]
# What a program does with the operators; the process that runs the package has never seen it.
MODEL = """\
import sys, torch
library, python, package = sys.argv[1:]
torch.ops.load_library(library)
ops = torch.ops.torch_ops

class Model(torch.nn.Module):
    def forward(self, x, y):
        return ops.smooth_relu(ops.muladd(x, y, 0.5)), *ops.hinge(x, y), ops.column_sums(x)

torch.manual_seed(0)
x, y = torch.randn(2, 5, 4)
"""
EXPORT = """\
sys.path.insert(0, python)
import torch_ops_python  # The fakes.
sizes = {0: torch.export.Dim("rows")}
program = torch.export.export(Model(), (x[:3], y[:3]), dynamic_shapes=(sizes, sizes))
torch.testing.assert_close(program.module()(x, y), Model()(x, y))
torch._inductor.aoti_compile_and_package(program, package_path=package)
"""
RUN = """\
found = torch._inductor.aoti_load_package(package)(x, y)
torch.testing.assert_close(tuple(found), Model()(x, y))
"""


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the example, built in `build` by g++, as most users do; other projects of tests are built quicker."""
    folder = copy_example(tmp_path_factory.mktemp("cmake"))
    configure(folder, *GENERATOR, *TOGETHER, compiler="g++")
    run(folder, "cmake", "--build", "build", "-j", "2")
    return folder


@pytest.mark.parametrize("library", LIBRARIES)
def test_the_operators_work_from_python(built: Path, library: str) -> None:
    path = built / "build" / f"lib{library}.so"
    assert " passed" in run_example_tests(built, TORCH_OPS_LIBRARY=str(path))


@pytest.mark.parametrize("library", LIBRARIES)
def test_programs_with_them_are_exported_and_compiled_ahead_of_time(
    built: Path, library: str, tmp_path: Path
) -> None:
    python = built / "generated" / "torch-python"
    where = (built / "build" / f"lib{library}.so", python, tmp_path / "model.pt2")
    for text in (EXPORT, RUN):
        run_python(tmp_path, "-c", MODEL + text, *where, imported=COMPILING)


@pytest.mark.parametrize("program", ["call_operators", "call_operators_stable"])
def test_the_operators_work_from_cpp(built: Path, program: str) -> None:
    assert run(built, built / "build" / program) == "0 failures\n"


SAME = """\
import sys, torch
from muladd import muladd
sys.path.insert(0, sys.argv[1])
import torch_ops_python  # The fakes.
a, b, grad = torch.randn(3, 2, 2, dtype=torch.double, requires_grad=True)
found = []
for function in (muladd, torch.ops.torch_ops.muladd):
    out = function(a, b, 0.5)
    first = torch.autograd.grad(out, (a, b), grad, create_graph=True)
    second = torch.autograd.grad(first[0].sum(), (b, grad))
    found.append([out, *first, *second])
assert all(map(torch.equal, *found))
"""


def test_what_is_written_by_hand_is_the_same(built: Path) -> None:
    """README counts the lines of examples/torch_ops/by_hand; the tests there pass, and so do comparisons."""
    folder, library = built / "by_hand", built / "build" / "libtorch_ops.so"
    by_hand = compile_library(folder, ["muladd.cpp"], apart=[str(library)])
    load = (
        f"import torch\nfor path in {[str(library), str(by_hand)]}: torch.ops.load_library(path)\n"
    )
    (folder / "conftest.py").write_text(load)
    options = ("-q", "-p", "no:cacheprovider", "-c", os.devnull)
    assert "8 passed" in run_python(folder, "-m", "pytest", *options, imported=COMPILING)
    python = built / "generated" / "torch-python"
    run_python(folder, "-c", load + SAME, python)


def test_what_is_checked_in_is_what_the_build_makes(built: Path) -> None:
    generated = [path for path in (built / "generated").rglob("*") if path.suffix in (".h", ".cpp")]
    assert len(generated) > 20
    for path in generated:
        name = path.relative_to(built)
        assert path.read_bytes() == (EXAMPLE / name).read_bytes(), name


def test_without_torchgen_lite_what_is_checked_in_is_compiled(tmp_path: Path) -> None:
    folder = copy_example(tmp_path)
    configure(folder, "-DCMAKE_DISABLE_FIND_PACKAGE_torchgen_lite=ON")
    targets = run(folder, "ninja", "-C", "build", "-t", "targets", "all")
    assert "torch_ops_stable.dir/generated/cpp-torch-stable/src/register.cpp.o:" in targets
    assert "torch_ops.dir/generated/cpp-torch/src/register.cpp.o:" in targets
    assert "torchgen.stamp" not in targets and "module.cpp" not in targets


@pytest.mark.parametrize(
    ("release", "oldest"),
    [("2.6.0", ""), ("2.9.1", ""), ("2.10.0", "20a"), ("2.12.1", "20c"), ("2.14.1", "20d")],
)
def test_the_stable_library_is_for_what_libtorch_has(
    tmp_path: Path, release: str, oldest: str
) -> None:
    """The substitute for libtorch has only a version; nothing is compiled."""
    folder = copy_example(tmp_path)
    version = f"set(PACKAGE_VERSION {release})\nset(PACKAGE_VERSION_COMPATIBLE TRUE)\n"
    (folder / "TorchConfigVersion.cmake").write_text(version)
    (folder / "TorchConfig.cmake").write_text("set(TORCH_LIBRARIES m)\n")
    options = (f"-DTorch_DIR={folder}", "-DCMAKE_DISABLE_FIND_PACKAGE_torchgen_lite=ON")
    said = run(folder, "cmake", "-S", ".", "-B", "build", "-G", "Ninja", *options)
    commands = run(folder, "ninja", "-C", "build", "-t", "commands")
    assert f"libtorch {release} has not" in said if not oldest else "left out" not in said
    found = set(re.findall("TORCH_TARGET_VERSION=(\\w+)", commands))
    assert found == ({f"0x{oldest}000000000000"} if oldest else set())
    assert ("call_operators_stable" in commands) == bool(oldest)


def mtimes(folder: Path, pattern: str) -> dict[str, int]:
    return {
        path.relative_to(folder).as_posix(): path.stat().st_mtime_ns
        for path in folder.rglob(pattern)
    }


def dependencies(folder: Path) -> dict[str, set[str]]:
    """What each object was compiled from, as ninja knows it."""
    found: dict[str, set[str]] = {}
    current: set[str] = set()
    for line in run(folder, "ninja", "-C", "build", "-t", "deps").splitlines():
        if line.startswith("    "):
            current.add(str((folder / "build" / line.strip()).resolve()))
        elif ".o: " in line:
            current = found.setdefault(line.partition(":")[0], set())
    return found


def test_a_change_compiles_what_it_changes(tmp_path: Path) -> None:
    """The default of an operator is in its schema, and in no other source.

    This is about the stable library, which compiles ten times as fast.
    """
    folder = copy_example(tmp_path)
    build = ("cmake", "--build", "build", "-j", "2", "--target", "torch_ops_stable")
    config = folder / "pyproject.toml"
    table = "[tool.torchgen_lite.target.cpp-torch-stable]\n"
    config.write_text(config.read_text().replace(table, f"{table}shards = 4\n"))
    configure(folder, *GENERATOR)
    run(folder, *build)
    files, objects = mtimes(folder / "generated", "*.*"), mtimes(folder / "build", "*.o")
    schema = folder / "ops.yaml"
    schema.write_text(schema.read_text().replace("float eps=1e-06", "float eps=1e-05"))
    run(folder, *build)
    written = {
        str((folder / "generated" / name).resolve())
        for name, time in mtimes(folder / "generated", "*.*").items()
        if time != files.get(name)
    }
    expected = {name for name, inputs in dependencies(folder).items() if inputs & written}
    times = mtimes(folder / "build", "*.o")
    compiled = {name for name, time in times.items() if time != objects.get(name)}
    assert compiled == expected
    names = sorted(Path(name).name for name in compiled)
    assert names == ["register.cpp.o"]
    assert "ninja: no work to do." in run(folder, *build)
