"""The tests marked `torch` and the examples, with other releases of PyTorch.

    python -m tests.conformance.releases [--quick] [--only COLUMN]... [--keep] [--work FOLDER] VERSION...
    python -m tests.conformance.releases [--quick] [--only COLUMN]... --python PATH

Each release is installed from the package index into its own environment, which is removed afterwards. The tests
run there part by part, then the examples are built, run and tested. The table of tests/conformance/README.md is
printed: passed tests, with those that are skipped or fail. The exit code is 1 if anything is not as it
should be. Builds with CUDA import on machines without a GPU, and take 5 GB each.

`--python` is for an installed PyTorch, such as your own build: the interpreter of an environment that has it, this
project's extra `test` and TOOLS. Nothing is installed there.

`--quick` leaves out what needs a C++ compiler: a minute or two for each release, after the installation.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple
from xml.etree import ElementTree

from tests.conftest import ROOT, SOURCES
from torchgen_lite.loader.versions import Version, parse_version

# What an environment has besides the project's own test extra; torch is given with its version.
TOOLS = ("pyright==1.1.414", "setuptools>=77", "ninja", "wheel", "expecttest>=0.3")


# Most of what a file costs is libtorch's headers: they are compiled once, with the flags of the first file.
COMPILER = """\
#!/usr/bin/env bash
here=$(dirname "$0")
[[ " $* " == *" -c "* ]] || exec c++ "$@"
exec 9> "$here/lock"
flock 9
if [[ ! -e $here/libtorch.h.gch ]]; then
  printf '#include <torch/%s.h>\\n' library csrc/autograd/VariableTypeUtils > "$here/libtorch.h"
  flags=()
  for ((i = 1; i <= $#; i++)); do
    case ${!i} in -MMD) ;; -MF | -c | -o) ((i++)) ;; *) flags+=("${!i}") ;; esac
  done
  c++ "${flags[@]}" -x c++-header -c "$here/libtorch.h" -o "$here/libtorch.h.gch"
fi
exec 9>&-
exec c++ -include "$here/libtorch.h" "$@"
"""


# PyTorch's CMake files want a whole CUDA toolkit where it was built with CUDA; this does not.
DEVICE = """
from pathlib import Path
from torch.utils.cpp_extension import load

load(
    "libsim",
    ["csrc/device.cpp", *map(str, Path("generated").rglob("*.cpp"))],
    extra_cflags=["-std=c++20", "-O0", "-g0"],
    extra_include_paths=["generated/cpp-torch/include"],
    build_directory="sim",
    is_python_module=False,
)
"""


class Part(NamedTuple):
    """A column: tests below some folders, as `chosen` by pytest's `-k`, or an example.

    `since` is the first release that has what it needs. `compiles` marks what a quick run leaves out.
    """

    title: str
    paths: tuple[str, ...] = ()
    chosen: str = ""
    since: Version = (2, 6)
    compiles: bool = False
    example: str = ""
    abi: str = ""


PARTS = (
    Part("tables", ("tests/conformance",)),
    # How generated code is laid out is the same with every release.
    Part(
        "schemas, code",
        ("tests/unit",),
        "not clang_format and not layout and not black and not init and not typed",
    ),
    Part("torchgen", ("tests/torchgen",), "not cpp_types"),
    Part("stubs", ("tests/torch_stubs",)),
    # The examples have columns of their own.
    Part("opcheck", ("tests/torch_python",), "not example"),
    # Values and gradients move between releases; the reference set follows those of 2.13.
    Part("values", ("reference/tests",), since=(2, 13)),
    Part(
        "C++",
        (
            "tests/cpp",
            "tests/cpp_runtime",
            "tests/hostile",
            "tests/fuzz",
            "tests/torchgen/test_cpp_types.py",
        ),
        "not setuptools and not clang_format",
        since=(2, 13),
        compiles=True,
    ),
    Part("torch_ops", compiles=True, example="torch_ops", abi="classic"),
    # The headers of the stable ABI and backends written in Python need 2.10.
    Part("torch_ops, stable", since=(2, 10), compiles=True, example="torch_ops", abi="stable"),
    Part("torch_backend", since=(2, 10), example="torch_backend"),
    # The device was not tried with earlier releases.
    Part("torch_backend_cpp", since=(2, 9), compiles=True, example="torch_backend_cpp"),
)


def environment(version: str, folder: Path) -> Path:
    """A fresh environment with this torch; its Python."""
    subprocess.run([sys.executable, "-m", "venv", folder], check=True)
    python = folder / "bin" / "python"
    install = [str(python), "-m", "pip", "install", "--quiet"]
    subprocess.run([*install, f"torch=={version}", f"{ROOT}[test]", *TOOLS], check=True)
    return python


def installed(python: Path) -> str:
    """The version of an environment's torch."""
    command = [python, "-c", "import torch; print(torch.__version__)"]
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout.strip()


