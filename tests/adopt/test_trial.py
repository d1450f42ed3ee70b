"""`adopt --load`: a library in C++ is built, asked what it registers and tested, before the move and after it."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.adopt.adopted import make_visible
from tests.blocks import PAGES, blocks
from tests.conftest import ROOT, Result
from tests.cpp.compiling import needs_compiler, write_files
from tests.forks import PLAIN, forking_python

pytestmark = [pytest.mark.torch]
Run = Callable[..., Result]
PAGE = PAGES["moving-over"]

TESTS = """\
import sys
import torch

torch.ops.load_library("./library.so")
x = torch.ones(2)
try:
    {}
except RuntimeError as error:
    sys.exit(str(error).partition(" from the ")[0])
print("all pass")
"""
# What was compiled once is not compiled again: the cases share the library that is there before.
BUILD = """\
import shutil
import sys
from hashlib import sha256
from pathlib import Path

Path("together.cpp").unlink(missing_ok=True)
files = [path for ending in ("cpp", "h") for path in sorted(Path().rglob("*." + ending))]
known = Path({cache!r}, sha256(b"".join(path.read_bytes() for path in files)).hexdigest())
if not known.exists():
    sys.path.insert(0, {root!r})
    from tests.cpp.compiling import compile_library

    flags = ["-DKEY=at::kCPU", "-DTORCH_EXTENSION_NAME=mylib", "-DWITH_NORM"]
    includes = [Path(), Path("generated/cpp-torch/include")]
    sources = [str(path) for path in files if path.suffix == ".cpp"]
    compile_library(Path(), sources, flags=flags, includes=includes)
    shutil.copy("library.so", known)
shutil.copy(known, "library.so")
"""
OPS = """\
at::Tensor f(const at::Tensor& x) { return x.clone(); }
TORCH_LIBRARY(lib, m) { m.def("f(Tensor x) -> Tensor", &f); }
"""
PYTHON = """\
import torch

library = torch.library.Library("lib", "DEF")
library.define("f(Tensor x) -> Tensor")
"""


@pytest.fixture(scope="module", name="built")
def what_was_built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("built")


@pytest.fixture(name="folder")
def an_empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder in which every Python is forked from one that has imported PyTorch, and a compiler that takes everything."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("CXX", "true")
    forking_python(tmp_path / "python", PLAIN)
    monkeypatch.setattr(sys, "executable", str(tmp_path / "python"))
    return tmp_path


def command(name: str) -> str:
    return f"./python {name}.py"


MACROS = ("--macro", "TORCH_EXTENSION_NAME=mylib", "--macro", "KEY=at::kCPU")
OPTIONS = ("--load", "library.so", "--build", command("build"), "--test", command("tests"))


def write_library(folder: Path, built: Path, tests: str) -> None:
    """The library of the page, in which the key of a kernel is a macro that the build defines."""
    build = BUILD.format(root=str(ROOT), cache=str(built))
    text = blocks(PAGE, "cpp")[0].replace("at::kCPU", "KEY")
    write_files(folder, {"csrc/ops.cpp": text, "build.py": build, "tests.py": TESTS.format(tests)})
    make_visible(folder / "csrc/ops.cpp")


def report_of(result: Result) -> str:
    """What is said, with the commands of the page."""
    said = result.stderr.replace(command("build"), "make")
    return said.replace(command("tests"), "python tests.py")


@needs_compiler
def test_a_library_that_is_as_before(run: Run, folder: Path, built: Path) -> None:
    write_library(folder, built, "torch.ops.mylib.muladd(x, x)")
    result = run("adopt", *MACROS, *OPTIONS)
    assert (result.code, report_of(result)) == (0, blocks(PAGE, "text")[2])
    assert run("check").code == 0


@needs_compiler
def test_a_table_that_is_another(run: Run, folder: Path, built: Path) -> None:
    """`adopt` is told of another key than the build."""
    write_library(folder, built, "torch.ops.mylib.muladd(x, x)")
    macros = [one.replace("CPU", "CUDA") for one in MACROS]
    result = run("adopt", *macros, *OPTIONS, "--output-format", "json")
    assert result.code == 1
    found = json.loads(result.stdout)
    assert [(one["code"], one["message"], one["help"]) for one in found["diagnostics"]] == [
        (
            "TG618",
            f"`{command('tests')}` ends with exit code 1, after the move",
            "correct what the command reports, or leave the tests out that fail anyway",
        ),
        (
            "TG617",
            "`mylib::muladd` has another dispatch table",
            "CPU: missing, before kernel; CUDA: kernel, before missing",
        ),
    ]
    assert found["lines"] == {"gone": 10, "written": 21}
    built_, passed = {"code": 0, "last": ""}, {"code": 0, "last": "all pass"}
    assert found["before"] == {"build": built_, "test": passed}
    assert found["after"] == {
        "build": built_,
        "test": {"code": 1, "last": "Could not run 'mylib::muladd' with arguments"},
    }
    assert found["compared"] == {
        "differences": ["mylib::muladd"],
        "operators": 2,
        "inferred": 0,
        "added": {"Autograd": 1},
        "absent": [],
    }


@needs_compiler
def test_tests_that_fail_after(run: Run, folder: Path, built: Path) -> None:
    """A kernel made of operators of PyTorch passes forward-mode through, and generated code refuses it."""
    call = "torch.func.jvp(lambda a: torch.ops.mylib.muladd(a, a), (x,), (x,))"
    write_library(folder, built, call)
    result = run("adopt", *MACROS, *OPTIONS)
    assert result.code == 1
    assert report_of(result).rpartition("$ python tests.py\n")[2] == """\
