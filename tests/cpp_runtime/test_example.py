"""examples/cpp_runtime: fresh, proven, and it prints what its README shows. Needs no torch."""

from __future__ import annotations

import os
import re
import shutil
import stat
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.conftest import ROOT, Result
from tests.cpp.compiling import check_syntax, needs_compiler
from tests.cpp_runtime.building import (
    ADDRESS,
    INCLUDE,
    WARNINGS,
    build,
    require_sanitizer,
    together,
)
from tests.cpp_runtime.building import run as run_program
from torchgen_lite import load

EXAMPLE = ROOT / "examples" / "cpp_runtime"
README = (EXAMPLE / "README.md").read_text()
SOURCES = sorted((EXAMPLE / "src").glob("*.cpp"))
GENERATED = sorted((EXAMPLE / "generated").rglob("*.[ch]*"))
INCLUDES = [EXAMPLE / "include", EXAMPLE / "generated" / "cpp-runtime" / "include"]
needs_cmake = pytest.mark.skipif(shutil.which("cmake") is None, reason="CMake is not installed")


def block(start: str) -> str:
    """The code block of the README whose text begins so."""
    blocks: list[str] = re.findall(r"^```\w*\n(.*?)^```", README, flags=re.S | re.M)
    return next(text for text in blocks if text.startswith(start))


@pytest.fixture
def example(tmp_path: Path) -> Path:
    """A copy without anything that was built in it."""
    folder = tmp_path / "cpp_runtime"
    shutil.copytree(EXAMPLE, folder, ignore=shutil.ignore_patterns("build"))
    return folder


def environment(folder: Path) -> dict[str, str]:
    """As after an installation, with a program `torchgen-lite`; and warnings are errors."""
    program = folder / "bin" / "torchgen-lite"
    program.parent.mkdir()
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m torchgen_lite "$@"\n')
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    paths = {"PATH": f"{program.parent}{os.pathsep}{os.environ['PATH']}", "PYTHONPATH": str(ROOT)}
    flags = {"CXXFLAGS": " ".join(WARNINGS), "CMAKE_BUILD_PARALLEL_LEVEL": "2"}
    return {**os.environ, **paths, **flags}


def run_readme(folder: Path, variables: dict[str, str]) -> str:
    """Run the commands of the README in a copy of the example; what the last one prints."""
    *commands, last = block("cmake ").splitlines()
    build = ["sh", "-ec", "\n".join(commands)]
    done = subprocess.run(build, cwd=folder, env=variables, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    done = subprocess.run(last, shell=True, cwd=folder, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


@pytest.mark.slow("the commands of the page build all of it, optimized")
@needs_cmake
@needs_compiler
def test_it_prints_what_its_readme_shows(example: Path) -> None:
    assert run_readme(example, environment(example)) == block("Functions and")
    for path in (example / "generated").rglob("*.[ch]*"):
        assert path.read_bytes() == (EXAMPLE / path.relative_to(example)).read_bytes()


@pytest.mark.slow("compiled with the sanitizers")
@needs_compiler
def test_it_is_clean_under_the_sanitizers(tmp_path: Path) -> None:
    """All is compiled as one file: that is faster, and is allowed."""
    require_sanitizer(ADDRESS, tmp_path)
    generated = [path for path in GENERATED if path.suffix == ".cpp"]
    everything = together([*SOURCES, *generated], tmp_path)
    flags = ("-std=c++17", *ADDRESS, *(f"-I{path}" for path in INCLUDES))
    program = build([everything], tmp_path / "toy", flags)
    assert run_program(program) == block("Functions and")


@needs_compiler
def test_a_wrong_kernel_is_shown_in_the_schema(example: Path) -> None:
    kernels = example / "src" / "cpu.cpp"
    text = kernels.read_text().replace("double alpha", "float alpha")
    assert text != kernels.read_text()
    kernels.write_text(text)
    includes = [INCLUDE, *INCLUDES]
    done = check_syntax(example, "src/cpu.cpp", flags=["-std=c++17"], includes=includes)
    errors = [line for line in done.messages.splitlines() if " error: " in line]
    errors = [f"toy/verify/{line.rpartition('/toy/verify/')[2]}" for line in errors]
    assert errors == block("toy/verify/").splitlines()


@pytest.fixture
def in_example(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(EXAMPLE)


def test_the_generated_files_are_fresh(run: Callable[..., Result], in_example: None) -> None:
    assert run("check").code == 0


def test_cmake_is_told_the_generated_files(run: Callable[..., Result], in_example: None) -> None:
    result = run("list", "outputs", "--output-format", "cmake")
    listed = re.findall(r'"?(generated/[^"\s)]+)', result.stdout)
    assert result.code == 0
    assert sorted(listed) == [path.relative_to(EXAMPLE).as_posix() for path in GENERATED]


def test_every_kernel_is_written_and_proven() -> None:
    """Each file of kernels ends with the proof, and together they have those that the YAML names."""
    texts = [text for path in SOURCES if "verify_kernels.h" in (text := path.read_text())]
    assert len(texts) == 4
    assert all(text.endswith("\n#include <toy/verify_kernels.h>\n") for text in texts)
    program = load("ops.yaml", root=EXAMPLE)
    assert not program.diagnostics
    kernels = {entry.kernel for function in program.functions for entry in function.dispatch}
    assert len(kernels) == 18
    for kernel in kernels:
        assert sum(f" {kernel}(" in text for text in texts) == 1, kernel
