"""`torchgen_lite_generate` in a CMake project that has nothing to compile."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import ROOT
from tests.cpp.compiling import needs_compiler
from tests.cpp.torch_ops import PROGRAMS, has_programs
from torchgen_lite.cli.listing import render_rows

pytestmark = pytest.mark.skipif(not has_programs("cmake"), reason="CMake is not installed")

GENERATORS = [
    pytest.param(name, marks=pytest.mark.skipif(not has_programs(tool), reason=f"no {tool}"))
    for name, tool in (("Ninja", "ninja"), ("Unix Makefiles", "make"))
]
PROJECT = """\
cmake_minimum_required(VERSION 3.20)
project(consumer LANGUAGES NONE)
find_package(torchgen_lite REQUIRED)
add_custom_target(consumer ALL)
torchgen_lite_generate(TARGET consumer OUTPUTS files {options})
foreach(file IN LISTS files)
  message(STATUS "output ${{file}}")
endforeach()
"""
SCHEMA = "- func: relu(Tensor self) -> Tensor\n"


# Languages may be enabled before or after the package is found, and it may be found twice.
RUNTIME = """\
cmake_minimum_required(VERSION 3.20)
project(consumer LANGUAGES NONE)
find_package(torchgen_lite REQUIRED)
enable_language(CXX)
find_package(torchgen_lite REQUIRED)
find_package(torchgen_lite REQUIRED)
file(WRITE ${CMAKE_BINARY_DIR}/main.cpp "#include <torchgen_lite/runtime.h>\\nint main() {}\\n")
add_executable(consumer ${CMAKE_BINARY_DIR}/main.cpp)
target_link_libraries(consumer PRIVATE torchgen_lite::runtime)
get_target_property(linked torchgen_lite::runtime INTERFACE_LINK_LIBRARIES)
message(STATUS "linked ${linked}")
"""


def run(folder: Path, *command: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PATH": PROGRAMS, "PYTHONPATH": str(ROOT)}
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True)


def configure(folder: Path, generator: str, options: str = "") -> subprocess.CompletedProcess[str]:
    (folder / "CMakeLists.txt").write_text(PROJECT.format(options=options))
    (folder / "torchgen_lite.toml").write_text('schema = "ops.yaml"\ntargets = "python"\n')
    (folder / "ops.yaml").write_text(SCHEMA)
    modules = ROOT / "torchgen_lite" / "cmake"
    command = f"-DTORCHGEN_LITE_COMMAND={sys.executable};-m;torchgen_lite"
    where = ("-S", ".", "-B", "build", "-G", generator)
    return run(folder, "cmake", *where, f"-Dtorchgen_lite_DIR={modules}", command)


def build(folder: Path) -> str:
    done = run(folder, "cmake", "--build", "build")
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def make_old(*paths: Path) -> None:
    for path in paths:
        os.utime(path, (1_000_000_000, 1_000_000_000))


@pytest.mark.parametrize("generator", GENERATORS)
def test_outputs_are_known_at_once_and_made_when_built(tmp_path: Path, generator: str) -> None:
    done = configure(tmp_path, generator)
    assert done.returncode == 0, done.stderr
    outputs = [Path(line.split()[-1]) for line in done.stdout.splitlines() if "output " in line]
    assert tmp_path / "generated/python/ops/ops.py" in outputs
    assert not any(path.exists() for path in outputs)
    assert "torchgen-lite generate for consumer" in build(tmp_path)
    assert all(path.exists() for path in outputs)


@needs_compiler
def test_the_runtime_is_a_target(tmp_path: Path) -> None:
    (tmp_path / "CMakeLists.txt").write_text(RUNTIME)
    modules = ROOT / "torchgen_lite" / "cmake"
    done = run(tmp_path, "cmake", "-S", ".", "-B", "build", f"-Dtorchgen_lite_DIR={modules}")
    assert "-- linked Threads::Threads\n" in done.stdout, done.stderr
    build(tmp_path)


@pytest.mark.parametrize("generator", GENERATORS)
def test_it_runs_again_only_for_a_change(tmp_path: Path, generator: str) -> None:
    configure(tmp_path, generator)
    build(tmp_path)
    assert "torchgen-lite generate" not in build(tmp_path)
    outputs = sorted((tmp_path / "generated").rglob("*.py"))
    make_old(*outputs)
    assert "torchgen-lite generate" not in build(tmp_path), "outputs may be older than the schema"
    (tmp_path / "ops.yaml").write_text(SCHEMA + "- func: neg(Tensor self) -> Tensor\n")
    assert "torchgen-lite generate" in build(tmp_path)
    written = {path.name for path in outputs if path.stat().st_mtime > 1_000_000_000}
    assert "ops.py" in written and "methods.py" not in written
    assert "torchgen-lite generate" not in build(tmp_path)


@pytest.mark.parametrize("generator", GENERATORS)
def test_the_options_go_to_the_command(tmp_path: Path, generator: str) -> None:
    options = "SCHEMA other.yaml GENERATE python OUTPUT_DIR build/made"
    (tmp_path / "other.yaml").write_text(SCHEMA)
    done = configure(tmp_path, generator, options)
    assert f"output {tmp_path}/build/made/python/ops/ops.py" in done.stdout
    build(tmp_path)
    assert (tmp_path / "build/made/python/ops/ops.py").exists()
    assert not (tmp_path / "generated").exists()


def test_a_name_is_one_item_whatever_is_in_it(tmp_path: Path) -> None:
    names = ['a "b"', "$c ${c} $ENV{c}", "d;e", "f\\g", "#[[h]]", "j) message(k)", "@l@"]
    text = render_rows("outputs", [{"name": name} for name in names], "cmake")
    told = 'foreach(name IN LISTS TORCHGEN_LITE_OUTPUTS)\n  message("${name}")\nendforeach()\n'
    (tmp_path / "names.cmake").write_text(text + told)
    assert run(tmp_path, "cmake", "-P", "names.cmake").stderr.splitlines() == names


@pytest.mark.parametrize("generator", GENERATORS)
def test_a_folder_with_quotes_and_dollars(tmp_path: Path, generator: str) -> None:
    folder = tmp_path / 'a "b" $c'
    folder.mkdir()
    done = configure(folder, generator)
    assert f"output {folder}/generated/python/ops/ops.py" in done.stdout, done.stderr
    build(folder)
    assert (folder / "generated/python/ops/ops.py").exists()


@pytest.mark.parametrize("generator", GENERATORS)
def test_a_wrong_schema_stops_the_build_with_its_message(tmp_path: Path, generator: str) -> None:
    configure(tmp_path, generator)
    build(tmp_path)
    (tmp_path / "ops.yaml").write_text("- func: relu(Tensr self) -> Tensor(\n")
    done = run(tmp_path, "cmake", "--build", "build")
    assert done.returncode != 0
    assert "ops.yaml:1:" in done.stdout + done.stderr
    assert "Traceback" not in done.stdout + done.stderr


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ("SCHEMAS ops.yaml", "cannot read"),
        ("GENERATE", "cannot read GENERATE"),
        ("SCHEMA nowhere.yaml", "torchgen-lite list inputs failed"),
    ],
)
def test_mistakes_in_the_call(tmp_path: Path, options: str, message: str) -> None:
    done = configure(tmp_path, "Unix Makefiles", options)
    assert done.returncode != 0
    assert message in " ".join(done.stderr.split())