def run(python: Path, *arguments: object, cwd: Path, **variables: str) -> bool:
    """Whether a program ends well."""
    path = f"{python.parent}{os.pathsep}{os.environ['PATH']}"
    own = {"PATH": path, "CI": "true", **variables}
    command = [str(python), *map(str, arguments)]
    return subprocess.run(command, cwd=cwd, env={**os.environ, **own}, check=False).returncode == 0


def tested(python: Path, *arguments: object, cwd: Path, **variables: str) -> str:
    """`96 passed, 3 skipped` of a run of pytest; "failed" anywhere in it means that something did."""
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "report.xml"
        options = (
            "-m",
            "pytest",
            "-q",
            "--tb=short",
            "-p",
            "no:cacheprovider",
            "--junitxml",
            report,
            "-n",
            os.environ["MAX_JOBS"],
            "--durations=6",
        )
        run(python, *options, *arguments, cwd=cwd, **variables)
        if not report.exists():
            return "failed"
        [suite] = ElementTree.parse(report).getroot()
    counts = {name: int(suite.get(name, 0)) for name in ("tests", "failures", "errors", "skipped")}
    wrong = counts["failures"] + counts["errors"]
    passed = counts["tests"] - wrong - counts["skipped"]
    texts = [f"{passed:,} passed"]
    texts += [f"{counts['skipped']:,} skipped"] if counts["skipped"] else []
    texts += [f"{wrong} failed"] if wrong or not passed else []
    return ", ".join(texts)


def example(python: Path, part: Part, work: Path) -> str:
    """Test a copy of an example: install it if it has to be built, run its program, and run its tests."""
    folder = work / part.example
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(ROOT / "examples" / part.example, folder)
    if part.example == "torch_backend":
        path = os.pathsep.join([str(folder), str(folder / "generated" / "torch-python")])
        if not run(python, "train.py", cwd=folder, PYTHONPATH=path):
            return "failed"
        return tested(python, "generated/torch-python/tests", cwd=folder, PYTHONPATH=path)
    if part.example == "torch_backend_cpp":
        path = os.pathsep.join([str(folder), str(ROOT)])
        for step in (("-m", "torchgen_lite", "generate"), ("-c", DEVICE)):
            if not run(python, *step, cwd=folder, PYTHONPATH=path):
                return "failed"
        return tested(python, "tests", "generated/device-tests", cwd=folder, PYTHONPATH=path)
    site = work / "site"
    shutil.rmtree(site, ignore_errors=True)
    install = ("-m", "pip", "install", "--quiet", "--no-build-isolation", "--no-deps")
    variables = {"TORCH_OPS_ABI": part.abi, "CFLAGS": "-g0"}
    if part.abi == "classic":
        compiler = folder / "compiler"
        compiler.write_text(COMPILER)
        compiler.chmod(0o755)
        variables["CXX"] = str(compiler)
    if not run(python, *install, "--target", site, ".", cwd=folder, **variables):
        return "failed"
    # Beside the installed package, not in the folder, whose own `python/` is not built.
    variables = {"PYTHONPATH": str(site), "TORCH_OPS_ABI": part.abi}
    if not run(python, folder / "demo.py", cwd=work, **variables):
        return "failed"
    return tested(
        python, folder / "generated/torch-python/tests", folder / "tests", cwd=work, **variables
    )


