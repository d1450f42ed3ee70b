"""`adopt`: small libraries beside what is left of them, and what is written."""

from __future__ import annotations

import errno
import json
import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.conftest import Result

Run = Callable[..., Result]

HEAD = """\
#include <torch/library.h>

namespace lib {
"""
KERNELS = """\
at::Tensor f(const at::Tensor& x) { return x; }
at::Tensor g(at::Tensor x, double s = 1.0) { return x * s; }
static at::Tensor hidden(const at::Tensor& x) { return x; }
"""


@pytest.fixture(name="folder")
def an_empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder, and a compiler that takes everything; PyTorch need not be there."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("torchgen_lite_tools.importing.compiling._torch_folders", lambda: ["-I."])
    monkeypatch.setenv("CXX", "true")
    return tmp_path


def adopted(run: Run, folder: Path, body: str) -> tuple[Result, str]:
    """The result of a run, and what follows the kernels then."""
    before = f"{HEAD}{KERNELS}\n"
    (folder / "ops.cpp").write_text(f"{before}{body}}} // namespace lib\n")
    result = run("adopt")
    text = (folder / "ops.cpp").read_text()
    assert text.startswith(before)
    return result, text.removeprefix(before).removesuffix("} // namespace lib\n")


def test_all_of_a_library_moves(run: Run, folder: Path) -> None:
    body = """\
TORCH_LIBRARY(lib, m) {
  // Gives x.
  m.def("f(Tensor x) -> Tensor");
  m.def("g(Tensor x, float s=1.0) -> Tensor", &g);
}

TORCH_LIBRARY_IMPL(lib, CPU, m) {
  m.impl("f", &f);
}

"""
    result, left = adopted(run, folder, body)
    assert (result.code, left) == (0, "")
    assert (folder / "ops.yaml").read_text() == """\
- func: lib::f(Tensor x) -> Tensor
  doc: Gives x.
  dispatch:
    CPU: f

- func: lib::g(Tensor x, float s=1.0) -> Tensor
  dispatch:
    CompositeImplicitAutograd: g
"""
    assert (folder / "torchgen_lite.toml").read_text() == """\
schema = ["ops.yaml"]
targets = ["cpp-torch"]

[target.cpp-torch]
kernel-headers = ["adopted_kernels.h"]
module = ""
"""
    assert (folder / "adopted_kernels.h").read_text() == """\
#pragma once

#include <torch/types.h>

namespace lib { at::Tensor f(const at::Tensor& x); }
namespace lib { at::Tensor g(at::Tensor x, double s); }
"""
    assert result.stderr.splitlines()[:6] == [
        "created     +8 lines  ops.yaml",
        "created     +6 lines  adopted_kernels.h",
        "created     +6 lines  torchgen_lite.toml",
        "changed    -10 lines  ops.cpp",
        "compiled: register.cpp, underived.cpp",
        "2 operators moved",
    ]
    assert run("generate").code == 0
    again = run("adopt")
    assert (again.code, again.stderr.splitlines()[-1]) == (
        2,
        "Error: `torchgen_lite.toml` configures this folder already; `torchgen-lite import` prints the "
        "entries of what still registers by hand.",
    )


