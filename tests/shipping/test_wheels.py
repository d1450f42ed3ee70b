"""What was generated runs without the generator: wheels of a user's, each installed with nothing else, and called."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.conftest import ROOT, Result
from tests.cpp.compiling import needs_compiler
from tests.shipping.environment import Environment, build_wheel

Run = Callable[..., Result]

OPS = """\
- func: tiny::scale(Tensor self, float factor=2.0) -> Tensor
  dispatch:
    CPU: scale_cpu
"""
CONFIGURATION = """\
schema = ["ops.yaml"]
output-dir = "."
[target.python]
package = "tiny_ops"
kernels = ["tiny.kernels"]
runtime = "{runtime}"
"""
PROJECT = """\
[build-system]
requires = ["hatchling"]
build-backend = "hatchling.build"
[project]
name = "tiny"
version = "1"
[tool.hatch.build.targets.wheel]
packages = ["tiny", "python/tiny_ops"]
"""
KERNELS = """\
from {runtime} import DispatchKey, DispatchKeySet


class Array:
    def __init__(self, value):
        self.value = value
        self._dispatch_keyset = DispatchKeySet(DispatchKey.CPU)


def scale_cpu(self, factor):
    return Array(self.value * factor)
"""
CALL = """\
import sys
import tiny_ops
from tiny.kernels import Array

print(tiny_ops.scale(Array(21)).value, tiny_ops.dispatcher.__class__.__module__)
print(*sorted({name.split(".")[0] for name in sys.modules} & {"black", "jinja2", "torchgen_lite", "yaml"}))
"""


@pytest.fixture
def tiny(run: Run, tmp_path: Path) -> Callable[[str], Path]:
    """A user's wheel, made for a runtime."""

    def build(runtime: str) -> Path:
        project = tmp_path / "project"
        (project / "tiny").mkdir(parents=True)
        (project / "tiny" / "__init__.py").touch()
        module = "tiny_ops.runtime" if runtime == "vendored" else runtime
        (project / "tiny" / "kernels.py").write_text(KERNELS.format(runtime=module))
        (project / "ops.yaml").write_text(OPS)
        (project / "torchgen_lite.toml").write_text(CONFIGURATION.format(runtime=runtime))
        (project / "pyproject.toml").write_text(PROJECT)
        for command in ("generate", "check"):
            done = run(command, "--config", str(project / "torchgen_lite.toml"))
            assert done.code == 0, done.stderr
        return build_wheel(project, tmp_path)

    return build


@pytest.mark.parametrize(
    ("runtime", "home", "others"),
    [
        ("torchgen_lite.runtime", "torchgen_lite.runtime", "torchgen_lite"),
        ("torchgen_lite_runtime", "torchgen_lite_runtime._own.runtime", ""),
        ("vendored", "tiny_ops.runtime", ""),
    ],
)
def test_a_wheel_runs_without_the_generator_on_a_runtime_that_fits(
    tiny: Callable[[str], Path],
    distributions: dict[str, Path],
    tmp_path: Path,
    runtime: str,
    home: str,
    others: str,
) -> None:
    wheels = [tiny(runtime), *([distributions[runtime]] if runtime in distributions else [])]
    installed = Environment(tmp_path / "environment", *wheels)
    assert (
        runtime == "torchgen_lite.runtime"
        or sum(wheel.stat().st_size for wheel in wheels) < 370_000
    )
    assert installed.prints(CALL) == f"42.0 {home}.dispatcher\n{others}\n"
    define = f"from {home} import Library; Library('mine', 'DEF').define('f(Tensor x) -> Tensor')"
    done = installed.run("-c", f"import tiny_ops; {define}")
    refusal = (
        f"DispatcherError: cannot define mine::f(Tensor x) -> Tensor: the runtime in {home} defines what was "
        "generated with it, and reads no schemas; torchgen_lite.runtime and torchgen_lite_runtime do"
    )
    if runtime == "vendored":
        assert refusal in done.stderr
        return
    assert done.returncode == 0, done.stderr
    interface = installed.site.joinpath(*home.split("."), "interface.py")
    text = interface.read_text()
    for number, remedy in ((1, "install a runtime with interface 3"), (4, "generate it again")):
        interface.write_text(text.replace("INTERFACE = 3", f"INTERFACE = {number}"))
        assert installed.run("-c", "import tiny_ops").stderr.splitlines()[-1] == (
            f"ImportError: tiny_ops needs interface 3 of the runtime, but {home} has "
            f"interface {number}: {remedy}"
        )


def test_both_distributions_share_one_dispatcher_or_say_why_not(
    tiny: Callable[[str], Path], distributions: dict[str, Path], tmp_path: Path
) -> None:
    both = Environment(
        tmp_path / "environment", tiny("torchgen_lite_runtime"), *distributions.values()
    )
    program = (
        "import torchgen_lite_runtime, torchgen_lite.runtime\n"
        "import torchgen_lite_runtime.framework, torchgen_lite.runtime.framework\n"
        "names = torchgen_lite.runtime.__all__\n"
        "print(names == torchgen_lite_runtime.__all__,"
        " all(getattr(torchgen_lite_runtime, n) is getattr(torchgen_lite.runtime, n) for n in names),"
        " torchgen_lite_runtime.framework.Tensor is torchgen_lite.runtime.Dispatchable)"
    )
    assert both.prints(program) == "True True True\n"
    assert both.prints(CALL) == "42.0 torchgen_lite.runtime.dispatcher\ntorchgen_lite\n"

    interface = both.site / "torchgen_lite" / "runtime" / "interface.py"
    interface.write_text(interface.read_text().replace("INTERFACE = 3", "INTERFACE = 4"))
    for module in ("torchgen_lite_runtime", "tiny_ops"):
        assert both.run("-c", f"import {module}").stderr.splitlines()[-1] == (
            "ImportError: torchgen_lite_runtime needs interface 3 of the runtime, but torchgen_lite.runtime "
            "has interface 4: install both from the same version of torchgen-lite"
        )


