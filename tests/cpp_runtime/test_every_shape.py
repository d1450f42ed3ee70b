"""Generated code for every shape of argument and for odd names: it compiles, runs, and is formatted."""

from __future__ import annotations

import re
import shutil
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

import torchgen_lite
from tests.cpp.compiling import (
    QUICK,
    check_syntax,
    needs_compiler,
    write_files,
)
from tests.cpp_runtime.building import ADDRESS, INCLUDE, build, require_sanitizer, run, together

SHAPES = Path(__file__).parent / "every_shape"
GUARDED = ("-std=c++17", "-DSHAPES_GUARDED")
NEWER = ("-std=c++20", "-Wall")
# Beside g++ with the first of them, which compiles each file alone.
ALSO = [("g++", NEWER), *[(QUICK, options) for options in (GUARDED, NEWER) if QUICK != "g++"]]


@pytest.fixture(scope="module")
def shapes(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The project with its generated files."""
    folder = tmp_path_factory.mktemp("shapes") / "project"
    shutil.copytree(SHAPES, folder)
    program = torchgen_lite.load(root=folder)
    assert not program.diagnostics
    write_files(folder, torchgen_lite.generate(program))
    return folder


def sources(folder: Path) -> list[Path]:
    return sorted((folder / "cpp-runtime" / "src").glob("*.cpp"))


def flags(folder: Path) -> tuple[str, ...]:
    return (f"-I{folder}", f"-I{folder / 'cpp-runtime' / 'include'}")


@pytest.mark.slow("compiled with the sanitizers")
@needs_compiler
def test_calls_arrive_and_come_back(shapes: Path, tmp_path: Path) -> None:
    """The generated sources are compiled as one, which shows that they can be."""
    require_sanitizer(ADDRESS, tmp_path)
    everything = together(sources(shapes), tmp_path)
    options = ("-std=c++17", *ADDRESS, *flags(shapes))
    program = build([shapes / "checks.cpp", everything], tmp_path / "checks", options)
    found = re.fullmatch(r"(\d+) checked, 0 failed\n", run(program))
    assert found is not None and int(found[1]) > 50


@pytest.fixture(scope="module")
def alone(shapes: Path) -> Path:
    """A folder with the generated sources, one for each header, and `everything.cpp`, which includes all of them."""
    texts = {path.name: path.read_text() for path in sources(shapes)}
    # Those of the methods are a part of the framework's.
    for header in ("functions.h", "kernels.h", "kernel_check.h", "operators.h"):
        texts[f"{header}.cpp"] = f"#include <shapes/{header}>\n" * 2
    folder = shapes / "alone"
    write_files(folder, texts)
    together([folder / name for name in sorted(texts)], folder)
    return folder


def check(alone: Path, compiler: str, options: Sequence[str], sources: Sequence[str]) -> None:
    include = alone.parent / "cpp-runtime" / "include"
    first, *others = sources
    flags = [*options, "-Wpedantic", *others]
    includes = [alone.parent, include, INCLUDE]
    done = check_syntax(alone, first, compiler=[compiler], flags=flags, includes=includes)
    assert done == (True, "")


@needs_compiler
def test_every_file_compiles_alone(alone: Path) -> None:
    """By the older standard, whose library includes less by itself."""
    files = sorted(path.name for path in alone.iterdir() if path.name != "everything.cpp")
    check(alone, "g++", GUARDED, files)


@needs_compiler
@pytest.mark.parametrize(("compiler", "options"), ALSO)
def test_every_file_compiles(alone: Path, compiler: str, options: tuple[str, str]) -> None:
    check(alone, compiler, options, ["everything.cpp"])


@pytest.fixture(scope="module")
def pytorch(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Typed calls of all operators of PyTorch, for the tensor of `framework.h`."""
    folder = tmp_path_factory.mktemp("pytorch")
    text = (SHAPES / "framework.h").read_text()
    # No methods, so its headers may be included as any others.
    text = text.replace("#include <shapes/methods.h>\n", "struct Nothing {};\n")
    text = text.replace("#include <shapes/operators.h>\n", "")
    text = text.replace("shapes::TensorMethods<Tensor>", "Nothing")
    write_files(folder, {"framework.h": text})
    program = torchgen_lite.load(root=SHAPES, torch=True)
    options = program.config.target_options["cpp-runtime"]
    types = options["types"]
    assert isinstance(types, dict)
    more = dict.fromkeys(("MemoryFormat", "QScheme"), "fw::Dtype")
    settings = {"cpp-runtime": {**options, "types": {**types, **more}}}
    program = replace(program, config=replace(program.config, target_options=settings))
    write_files(folder, torchgen_lite.generate(program, targets=["cpp-runtime"]))
    return folder


@pytest.mark.torch
@needs_compiler
def test_all_of_pytorchs_operators_compile(pytorch: Path) -> None:
    """Every declaration, and the definitions of one shard in sixteen."""
    text = '#include <aten_ops/functions.h>\n#include "cpp-runtime/src/operators_3.cpp"\n'
    write_files(pytorch, {"all.cpp": text})
    includes = [pytorch, pytorch / "cpp-runtime" / "include", INCLUDE]
    done = check_syntax(pytorch, "all.cpp", flags=["-std=c++17", "-Wpedantic"], includes=includes)
    assert done == (True, "")
    names = {path.name for path in sources(pytorch)}
    assert names == {f"operators_{shard}.cpp" for shard in range(16)}
    structs = sum(
        path.read_text().count("\nstruct ")
        for path in (pytorch / "cpp-runtime" / "include").rglob("operators_*.h")
    )
    assert structs > 3000