@pytest.mark.parametrize(
    ("body", "left", "said"),
    [
        pytest.param(
            """\
TORCH_LIBRARY(lib, m) {
  // Gives x.
  m.def("f(Tensor x) -> Tensor"); // in one pass
  m.impl("f", torch::kCPU, &f);

  // Stays.
  m.def("hidden(Tensor x) -> Tensor", &hidden);
}
""",
            """\
TORCH_LIBRARY(lib, m) {

  // Stays.
  m.def("hidden(Tensor x) -> Tensor", &hidden);
}
""",
            "1 operator moved, 1 statement by hand: ops.cpp:14",
            id="hidden",
        ),
        pytest.param(
            """\
TORCH_LIBRARY(lib, m) {
  m.def("f(Tensor x) -> Tensor");
  m.def("gone(Tensor x) -> Tensor", [](at::Tensor x) { return f(x); });
}
TORCH_LIBRARY_IMPL(lib, CPU, m) { m.impl("f", &f); m.impl("gone", &f); }
""",
            """\
TORCH_LIBRARY(lib, m) {
  m.def("gone(Tensor x) -> Tensor", [](at::Tensor x) { return f(x); });
}
TORCH_LIBRARY_IMPL(lib, CPU, m) {  m.impl("gone", &f); }
""",
            "1 operator moved, 2 statements by hand: ops.cpp:10, ops.cpp:12",
            id="one-line",
        ),
        pytest.param(
            """\
#define TWO m.def("f(Tensor x) -> Tensor", &f); m.def("hidden(Tensor x) -> Tensor", &hidden);
TORCH_LIBRARY(lib, m) {
  TWO
  m.def("g(Tensor x, float s) -> Tensor", &g);
}
""",
            """\
#define TWO m.def("f(Tensor x) -> Tensor", &f); m.def("hidden(Tensor x) -> Tensor", &hidden);
TORCH_LIBRARY(lib, m) {
  TWO
}
""",
            "1 operator moved, 2 statements by hand: ops.cpp:10, ops.cpp:10",
            id="one-macro",
        ),
        pytest.param(
            """\
#define BOTH(name) m.def(#name "(Tensor x) -> Tensor"); m.impl(#name, torch::kCPU, &f);
TORCH_LIBRARY(lib, m) {
  BOTH(one)
  BOTH(two)
  m.class_<C>("C");
}
""",
            """\
#define BOTH(name) m.def(#name "(Tensor x) -> Tensor"); m.impl(#name, torch::kCPU, &f);
TORCH_LIBRARY(lib, m) {
  m.class_<C>("C");
}
""",
            "2 operators moved, 1 statement by hand: ops.cpp:12",
            id="macro",
        ),
        pytest.param(
            """\
TORCH_LIBRARY(lib, m) {
  m.def("f(Tensor x) -> Tensor", &f).def("hidden(Tensor x) -> Tensor", &hidden);
  m.def("g(Tensor x, float s) -> Tensor", &g);
}
TORCH_LIBRARY_IMPL(aten, PrivateUse1, m) { m.impl("relu", &f); }
""",
            """\
TORCH_LIBRARY(lib, m) {
  m.def("f(Tensor x) -> Tensor", &f).def("hidden(Tensor x) -> Tensor", &hidden);
}
TORCH_LIBRARY_IMPL(aten, PrivateUse1, m) { m.impl("relu", &f); }
""",
            "1 operator moved, 2 statements by hand: ops.cpp:9, ops.cpp:12",
            id="chain",
        ),
        pytest.param(
            """\
void more(torch::Library& m) { m.def("g(Tensor x, float s) -> Tensor", &g); }
TORCH_LIBRARY(lib, m) {
  m.def("f(Tensor x) -> Tensor", &f);
  more(m);
}
PYBIND11_MODULE(bound, m) { m.def("f", &f); }
""",
            """\
void more(torch::Library& m) { m.def("g(Tensor x, float s) -> Tensor", &g); }
TORCH_LIBRARY(lib, m) {
  more(m);
}
PYBIND11_MODULE(bound, m) { m.def("f", &f); }
""",
            "1 operator moved, 2 statements by hand: ops.cpp:11, ops.cpp:13",
            id="elsewhere",
        ),
    ],
)
def test_what_stays_is_as_it_was(body: str, left: str, said: str, run: Run, folder: Path) -> None:
    result, found = adopted(run, folder, body)
    assert found == left
    assert f"\n{said}\n" in result.stderr
    assert result.code == 1
    assert 'library = "fragment"' in (folder / "torchgen_lite.toml").read_text()


def test_objects_that_register_move(run: Run, folder: Path) -> None:
    body = """\
static auto registry = torch::RegisterOperators()
    .op("lib::f", &f)
    .op("lib::g", &g);
"""
    result, left = adopted(run, folder, body)
    assert (result.code, left) == (0, "")
    assert 'library = "fragment"' in (folder / "torchgen_lite.toml").read_text()


