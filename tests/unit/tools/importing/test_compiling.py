"""What `adopt` compiles before it moves a library, by compilers that say what g++ does."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.conftest import Result
from torchgen_lite_tools.importing.build_flags import flags_of

pytestmark = [pytest.mark.torch]
Run = Callable[..., Result]

LIBRARY = """\
#include "kernels.h"
TORCH_LIBRARY(lib, m) {
  m.def("f(Tensor x) -> Tensor", &f);
  m.def("g(Tensor x) -> Tensor", &g);
}
"""
# A compiler: what it says of the registrations of an operator, and the words that it was given.
COMPILER = """\
#!{python}
import sys
from pathlib import Path

text = Path(sys.argv[-1]).read_text()
Path({seen!r}).write_text("\\n".join(sys.argv[1:]))
said = {said!r}
if {operator!r} in text:
    sys.exit(said.replace("FILE", sys.argv[-1]))
"""


@pytest.fixture(name="folder")
def a_folder_of_a_library(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "library"
    (folder / "csrc").mkdir(parents=True)
    (folder / "csrc/kernels.h").write_text("at::Tensor f(const at::Tensor& x);\n")
    (folder / "csrc/ops.cpp").write_text(
        "at::Tensor g(const at::Tensor& x) { return x; }\n" + LIBRARY
    )
    monkeypatch.chdir(folder)
    return folder


def say(folder: Path, monkeypatch: pytest.MonkeyPatch, operator: str, said: str) -> Path:
    """A compiler that says this where registrations have an operator; where it writes what it was given."""
    seen = folder.parent / "seen"
    text = COMPILER.format(python=sys.executable, seen=str(seen), operator=operator, said=said)
    compiler = folder.parent / "compiler"
    compiler.write_text(text)
    compiler.chmod(0o755)
    monkeypatch.setenv("CXX", str(compiler))
    return seen


@pytest.mark.parametrize(
    ("operator", "said"),
    [
        ("f(Tensor", "lib/verify/f.h:4:1: error: static assertion failed: lib::f: no"),
        ("f(Tensor", "FILE:9:1: error: no\n   10 |   m.impl(h<&::f>());\n      |   ^"),
        ("f(Tensor", "FILE:9:1: note: g\nlib/verify/f.h:4: error: '::f' no\nFILE:1: note: g"),
        ("f(Tensor", "csrc/kernels.h:1:1: error: no"),
    ],
)
def test_what_does_not_compile_stays(
    operator: str, said: str, run: Run, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    say(folder, monkeypatch, operator, said)
    result = run("adopt", "--output-format", "json")
    assert result.code == 1
    found = json.loads(result.stdout)
    assert found["moved"] == ["lib::g"]
    assert found["compiled"] == ["compiled: register.cpp"]
    (problem,) = found["diagnostics"]
    assert (problem["code"], problem["path"]) == ("TG619", "csrc/ops.cpp")
    assert problem["message"] == "what is generated for `lib::f` does not compile"
    assert 'm.def("f(' in (folder / "csrc/ops.cpp").read_text()


def test_an_error_that_names_no_operator(
    run: Run, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = (folder / "csrc/ops.cpp").read_text()
    say(folder, monkeypatch, "TORCH_LIBRARY", "FILE:1:1: error: expected ';'")
    result = run("adopt", "--output-format", "json")
    found = json.loads(result.stdout)
    assert (result.code, found["moved"], len(found["diagnostics"])) == (1, [], 2)
    assert (folder / "csrc/ops.cpp").read_text() == before
    assert not (folder / "ops.yaml").exists()


@pytest.mark.parametrize(
    ("said", "why"),
    [
        ("csrc/kernels.h:1:1: fatal error: cuda.h: No such file or directory", "cuda.h: No such"),
        ("c++: error: unrecognized option '-ffast'", "c++: error: unrecognized"),
        ("/usr/include/other.h:1:1: error: no", "no"),
        ("", "the compiler says nothing"),
    ],
)
def test_what_is_missing_here_is_said(
    said: str, why: str, run: Run, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    say(folder, monkeypatch, "TORCH_LIBRARY", said)
    result = run("adopt")
    assert result.code == 0
    assert f"not compiled: register.cpp: {why}" in result.stderr
    assert "2 operators moved" in result.stderr


def test_without_a_compiler(run: Run, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CXX", "no-such-compiler")
    result = run("adopt", "--dry-run")
    assert "not compiled: there is no C++ compiler\n2 operators would move" in result.stderr


def test_the_flags_of_the_build(run: Run, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    seen = say(folder, monkeypatch, "h(", "")
    (folder / "setup.py").write_text("CppExtension('a', [], include_dirs=['csrc'])\n")
    run("adopt", "--macro", "SIZE=3")
    words = seen.read_text().splitlines()
    torch = [one for one in words if one.startswith("-isystem")]
    assert torch[0].endswith("torch/include") and "python" in torch[2]
    assert words[:2] == [f"-I{folder}/csrc", "-DSIZE=3"]
    assert {f"-I{folder}", "-fsyntax-only"} < set(words)


def test_flags_of_setup(folder: Path) -> None:
    (folder / "setup.py").write_text("""\