def row(python: Path, version: str, work: Path, parts: tuple[Part, ...]) -> Iterator[str]:
    """The cells of a release, each as soon as it is known."""
    for part in parts:
        begin, before = time.monotonic(), os.times()
        text = cell(python, version, work, part)
        after = os.times()
        used = after.children_user + after.children_system
        used -= before.children_user + before.children_system
        took = f"{time.monotonic() - begin:.0f} s, {used:.0f} of a core"
        print(f"{version}, {part.title}: {text} ({took})", file=sys.stderr, flush=True)
        yield text


def cell(python: Path, version: str, work: Path, part: Part) -> str:
    """`96 passed, 3 skipped`, or `from 2.10`."""
    if parse_version(version) < part.since:
        return f"from {'.'.join(map(str, part.since))}"
    if part.example:
        return example(python, part, work)
    # Collecting the others takes longer than running these.
    roots = [ROOT / path for path in part.paths]
    files = [p for r in roots for p in sorted([r] if r.is_file() else r.rglob("test_*.py"))]
    files = [p for p in files if "mark.torch" in p.read_text()]
    options = ("-m", "torch", "-k", part.chosen, *files)
    return tested(python, *options, cwd=ROOT, PYTHONPATH=os.pathsep.join(SOURCES))


def revision() -> str:
    """What is tested: `c04c588`, or `c04c588-dirty` if files differ from it."""
    if not shutil.which("git"):
        return "unknown"
    command = ["git", "describe", "--always", "--dirty", "--exclude", "*"]
    found = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, text=True, check=False)
    return found.stdout.strip() or "unknown"


def table(rows: Mapping[str, list[str]], parts: tuple[Part, ...]) -> str:
    """Markdown."""
    lines = [["release", "revision", *(part.title for part in parts)], ["---"] * (len(parts) + 2)]
    lines += [[version, *cells] for version, cells in rows.items()]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines)


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("versions", nargs="*", metavar="VERSION")
    parser.add_argument(
        "--python", type=Path, help="test the PyTorch that is installed for this one"
    )
    parser.add_argument("--quick", action="store_true", help="leave out what needs a compiler")
    titles = [part.title for part in PARTS]
    parser.add_argument("--only", action="append", choices=titles, help="a column; repeatable")
    parser.add_argument("--keep", action="store_true", help="leave the environments where they are")
    parser.add_argument("--work", type=Path, help="where they go (default: a temporary folder)")
    parser.add_argument("--jobs", default="2", help="tests and compilers at a time, of 2 GB each")
    arguments = parser.parse_args()
    if bool(arguments.versions) == bool(arguments.python):
        parser.error("give versions or --python")
    os.environ["MAX_JOBS"] = arguments.jobs
    chosen = arguments.only or titles
    parts = tuple(p for p in PARTS if p.title in chosen and not (arguments.quick and p.compiles))
    rows: dict[str, list[str]] = {}
    with tempfile.TemporaryDirectory() as temporary:
        # Not resolved: the interpreter of an environment is a link to another.
        own = Path(os.path.abspath(arguments.python)) if arguments.python else None
        for version in [installed(own)] if own else arguments.versions:
            work = (arguments.work or Path(temporary)).resolve() / version
            work.mkdir(parents=True, exist_ok=True)
            python = own or work / "venv" / "bin" / "python"
            if not python.exists():
                python = environment(version, work / "venv")
            rows[version] = [revision(), *row(python, version, work, parts)]
            if not arguments.keep:
                shutil.rmtree(work)
    print(table(rows, parts))
    return 1 if any("failed" in cell for cells in rows.values() for cell in cells) else 0


if __name__ == "__main__":
    sys.exit(main())