def test_a_header_of_the_library_declares(run: Run, folder: Path) -> None:
    (folder / "f.h").write_text(
        "#pragma once\nnamespace lib { at::Tensor f(const at::Tensor&); }\n"
    )
    (folder / "MANIFEST.in").write_text("include f.h\n")
    result, _ = adopted(
        run, folder, 'TORCH_LIBRARY(lib, m) { m.def("f(Tensor x) -> Tensor", &f); }\n'
    )
    assert result.code == 0 and not (folder / "adopted_kernels.h").exists()
    listed = (folder / "MANIFEST.in").read_text().splitlines()
    assert listed == [
        "include f.h",
        "include ops.yaml torchgen_lite.toml",
        "recursive-include generated *",
    ]
    assert 'kernel-headers = ["f.h"]' in (folder / "torchgen_lite.toml").read_text()


def test_an_included_list(run: Run, folder: Path) -> None:
    (folder / "ops.inc").write_text('m.def("f(Tensor x) -> Tensor", &f);\n')
    result, left = adopted(
        run,
        folder,
        'TORCH_LIBRARY(lib, m) {\n#include "ops.inc"\n  m.def("h() -> ()", [] {});\n}\n',
    )
    assert left == 'TORCH_LIBRARY(lib, m) {\n  m.def("h() -> ()", [] {});\n}\n'
    assert result.stderr.splitlines()[-1] != "" and "1 operator moved" in result.stderr


def test_a_package_in_python_beside_it(run: Run, folder: Path) -> None:
    """What the closing words ask for is generated from what is written then."""
    block = 'TORCH_LIBRARY(lib, m) {\n  m.def("f(Tensor x) -> Tensor");\n  m.impl("f", at::kCPU, &f);\n}\n'
    (folder / "ops.cpp").write_text(f"{HEAD}{KERNELS}{block}}}\n")
    result = run("adopt", "--package", "lib_ops")
    assert (folder / "torchgen_lite.toml").read_text() == """\
schema = ["ops.yaml"]
targets = ["cpp-torch", "torch-python"]

[target.cpp-torch]
kernel-headers = ["adopted_kernels.h"]
module = ""

[target.torch-python]
package = "lib_ops"
"""
    said = " ".join(result.stderr.split())
    assert (
        "Give entries a `fake:`, `derivatives:` and `samples:`; `lib_ops` has what they say" in said
    )
    assert "Say in `load` of `torchgen_lite.toml` which module loads the library." in said
    with (folder / "ops.yaml").open("a") as file:
        file.write("  fake: {like: x}\n  samples: [(randn(3))]\n")
    with (folder / "torchgen_lite.toml").open("a") as file:
        file.write('load = "lib"\n')
    assert run("generate").code == 0
    written = folder / "generated/torch-python"
    package = "".join(path.read_text() for path in written.glob("lib_ops/**/*.py"))
    assert '_declared.load("lib", OPERATORS)' in package and "fake" in package
    assert list(written.glob("tests/test_*.py"))


def test_a_package_needs_a_name_of_python(run: Run, folder: Path) -> None:
    (folder / "ops.cpp").write_text("")
    result = run("adopt", "--package", "torch")
    assert result.code == 2
    assert "`--package`: `torch` cannot be the name of the package" in result.stderr


def test_the_build_is_a_part_of_the_patch(run: Run, folder: Path) -> None:
    text = f'{HEAD}{KERNELS}TORCH_LIBRARY(lib, m) {{ m.def("f(Tensor x) -> Tensor", &f); }}\n}}\n'
    (folder / "ops.cpp").write_text(text)
    (folder / "CMakeLists.txt").write_text("add_library(lib SHARED ops.cpp)\n")
    (folder / "setup.py").write_text("extension = CppExtension('lib', computed())\n")
    result = run("adopt", "--dry-run")
    assert "+target_sources(lib PRIVATE ${TORCHGEN_LITE_SOURCES})\n" in result.stdout
    said = "by hand  setup.py: line 1: which sources this extension has is computed\n"
    assert said in result.stderr
    assert (folder / "CMakeLists.txt").read_text() == "add_library(lib SHARED ops.cpp)\n"
    assert run("adopt").code == 0
    assert "target_include_directories(lib" in (folder / "CMakeLists.txt").read_text()