error[TG618]: `python tests.py` ends with exit code 1, after the move
  = help: correct what the command reports, or leave the tests out that fail anyway
  = note: mylib::muladd has no formula for forward-mode: add `derivatives:`, or register the kernel as CompositeImplicitAutograd
build before: exit code 0
test before: exit code 0, all pass
build after: exit code 0
test after: exit code 1, mylib::muladd has no formula for forward-mode: add `derivatives:`, or register the kernel as CompositeImplicitAutograd
2 of 2 operators registered as before: schema, tags, dispatch table
kernels that generated code adds: Autograd (1 operator)
for more: torchgen-lite explain TG618
"""


def test_nothing_moves_if_something_fails_before(run: Run, folder: Path) -> None:
    (folder / "ops.cpp").write_text(OPS)
    (folder / "mylib.py").write_text(PYTHON)
    (folder / "empty.py").write_text("")
    before = {path.name: path.read_bytes() for path in folder.glob("*.*")}
    for options, code, said in (
        (("--load", "mylib", "--build", "echo no; exit 3"), 1, "error[TG618] 'echo no; exit 3' "),
        (
            ("--load", "mylib", "--test", "nowhere_"),
            1,
            "error[TG618] 'nowhere_' ends with exit code 127",
        ),
        (("--load", "missing"), 2, "error[TG012] cannot import 'missing': No module named"),
        (("--load", "missing.so"), 2, "error[TG012] cannot load 'missing.so': "),
        (("--load", "empty"), 2, "error[TG012] 'empty' registers no operator that moves"),
        (("--build", "true"), 2, "Error: `--build` needs `--load`: "),
        (("--test", "true"), 2, "Error: `--test` needs `--load`: "),
        (("--load", "mylib", "--dry-run"), 2, "Error: `--dry-run` writes nothing"),
    ):
        result = run("adopt", *options, "--output-format", "concise")
        assert result.code == code and said in result.stderr, result.stderr
        assert {path.name: path.read_bytes() for path in folder.glob("*.*")} == before


def test_a_library_that_does_not_load_after(run: Run, folder: Path) -> None:
    (folder / "ops.cpp").write_text(OPS)
    (folder / "mylib.py").write_text(f"assert 'm.def' in open('ops.cpp').read()\n{PYTHON}")
    result = run("adopt", "--load", "mylib", "--output-format", "concise")
    assert result.code == 1
    assert "error[TG618] cannot import 'mylib': , after the move" in result.stderr
    assert "\nwhat is registered was not compared\n" in result.stderr


def test_operators_that_are_gone_are_named_where_tests_fail_too(run: Run, folder: Path) -> None:
    (folder / "ops.cpp").write_text(OPS)
    indented = PYTHON.replace("\n", "\n    ").rstrip()
    (folder / "mylib.py").write_text(f"if 'm.def' in open('ops.cpp').read():\n    {indented}\n")
    test = ("--test", "grep -q m.def ops.cpp")
    result = run("adopt", "--load", "mylib", *test, "--output-format", "concise")
    assert result.code == 1
    assert "error[TG618] 'grep -q m.def ops.cpp' ends with exit code 1, after" in result.stderr
    assert "error[TG617] 'lib::f' is no longer registered" in result.stderr


@pytest.mark.parametrize("name", ["generated/cpp-torch/src/register.cpp", "generated"])
def test_what_cannot_be_generated_after_the_move(run: Run, folder: Path, name: str) -> None:
    (folder / "ops.cpp").write_text(OPS)
    (folder / "mylib.py").write_text(PYTHON)
    write_files(folder, {name: "// by hand\n"})
    result = run("adopt", "--load", "mylib", "--output-format", "concise")
    assert result.code == 1
    code = "TG013" if name == "generated" else "TG010"
    assert f"error[{code}] " in result.stderr and "files generated" not in result.stderr


def test_a_source_that_the_build_changes_is_not_written_over(run: Run, folder: Path) -> None:
    (folder / "ops.cpp").write_text(OPS)
    (folder / "mylib.py").write_text(PYTHON)
    build = ("--build", "echo // formatted >> ops.cpp")
    result = run("adopt", "--load", "mylib", *build, "--output-format", "concise")
    said = "error[TG009] cannot write 'ops.cpp': '--build' or '--test' has changed it"
    assert result.code == 2 and said in result.stderr
    assert (folder / "ops.cpp").read_text() == f"{OPS}// formatted\n"
    assert not (folder / "ops.yaml").exists()


def test_a_fallback_makes_no_operator_of_pytorch_the_librarys(run: Run, folder: Path) -> None:
    (folder / "ops.cpp").write_text(OPS)
    more = 'every = torch.library.Library("_", "IMPL")\nevery.fallback(print, dispatch_key="PrivateUse3")\n'
    (folder / "mylib.py").write_text(PYTHON + more)
    result = run("adopt", "--load", "mylib")
    assert "\n0 of 1 operator registered as before: " in result.stderr


def test_a_build_that_compiles_nothing_anew(run: Run, folder: Path) -> None:
    (folder / "ops.cpp").write_text(OPS + OPS.replace("(lib,", "(other,"))
    (folder / "mylib.py").write_text(PYTHON)
    result = run("adopt", "--load", "mylib", "--output-format", "concise", "-q")
    place = f"{folder.resolve()}/mylib.py:3"
    assert (result.code, result.stderr) == (
        1,
        f"error[TG617] generated code does not define 'lib::f' (it is registered at {place}: does the build compile "
        "anew?)\nregistered neither before nor after, so not compared: other::f\n",
    )