here = os.path.dirname(__file__)
CppExtension(
    "lib._C",
    sources,
    include_dirs=[os.path.join(here, "csrc"), "/usr/include/no"],
    extra_compile_args={"cxx": ["-O3", "-DA", "-DB=2"], "nvcc": []},
)
""")
    assert flags_of(folder, []).words == ["-DA", "-DB=2", f"-I{folder}/csrc"]


def test_flags_of_cmake(folder: Path) -> None:
    (folder / "CMakeLists.txt").write_text("""\
set(HEADERS ${CMAKE_CURRENT_SOURCE_DIR}/csrc)
include_directories(SYSTEM ${HEADERS} $<BUILD_INTERFACE:no>)
add_definitions(-DA)
target_compile_definitions(lib PRIVATE B=2)
if(CUDA)
  add_definitions(-DWITH_CUDA)
endif()
""")
    assert flags_of(folder, []).words == [f"-I{folder}/csrc", "-DA", "-DB=2"]


ALSO_READ = "-D A=1 -UB -isystem ../other -iquotethird -fopenmp -mavx2 -I @file"


@pytest.mark.parametrize(
    "word",
    [
        "-fplugin=./evil.so",
        "-wrapper ./evil",
        "-B./evil",
        "-specs=./evil.specs",
        "@evil.rsp",
        "-Xclang -load",
        "-include ./evil.h",
        "-o ops.yaml",
        "-MD",
        "-dumpdir here",
        "-save-temps",
    ],
)
def test_what_a_library_makes_the_compiler_run_or_write_is_left_out(
    folder: Path, word: str
) -> None:
    """Nothing of a library runs before it is built."""
    command = f"c++ -DA {word} -c ops.cpp"
    entry = {"directory": str(folder), "command": command, "file": "ops.cpp"}
    (folder / "compile_commands.json").write_text(json.dumps([entry]))
    assert flags_of(folder, ["ops.cpp"]).words == ["-DA"]


def test_flags_of_compile_commands(folder: Path) -> None:
    (folder / "build").mkdir()
    words = "c++ -DA -I../csrc -std=gnu++17 -Wall -MD -MF x.d -o ops.o -c ../csrc/ops.cpp"
    entry = {"directory": str(folder / "build"), "command": words, "file": "../csrc/ops.cpp"}
    path = folder / "build/compile_commands.json"
    path.write_text(json.dumps([{**entry, "file": "other.cpp"}, entry]))
    flags = flags_of(folder, ["csrc/ops.cpp"])
    assert flags == (folder / "build", ["-DA", "-I../csrc"], [])
    path.write_text(json.dumps([{**entry, "command": words.replace("-DA", ALSO_READ)}]))
    read = "-DA=1 -UB -isystem../other -iquotethird -fopenmp -mavx2 -I@file -I../csrc".split()
    assert flags_of(folder, ["csrc/ops.cpp"]).words == read


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[",
        "[1]",
        "{}x",
        "[{}]",
        '[{"directory": "a", "file": "b"}]',
        "[" * 100_000,
        '[{"directory": 1}]',
    ],
)
def test_a_file_that_lists_no_compilations_is_named(folder: Path, text: str) -> None:
    path = folder / "compile_commands.json"
    path.write_text(text)
    assert flags_of(folder, ["ops.cpp"]) == (folder, [], [path])


def test_a_text_of_a_setup_that_no_path_can_be_names_no_folder(tmp_path: Path) -> None:
    texts = ["a" * 5000, "a/" * 3000, "a\0b", "", "csrc"]
    (tmp_path / "csrc").mkdir()
    (tmp_path / "setup.py").write_text(f"raise RuntimeError({texts!r})\n")
    assert flags_of(tmp_path, ()).words == [f"-I{tmp_path / 'csrc'}"]
