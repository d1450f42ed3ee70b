"""The C++ runtime says what the Python one says, and is clean under the sanitizers. Needs only g++."""

from __future__ import annotations

import re
import subprocess
import sysconfig
import warnings
from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.cpp.compiling import needs_clang_format, needs_compiler, unformatted
from tests.cpp_runtime.write_vectors import vectors

HERE = Path(__file__).parent
INCLUDE = HERE.parents[1] / "torchgen_lite" / "cpp" / "include"
HEADERS = sorted((INCLUDE / "torchgen_lite").glob("*.h"))
WARNINGS = ("-Wall", "-Wextra", "-Wpedantic", "-Werror")
# Those that users of the headers may have on, too.
MORE_WARNINGS = ("-Wshadow", "-Wconversion", "-Wsign-conversion", "-Wold-style-cast")
CHECKED_FORMAT = [*HEADERS, *sorted(HERE.glob("*.cpp")), *sorted((HERE / "unit").iterdir())]
DOC = HERE.parents[1] / "docs" / "cpp-runtime.md"
ADDRESS = ("-O0", "-g", "-fsanitize=address,undefined", "-fno-sanitize-recover=all")
THREAD = ("-O1", "-g", "-fsanitize=thread")


def build(sources: Sequence[Path], program: Path, flags: Sequence[str]) -> Path:
    command = ["g++", *WARNINGS, *flags, f"-I{INCLUDE}", *map(str, sources), "-o", str(program)]
    done = subprocess.run([*command, "-pthread"], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return program


def run(program: Path, *arguments: str) -> str:
    done = subprocess.run([str(program), *arguments], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def require_sanitizer(flags: Sequence[str], folder: Path) -> None:
    """Skip where the sanitizer's run-time library is missing, or cannot run on this system."""
    source = folder / "probe.cpp"
    source.write_text("int main() {}\n")
    probe = folder / "probe"
    command = ["g++", *flags, str(source), "-o", str(probe)]
    for step in (command, [str(probe)]):
        if subprocess.run(step, capture_output=True).returncode != 0:
            pytest.skip(f"{flags[-1]} does not run here")


@pytest.fixture(scope="module")
def lines(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The vectors, written anew by the Python runtime."""
    path = tmp_path_factory.mktemp("vectors") / "vectors.txt"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # The scripts override kernels on purpose.
        path.write_text(vectors())
    return path


def test_headers_are_short() -> None:
    """The generated one is a table."""
    lengths = {path.name: len(path.read_text().splitlines()) for path in HEADERS}
    del lengths["key_tables.h"]
    assert max(lengths.values()) < 400, lengths


@needs_compiler
@pytest.mark.parametrize(
    "flags", [("-std=c++17", "-O1"), ("-std=c++20", *ADDRESS)], ids=["plain", "sanitized"]
)
def test_vectors(lines: Path, tmp_path: Path, flags: tuple[str, ...]) -> None:
    if ADDRESS[-1] in flags:
        require_sanitizer(ADDRESS, tmp_path)
    found = run(build([HERE / "vectors.cpp"], tmp_path / "vectors", flags), str(lines))
    counts = {what: int(count) for what, count in re.findall(r"(.*): (\d+)\n", found)}
    text = lines.read_text()
    for what in ("key", "former", "backend", "named", "set", "state", "table", "call"):
        assert counts[what] == len(re.findall(rf"^{what} ", text, flags=re.M)) > 0, what
    assert counts["callBoxed"] == counts["call"] > 2000
    # Enough of the calls run kernels, or end as they must.
    ends = [line.rpartition(" ")[2] for line in text.splitlines() if line.startswith("call ")]
    assert sum("@" in end for end in ends) > 500
    assert {"missing", "ambiguous", "error"} <= set(ends)


@needs_compiler
@pytest.mark.parametrize(
    "flags",
    [("-std=c++20", "-O0", "-fno-rtti", "-fvisibility=hidden"), ("-std=c++17", *ADDRESS)],
    ids=["without type information", "sanitized"],
)
def test_unit(tmp_path: Path, flags: tuple[str, ...]) -> None:
    if ADDRESS[-1] in flags:
        require_sanitizer(ADDRESS, tmp_path)
    sources = sorted((HERE / "unit").glob("*.cpp"))
    found = run(build(sources, tmp_path / "unit", flags))
    assert int(found.split()[0]) > 300


@needs_compiler
def test_threads_register_and_call(tmp_path: Path) -> None:
    require_sanitizer(THREAD, tmp_path)
    program = build([HERE / "stress.cpp"], tmp_path / "stress", ("-std=c++17", *THREAD))
    assert re.fullmatch(r"\d+ calls, 0 wrong\n", run(program, "4000"))


@needs_compiler
def test_shared_libraries_have_one_dispatcher(tmp_path: Path) -> None:
    flags = ("-std=c++17", "-O1", "-fPIC", "-fvisibility=hidden")
    plugin = build([HERE / "plugin.cpp"], tmp_path / "libplugin.so", (*flags, "-shared"))
    host = build(
        [HERE / "host.cpp", HERE / "host_schema.cpp"], tmp_path / "host", (*flags, "-rdynamic")
    )
    assert run(host, str(plugin)) == "42\n"


@needs_compiler
def test_headers_stand_alone(tmp_path: Path) -> None:
    """Each can be included first, and twice, by a program that has nothing else."""
    sources = []
    for header in HEADERS:
        source = tmp_path / f"{header.stem}.cpp"
        source.write_text(f"#include <torchgen_lite/{header.name}>\n" * 2)
        sources.append(str(source))
    flags = ("-std=c++17", "-fsyntax-only", *WARNINGS, *MORE_WARNINGS, f"-I{INCLUDE}")
    command = ["g++", *flags, *sources]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


@needs_compiler
def test_the_program_of_the_docs(tmp_path: Path) -> None:
    """It prints what the page shows."""
    found = re.search(
        r"```cpp\n(// scale\.cpp\n.*?)```.*?prints\n\n```text\n(.*?)```",
        DOC.read_text(),
        flags=re.S,
    )
    assert found is not None
    source = tmp_path / "scale.cpp"
    source.write_text(found[1])
    assert run(build([source], tmp_path / "scale", ("-std=c++17",))) == found[2]


def find_eigen() -> Path | None:
    """Where Eigen is, from the system or from the wheel `cmeel-eigen`."""
    packages = Path(sysconfig.get_path("purelib"))
    for folder in (packages / "cmeel.prefix" / "include", Path("/usr/include")):
        if (folder / "eigen3" / "Eigen" / "Core").is_file():
            return folder / "eigen3"
    return None


@needs_compiler
def test_matrices_of_eigen(tmp_path: Path) -> None:
    eigen = find_eigen()
    if eigen is None:
        pytest.skip("Eigen is not installed")
    flags = ("-std=c++17", "-isystem", str(eigen))
    # Called directly, then through a boxed fallback.
    assert run(build([HERE / "eigen.cpp"], tmp_path / "eigen", flags)) == "14 1 24 21\n" * 2


def test_the_docs_say_how_eigen_takes_part() -> None:
    found = re.search(
        r"```cpp\n(template <class T, int\.\.\. Sizes>\n.*?)```", DOC.read_text(), flags=re.S
    )
    assert found is not None and found[1] in (HERE / "eigen.cpp").read_text()


@needs_clang_format
@pytest.mark.parametrize("path", CHECKED_FORMAT, ids=lambda path: path.name)
def test_it_is_formatted(path: Path) -> None:
    assert unformatted([path.read_text()]) == ""
