"""Programs on the C++ runtime: of the documentation, with plugins, threads, and matrices of Eigen."""

from __future__ import annotations

import re
import subprocess
import sysconfig
from pathlib import Path

import pytest

from tests.cpp.compiling import QUICK, needs_compiler
from tests.cpp_runtime.building import HERE, INCLUDE, THREAD, build, require_sanitizer, run

DOC = HERE.parents[1] / "docs" / "cpp-runtime.md"


@pytest.mark.slow("compiled with the sanitizer of threads")
@needs_compiler
def test_threads_register_and_call(tmp_path: Path) -> None:
    require_sanitizer(THREAD, tmp_path)
    program = build([HERE / "stress.cpp"], tmp_path / "stress", ("-std=c++17", *THREAD))
    assert re.fullmatch(r"\d+ calls, 0 wrong\n", run(program, "4000"))


@pytest.mark.slow("three compilations of the dispatcher")
@needs_compiler
@pytest.mark.parametrize("unique", ["-fgnu-unique", "-fno-gnu-unique"])
def test_shared_libraries_have_one_dispatcher(tmp_path: Path, unique: str) -> None:
    """Of a closed plugin, kernels and signatures stay, also where nothing of it is pinned by the compiler."""
    flags = ("-std=c++17", "-O1", "-fPIC", "-fvisibility=hidden", unique)
    plugin = build([HERE / "plugin.cpp"], tmp_path / "libplugin.so", (*flags, "-shared"))
    host = build(
        [HERE / "host.cpp", HERE / "host_schema.cpp"], tmp_path / "host", (*flags, "-rdynamic")
    )
    assert run(host, str(plugin)) == "42\n42\n42 0\n"


SECOND = """
#include <torchgen_lite/runtime.h>

#include <cstdio>

using namespace torchgen_lite;

namespace {

int two(int) {
  return 2;
}

TORCHGEN_LITE_LIBRARY_IMPL(host, CUDA, m) {
  m.impl("f", two);
}

// Constructed after this library's registrations, so destroyed before them.
struct AtExit {
  ~AtExit() {
    const OperatorHandle f = Dispatcher::singleton().findSchemaOrThrow("host::f");
    const auto typed = f.typed<int(int)>();
    std::printf("%d\\n", typed.redispatch(DispatchKeySet(DispatchKey::CUDA), 0));
  }
} at_exit;

} // namespace
"""


@pytest.mark.slow("three compilations of the dispatcher")
@needs_compiler
def test_two_shared_libraries_and_the_end_of_the_program(tmp_path: Path) -> None:
    """They share one dispatcher in any order of loading, and an object that is destroyed at the end may still call."""
    flags = ("-std=c++17", "-O0", "-fPIC", "-fvisibility=hidden")
    (tmp_path / "second.cpp").write_text(SECOND)
    (tmp_path / "main.cpp").write_text(
        "#include <torchgen_lite/runtime.h>\n#include <dlfcn.h>\n"
        "int main(int, char** paths) {\n"
        "  void* const first = dlopen(paths[1], RTLD_NOW | RTLD_LOCAL);\n"
        "  void* const second = dlopen(paths[2], RTLD_NOW | RTLD_LOCAL);\n"
        "  if (first == nullptr || second == nullptr) return 1;\n"
        "  return dlclose(first) + dlclose(second);\n}\n"
    )
    paths = [
        str(build([source], tmp_path / f"{source.stem}.so", (*flags, "-shared")))
        for source in (HERE / "plugin.cpp", tmp_path / "second.cpp")
    ]
    main = build(
        [tmp_path / "main.cpp", HERE / "host_schema.cpp"], tmp_path / "main", (*flags, "-rdynamic")
    )
    assert run(main, *paths) == run(main, *reversed(paths)) == "2\n"


@needs_compiler
def test_exceptions_are_needed(tmp_path: Path) -> None:
    source = tmp_path / "a.cpp"
    source.write_text("#include <torchgen_lite/runtime.h>\n")
    command = ["g++", "-std=c++17", "-fno-exceptions", "-fsyntax-only", f"-I{INCLUDE}", str(source)]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode != 0 and "-fexceptions" in done.stderr


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
    assert run(build([HERE / "eigen.cpp"], tmp_path / "eigen", flags, QUICK)) == "14 1 24 21\n" * 2


def test_the_docs_say_how_eigen_takes_part() -> None:
    found = re.search(
        r"```cpp\n(template <class T, int\.\.\. Sizes>\n.*?)```", DOC.read_text(), flags=re.S
    )
    assert found is not None and found[1] in (HERE / "eigen.cpp").read_text()