def test_a_failure_leaves_everything_as_it_was(
    run: Run, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = f'{HEAD}{KERNELS}TORCH_LIBRARY(lib, m) {{ m.def("f(Tensor x) -> Tensor", &f); }}\n}}\n'
    (folder / "ops.cpp").write_text(text)
    (folder / "CMakeLists.txt").write_text("add_library(lib SHARED ops.cpp)\n")
    replace, done = os.replace, list[Path]()

    def failing(source: Path, destination: Path) -> None:
        done.append(destination)
        if len(done) == 3:
            raise OSError(errno.ENOSPC, "no space left")
        replace(source, destination)

    monkeypatch.setattr(os, "replace", failing)
    result = run("adopt")
    assert result.code == 2 and "no space left" in result.stderr.lower()
    assert sorted(path.name for path in folder.iterdir()) == ["CMakeLists.txt", "ops.cpp"]
    assert (folder / "ops.cpp").read_text() == text
    assert (folder / "CMakeLists.txt").read_text() == "add_library(lib SHARED ops.cpp)\n"


def test_another_folder(run: Run, folder: Path) -> None:
    (folder / "sub").mkdir()
    text = f'{HEAD}{KERNELS}TORCH_LIBRARY(lib, m) {{ m.def("f(Tensor x) -> Tensor", &f); }}\n}}\n'
    (folder / "sub/ops.cpp").write_text(text)
    result = run("adopt", "sub")
    assert result.code == 0 and "\n  torchgen-lite generate sub\n" in result.stderr
    assert sorted(path.name for path in folder.iterdir()) == ["sub"]
    assert run("generate", "sub").code == 0 and (folder / "sub/generated/cpp-torch").is_dir()


def test_a_dry_run_is_a_patch(run: Run, folder: Path) -> None:
    text = f'{HEAD}{KERNELS}TORCH_LIBRARY(lib, m) {{ m.def("f(Tensor x) -> Tensor", &f); }}\n}}\n'
    (folder / "ops.cpp").write_text(text)
    result = run("adopt", "--dry-run")
    assert result.code == 0 and (folder / "ops.cpp").read_text() == text
    subprocess.run(["git", "apply"], input=result.stdout.encode(), cwd=folder, check=True)
    assert (folder / "ops.cpp").read_text() == f"{HEAD}{KERNELS}}}\n"
    assert (folder / "torchgen_lite.toml").exists()


def test_nothing_is_replaced(run: Run, folder: Path) -> None:
    text = f'{HEAD}{KERNELS}TORCH_LIBRARY(lib, m) {{ m.def("f(Tensor x) -> Tensor", &f); }}\n}}\n'
    (folder / "ops.cpp").write_text(text)
    (folder / "ops.yaml").write_text("mine\n")
    result = run("adopt")
    assert result.code == 2 and "cannot write `ops.yaml`: it exists" in result.stderr
    assert "help: `adopt` writes this file: delete the one that is there" in result.stderr
    assert (folder / "ops.cpp").read_text() == text
    assert (folder / "ops.yaml").read_text() == "mine\n"


def test_a_folder_without_registrations(run: Run, folder: Path) -> None:
    (folder / "ops.cpp").write_text(HEAD + "}\n")
    result = run("adopt", "--dry-run", "--output-format", "json")
    assert result.code == 1
    assert json.loads(result.stdout)["moved"] == []
    assert not (folder / "torchgen_lite.toml").exists()


MOVED = """\
{head}
{kernel} {{ return x; }}
at::Tensor g(at::Tensor x) {{ return x; }}
TORCH_LIBRARY(lib, m) {{
  m.def("f{schema}", &f);
  m.def("g(Tensor x) -> Tensor", &g);
}}
"""


@pytest.mark.parametrize(
    ("head", "kernel", "declared"),
    [
        ("using at::Tensor;", "Tensor f(const Tensor& x)", "at::Tensor f(const at::Tensor& x);"),
        ("using torch::Tensor;", "Tensor f(Tensor x)", "torch::Tensor f(torch::Tensor x);"),
        ("using namespace at;", "Tensor f(const Tensor &x)", "at::Tensor f(const at::Tensor &x);"),
        ("using T = at::Tensor;", "T f(T x = T())", "at::Tensor f(at::Tensor x);"),
        ("typedef at::Tensor T;\nusing U = T;", "U f(const U&)", "at::Tensor f(const at::Tensor&);"),
        ("using at::Tensor;", "Tensor f(const Tensor)", "at::Tensor f(const at::Tensor);"),
        (
            "using at::Tensor;\nusing Maybe = std::optional<Tensor>;",
            "Tensor f(const Tensor& x, Maybe y)",
            "at::Tensor f(const at::Tensor& x, std::optional<at::Tensor> y);",
        ),
        (
            "using namespace at;\nusing std::vector;",
            "vector<Tensor> f(TensorList Tensor, IntArrayRef n)",
            "std::vector<at::Tensor> f(at::TensorList Tensor, at::IntArrayRef n);",
        ),
    ],
)  # fmt: skip
def test_types_are_written_by_meaning(
    head: str, kernel: str, declared: str, run: Run, folder: Path
) -> None:
    """What a header says means the same in every file."""
    schema = "(Tensor[] x, int[] n) -> Tensor[]" if "List" in kernel else "(Tensor x) -> Tensor"
    schema = "(Tensor x, Tensor? y) -> Tensor" if "Maybe" in kernel else schema
    (folder / "ops.cpp").write_text(MOVED.format(head=head, kernel=kernel, schema=schema))
    result = run("adopt")
    assert "2 operators moved" in result.stderr, result.stderr
    assert declared in (folder / "adopted_kernels.h").read_text().splitlines()


@pytest.mark.parametrize(
    ("head", "kernel", "word"),
    [
        ("#define TENSOR at::Tensor", "TENSOR f(TENSOR x)", "TENSOR"),
        ("namespace t = torch;", "t::Tensor f(t::Tensor x)", "t::Tensor"),
        ("struct Own;", "at::Tensor f(const Own& x)", "Own"),
        ("using torch::stable::Tensor;", "Tensor f(Tensor x)", "torch::stable::Tensor"),
        ('#include "types.h"', "Value f(Value x)", "Value"),
    ],
)
def test_types_of_one_file_stay(head: str, kernel: str, word: str, run: Run, folder: Path) -> None:
    text = MOVED.format(head=head, kernel=kernel, schema="(Tensor x) -> Tensor")
    (folder / "ops.cpp").write_text(text)
    result = run("adopt", "--output-format", "concise")
    assert f"the type '{word}' is known in its file alone" in result.stderr
    assert "1 operator moved, 1 statement by hand: ops.cpp:5" in result.stderr
    assert 'm.def("f(' in (folder / "ops.cpp").read_text()


@pytest.mark.parametrize(
    "kernel",
    [
        "&twice<2>",
        "TORCH_FN(twice<2>)",
        "[](at::Tensor x) { return x; }",
        "torch::CppFunction::makeFromBoxedFunction<&boxed>()",
        "made()",
        "&stacked",
    ],
)
@pytest.mark.parametrize("place", ["m.impl", "block", "helper"])
def test_an_operator_stays_with_a_kernel_that_does(
    kernel: str, place: str, run: Run, folder: Path
) -> None:
    head = "void stacked(StableIValue* stack, uint64_t n, uint64_t k) {}\n"
    head += "template <int N> at::Tensor twice(at::Tensor x) { return x; }\n"
    impl = f'm.impl("f", torch::kCPU, {kernel});'
    inside, after = (impl, "") if place == "m.impl" else ("", "")
    if place == "block":
        after = f'TORCH_LIBRARY_IMPL(lib, CPU, m) {{ m.impl("f", {kernel}); }}\n'
    elif place == "helper":
        head += f"void add(torch::Library& m) {{ {impl} }}\n"
        inside = "add(m);"
    body = f"at::Tensor g(at::Tensor x) {{ return x; }}\nTORCH_LIBRARY(lib, m) {{\n  {inside}\n"
    body += '  m.def("f(Tensor x) -> Tensor");\n  m.def("g(Tensor x) -> Tensor", &g);\n}\n'
    (folder / "ops.cpp").write_text(f"{head}{body}{after}")
    assert "1 operator moved" in run("adopt").stderr
    left = (folder / "ops.cpp").read_text()
    assert 'm.def("f(' in left and kernel in left and 'm.def("g(' not in left
    assert "lib::f" not in (folder / "ops.yaml").read_text()


STABLE = """\
#include <torch/csrc/stable/library.h>
using torch::stable::Tensor;
Tensor f(const Tensor& x, std::optional<Tensor> y) { return x; }
Tensor g(const Tensor& x) { return x; }
STABLE_TORCH_LIBRARY(lib, m) {
  m.def("f(Tensor x, Tensor? y) -> Tensor");
  m.def("g(Tensor x) -> Tensor");
}
STABLE_TORCH_LIBRARY_IMPL(lib, CPU, m) {
  m.impl("f", TORCH_BOX(&f));
  m.impl("g", TORCH_BOX(&g));
}
"""
CLASSIC = """\
at::Tensor h(at::Tensor x) { return x; }
TORCH_LIBRARY_FRAGMENT(lib, m) { m.def("h(Tensor x) -> Tensor", &h); }
"""


@pytest.mark.parametrize("other", ["", CLASSIC])
def test_the_target_is_that_of_the_sources(other: str, run: Run, folder: Path) -> None:
    """The stable ABI is kept; what is registered with the other ABI stays."""
    (folder / "ops.cpp").write_text(STABLE)
    (folder / "other.cpp").write_text(other)
    (folder / "CMakeLists.txt").write_text("add_library(lib ops.cpp)\n")
    result = run("adopt")
    assert "2 operators moved" in result.stderr
    assert (result.code, "`lib::h` is defined with another ABI" in result.stderr) == (
        (1, True) if other else (0, False)
    )
    assert 'targets = ["cpp-torch-stable"]' in (folder / "torchgen_lite.toml").read_text()
    declared = (folder / "adopted_kernels.h").read_text().splitlines()[6:]
    tensor = "torch::stable::Tensor"
    assert declared == [
        f"{tensor} f(const {tensor}& x, std::optional<{tensor}> y);",
        f"{tensor} g(const {tensor}& x);",
    ]
    assert "generated/cpp-torch-stable/src" in (folder / "CMakeLists.txt").read_text()
    assert "TORCH_LIBRARY" not in (folder / "ops.cpp").read_text()
    assert (folder / "other.cpp").read_text() == other
    result = run("generate")
    assert result.code == 0, result.stderr


def test_a_build_without_a_device_needs_no_header_of_its_kernels(run: Run, folder: Path) -> None:
    """Such a header includes what only the device's toolkit has, or declares the kernel on a condition."""
    kernels = {"f": "f.h", "f_cuda": "cuda/f.h", "g_cuda": "f.h", "g": "f.h"}
    for name, header in kernels.items():
        path = folder / header
        path.parent.mkdir(exist_ok=True)
        with path.open("a") as file:
            file.write(f"at::Tensor {name}(const at::Tensor& x);\n")
    body = """\
TORCH_LIBRARY(lib, m) {
  m.def("f(Tensor x) -> Tensor");
  m.impl("f", torch::kCPU, &f);
  m.impl("f", torch::kCUDA, &f_cuda);
  m.def("g(Tensor x) -> Tensor");
  m.impl("g", torch::kCPU, &g);
#ifdef WITH_CUDA
  m.impl("g", torch::kCUDA, &g_cuda);
#endif
}
"""
    (folder / "ops.cpp").write_text(f"#include <torch/library.h>\n{body}")
    result = run("adopt")
    assert "2 operators moved" in result.stderr, result.stderr
    assert (
        'kernel-headers = ["f.h", "adopted_kernels.h"]'
        in (folder / "torchgen_lite.toml").read_text()
    )
    declared = (folder / "adopted_kernels.h").read_text().splitlines()[-2:]
    assert sorted(declared) == [
        "at::Tensor f_cuda(const at::Tensor& x);",
        "at::Tensor g_cuda(const at::Tensor& x);",
    ]


def test_a_device_whose_kernel_has_types_of_its_own_keeps_its_header(
    run: Run, folder: Path
) -> None:
    (folder / "cuda.h").write_text("using Odd = at::Tensor;\nat::Tensor f_cuda(const Odd& x);\n")
    (folder / "odd.h").write_text("struct Sizes;\nat::Tensor g_cuda(at::Tensor x, Sizes s);\n")
    body = """\
TORCH_LIBRARY(lib, m) {
  m.def("f(Tensor x) -> Tensor");
  m.impl("f", torch::kCUDA, &f_cuda);
  m.def("g(Tensor x, int[] s) -> Tensor");
  m.impl("g", torch::kCUDA, &g_cuda);
}
"""
    (folder / "ops.cpp").write_text(f"#include <torch/library.h>\n{body}")
    result = run("adopt")
    assert "2 operators moved" in result.stderr, result.stderr
    assert '["odd.h", "adopted_kernels.h"]' in (folder / "torchgen_lite.toml").read_text()
    assert "f_cuda(const at::Tensor& x)" in (folder / "adopted_kernels.h").read_text()


def test_what_a_function_registers_for_a_call_moves_with_the_call(run: Run, folder: Path) -> None:
    """Where the call gives the name; of what the function names itself, the call stays."""
    body = """\
void named(torch::Library& m, const char* name, at::Tensor (*one)(const at::Tensor&)) {
  m.impl(name, torch::kCPU, one);
}

void both(torch::Library& m, const char* name) {
  m.impl(name, torch::kCPU, &f);
  m.impl("g", torch::kCPU, &f);
}

TORCH_LIBRARY(lib, m) {
  m.def("f(Tensor x) -> Tensor");
  m.def("g(Tensor x) -> Tensor");
  m.def("h(Tensor x) -> Tensor");
  named(m, "f", &f);
  both(m, "h");
}
"""
    result, left = adopted(run, folder, body)
    assert result.code == 1
    assert "1 operator moved" in result.stderr
    removed = ('  m.def("f(Tensor x) -> Tensor");\n', '  named(m, "f", &f);\n')
    expected = body
    for line in removed:
        expected = expected.replace(line, "")
    assert left == expected
    assert (
        "- func: lib::f(Tensor x) -> Tensor\n  dispatch:\n    CPU: f\n"
        in (folder / "ops.yaml").read_text()
    )


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("ops.py", "import torch\nlibrary = torch.library.Library('lib', 'DEF')\n"),
        ("ops.cpp", 'PYBIND11_MODULE(lib, m) { m.def("f", &f); }\nint f(int x) { return x; }\n'),
        ("notes.txt", "Nothing.\n"),
    ],
)
def test_where_nothing_can_move_it_says_what_reads_the_rest(
    run: Run, folder: Path, name: str, text: str
) -> None:
    """For a library in Python, `0 operators moved` was all."""
    (folder / name).write_text(text)
    result = run("adopt")
    files = "1 file" if name.endswith(".cpp") else "0 files"
    said = f"no TORCH_LIBRARY in {files} of C++; `torchgen-lite import` reads Python and pybind11\n"
    assert result.code == 1 and result.stderr.startswith(f"{said}0 operators moved")
    assert [path.name for path in folder.iterdir()] == [name]