CPP_CONFIGURATION = """\
schema = ["ops.yaml"]
output-dir = "."
targets = ["cpp-runtime"]
[target.cpp-runtime]
tensor = "tiny::Array"
headers = ["array.h"]
runtime = "{runtime}"
"""
CMAKE = """\
cmake_minimum_required(VERSION 3.20)
project(tiny LANGUAGES CXX)
find_package(torchgen_lite REQUIRED)
add_executable(tiny everything.cpp)
target_include_directories(tiny PRIVATE . cpp-runtime/include)
target_link_libraries(tiny PRIVATE torchgen_lite::runtime)
"""
ARRAY = """\
#pragma once
#include <torchgen_lite/keyset_of.h>
namespace tiny {
struct Array {
  double value;
};
} // namespace tiny
template <>
struct torchgen_lite::KeysetOf<tiny::Array> {
  static DispatchKeySet get(const tiny::Array&) {
    return DispatchKeySet(DispatchKey::CPU);
  }
};
"""
PROGRAM = """\
#include <tiny/functions.h>

#include <iostream>

namespace tiny {
Array scale_cpu(const Array& self, double factor) {
  return {self.value * factor};
}
} // namespace tiny

int main() {
  std::cout << tiny::functions::scale(tiny::Array{21}).value << "\\n";
}
"""


def test_a_copy_of_the_runtime_goes_when_it_is_no_longer_asked_for(
    run: Run, tmp_path: Path
) -> None:
    configuration = tmp_path / "torchgen_lite.toml"
    (tmp_path / "ops.yaml").write_text("- func: tiny::scale(Tensor self) -> Tensor\n")
    first = 'schema = ["ops.yaml"]\noutput-dir = "."\n[target.python]\n'
    counts = []
    for runtime in ("vendored", "torchgen_lite_runtime"):
        configuration.write_text(f'{first}runtime = "{runtime}"\n')
        before = run("check", "--config", str(configuration))
        assert before.code == 1
        assert run("generate", "--config", str(configuration)).code == 0
        counts.append(len(list(tmp_path.glob("python/ops/runtime/*.py"))))
    assert counts == [len(list((ROOT / "torchgen_lite" / "runtime").glob("*.py"))), 0]
    assert re.search(r"^orphan +python/ops/runtime/keyset.py", before.stderr, re.M)


@pytest.fixture
def tiny_cpp(run: Run, tmp_path: Path) -> Callable[[str], Path]:
    """A user's project in C++; `everything.cpp` includes its sources, as each would read the dispatcher again."""

    def build(runtime: str) -> Path:
        project = tmp_path / "project"
        project.mkdir()
        configuration = project / "torchgen_lite.toml"
        configuration.write_text(CPP_CONFIGURATION.format(runtime=runtime))
        files = {"ops.yaml": OPS, "array.h": ARRAY, "main.cpp": PROGRAM, "CMakeLists.txt": CMAKE}
        for name, text in files.items():
            (project / name).write_text(text)
        for command in ("generate", "check"):
            done = run(command, "--config", str(configuration))
            assert done.code == 0, done.stderr
        sources = [project / "main.cpp", *sorted((project / "cpp-runtime/src").glob("*.cpp"))]
        everything = "".join(f'#include "{source}"\n' for source in sources)
        (project / "everything.cpp").write_text(everything)
        return project

    return build


@needs_compiler
def test_generated_cpp_compiles_with_what_is_in_its_folder(tiny_cpp: Callable[[str], Path]) -> None:
    project = tiny_cpp("vendored")
    include = project / "cpp-runtime" / "include"
    compiler = ["g++", "-std=c++17", "-pthread", f"-I{include}", f"-I{project}"]
    subprocess.run([*compiler, "everything.cpp", "-o", "tiny"], cwd=project, check=True)
    assert subprocess.check_output([project / "tiny"], text=True) == "42\n"

    interface = include / "torchgen_lite" / "interface.h"
    interface.write_text(interface.read_text().replace("INTERFACE 1", "INTERFACE 2"))
    command = [*compiler, "-fsyntax-only", str(project / "cpp-runtime/src/operators.cpp")]
    done = subprocess.run(command, capture_output=True, text=True)
    [error] = [line for line in done.stderr.splitlines() if "error: " in line]
    assert error.endswith("generated for interface 1 of torchgen_lite: generate it again")


@needs_compiler
@pytest.mark.skipif(shutil.which("cmake") is None, reason="CMake is not installed")
def test_cmake_finds_the_headers_of_the_runtime_alone(
    tiny_cpp: Callable[[str], Path], distributions: dict[str, Path], tmp_path: Path
) -> None:
    installed = Environment(tmp_path / "environment", distributions["torchgen_lite_runtime"])
    project = tiny_cpp("installed")
    found = installed.run("-m", "torchgen_lite_runtime").stdout.strip()
    assert found.startswith(str(installed.site))
    for step in (["-S", ".", "-B", "build", f"-Dtorchgen_lite_DIR={found}"], ["--build", "build"]):
        subprocess.run(["cmake", *step], cwd=project, check=True, capture_output=True)
    assert subprocess.check_output([project / "build" / "tiny"], text=True) == "42\n"
