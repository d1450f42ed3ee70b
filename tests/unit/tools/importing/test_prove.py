"""`prove`: small libraries beside what is said of them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.conftest import Result

Run = Callable[..., Result]


def kernel(signature: str, schema: str, more: str = "") -> str:
    """A library of one operator, whose kernel serves CPU and Meta."""
    impl = 'm.impl("f", torch::kCPU, &f); m.impl("f", torch::kMeta, &f);'
    return f'{signature};\n{more}TORCH_LIBRARY(l, m) {{ m.def("f{schema}"); {impl} }}\n'


def said(run: Run, project: Path, **files: str) -> tuple[int, list[str]]:
    """The exit code and the lines of a run, with what is registered where left out."""
    for name, text in files.items():
        (project / name.replace("_", ".")).write_text(text)
    result = run("prove", *(name.replace("_", ".") for name in files), "--output-format", "concise")
    return result.code, [line.partition(" (a.cpp")[0] for line in result.stderr.splitlines()]


@pytest.mark.parametrize(
    ("signature", "schema"),
    [
        ("at::Tensor f(const at::Tensor& x, double s)", "(Tensor x, float s) -> Tensor"),
        ("torch::Tensor f(torch::Tensor x, const double s)", "(Tensor x, float s=1) -> Tensor"),
        ("at::Tensor f(at::Tensor x, std::string k)", "(Tensor x, str k) -> Tensor"),
        ("at::Tensor f(Tensor x, std::vector<int64_t> n)", "(Tensor x, int[2] n) -> Tensor"),
        ("at::Tensor f(at::Tensor x, std::array<bool, 2> n)", "(Tensor x, bool[2] n) -> Tensor"),
        ("at::Tensor f(at::Tensor x, c10::SymInt n)", "(Tensor x, SymInt n) -> Tensor"),
        ("at::Tensor f(at::Tensor x, int64_t n)", "(Tensor x, SymInt n) -> Tensor"),
        ("at::Tensor f(at::Tensor& x)", "(Tensor(a!) x) -> Tensor(a!)"),
        ("at::Tensor f(at::Tensor x, std::optional<at::Generator> g)", "(Tensor x, Generator? g) -> Tensor"),
        ("at::Tensor f(c10::DispatchKeySet keys, at::Tensor x)", "(Tensor x) -> Tensor"),
        ("std::tuple<at::Tensor, int64_t> f(at::Tensor x)", "(Tensor x) -> (Tensor, int)"),
        ("void f(std::vector<at::Tensor> x)", "(Tensor(a!)[] x) -> ()"),
        ("at::Tensor f(at::Tensor x);\nint64_t f(int64_t x)", "(Tensor x) -> Tensor"),
        ("void f(at::Tensor x) {}", "(Tensor x) -> ()"),
        ("at::Tensor f(at::Tensor x) {}", "(Tensor x) -> Tensor"),
        ("void f(at::Tensor x, std::vector<at::Tensor> const& y)", "(Tensor x, Tensor(a!)[] y) -> ()"),
        ("void f(at::Tensor x, std::vector<at::Tensor> const& y)", "(Tensor x, Tensor[](a!) y) -> ()"),
        ("at::Tensor f(at::Tensor x, std::optional<at::Tensor> const& y)", "(Tensor x, Tensor(a!)? y) -> Tensor"),
        ("at::Tensor f(at::Tensor x, int8_t n)", "(Tensor x, int n) -> Tensor"),
        ("std::tuple<at::Tensor /*a*/, at::Tensor> f(at::Tensor x, std::vector</* b */ int64_t> n)", "(Tensor x, int[] n) -> (Tensor, Tensor)"),
        ("at::Tensor f(at::Tensor x, const c10::DeviceIndex n)", "(Tensor x, SymInt n) -> Tensor"),
    ],
)  # fmt: skip
def test_kernels_that_agree(signature: str, schema: str, run: Run, project: Path) -> None:
    assert said(run, project, a_cpp=kernel(signature, schema)) == (
        0,
        ["1 operator and 2 kernels read; all of them agree"],
    )


MUST = "error[TG609] l::f: kernel 'f' must "


@pytest.mark.parametrize(
    ("signature", "schema", "found"),
    [
        (
            "at::Tensor f(at::Tensor x, int64_t s)",
            "(Tensor x, float s) -> Tensor",
            f"a.cpp:1:28: {MUST}take 'double' for argument 's' (schema: float): this is 'int64_t'",
        ),
        (
            "at::Tensor f(at::Tensor x, int n)",
            "(Tensor x, int n) -> Tensor",
            f"a.cpp:1:28: {MUST}take 'int64_t' for argument 'n' (schema: int): this is 'int'",
        ),
        (
            "at::Tensor f(at::Tensor x, int64_t t)",
            "(Tensor x, ScalarType t) -> Tensor",
            f"a.cpp:1:28: {MUST}take 'at::ScalarType' for argument 't' (schema: ScalarType): this is 'int64_t'",
        ),
        (
            "at::Tensor f(at::Tensor x, at::Tensor y)",
            "(Tensor x) -> Tensor",
            f"a.cpp:1:12: {MUST}take 1 argument: this takes 2",
        ),
        (
            "int64_t f(at::Tensor x)",
            "(Tensor x) -> Tensor",
            f"a.cpp:1:9: {MUST}return 'at::Tensor' (schema: Tensor): this is 'int64_t'",
        ),
        (
            "at::Tensor f(at::Tensor x);\nat::Tensor f(int64_t x)",
            "(float x, Tensor y) -> Tensor",
            f"a.cpp:1:12: {MUST}have the types of the schema: one of several",
        ),
        (
            "at::Tensor f(at::Tensor x, Mine y)",
            "(Tensor x, Tensor? y) -> Tensor",
            "a.cpp:1:28: error[TG612] not compared: 'Mine' is the type of 'y': not known here",
        ),
        (
            "Mine f(at::Tensor x)",
            "(Tensor x) -> Tensor",
            "a.cpp:1:6: error[TG612] not compared: 'Mine' is what 'l::f' returns",
        ),
        (
            "Both f(at::Tensor x)",
            "(Tensor x) -> (Tensor, Tensor)",
            "a.cpp:1:6: error[TG612] not compared: 'Both' is what 'l::f' returns",
        ),
        (
            "at::Tensor f(at::Tensor x)",
            "(Tensor x) -> (Tensor, Tensor)",
            f"a.cpp:1:12: {MUST}return 'std::tuple<at::Tensor, at::Tensor>' (schema: (Tensor, Tensor)): "
            "this is 'at::Tensor'",
        ),
        # Of overloads, one that may be the kernel.
        (
            "Mine f(at::Tensor x);\nat::Tensor f(at::Tensor x, int64_t y)",
            "(Tensor x) -> Tensor",
            "a.cpp:1:6: error[TG612] not compared: 'Mine' is what 'l::f' returns",
        ),
        (
            "int64_t f(at::Tensor x);\nat::Tensor f(Mine x)",
            "(Tensor x) -> Tensor",
            "a.cpp:2:14: error[TG612] not compared: 'Mine' is the type of 'x': not known here",
        ),
    ],
)
def test_kernels_that_do_not(
    signature: str, schema: str, found: str, run: Run, project: Path
) -> None:
    code, lines = said(run, project, a_cpp=kernel(signature, schema))
    assert (code, lines[0]) == (1, found)
    assert lines[-1] == "1 operator and 2 kernels read"


def test_what_may_be_written(run: Run, project: Path) -> None:
    text = kernel("at::Tensor f(at::Tensor& x)", "(Tensor x) -> Tensor")
    code, lines = said(run, project, a_cpp=text)
    assert (code, lines[0].partition(": not const")[0]) == (
        0,
        "a.cpp:1:14: warning[TG613] l::f: kernel may write to 'x', which is 'Tensor'",
    )


def test_what_no_call_reaches_and_what_has_no_fake(run: Run, project: Path) -> None:
    text = 'at::Tensor f(int64_t n);\nTORCH_LIBRARY(l, m) { m.def("f(int n) -> Tensor"); m.impl("f", torch::kCPU, &f); }\n'
    assert said(run, project, a_cpp=text) == (
        0,
        [
            "a.cpp:2:29: warning[TG611] 'l::f' has no fake in these files ('torch.library.register_fake', or a kernel for Meta)",
            "a.cpp:2:77: warning[TG406] kernel for 'CPU' is unreachable: no argument carries a key: never chosen"
            " (register it for 'CompositeExplicitAutograd')",
            "1 operator and 1 kernel read",
        ],
    )


def test_what_is_not_compared(run: Run, project: Path) -> None:
    text = """\
TORCH_LIBRARY(l, m) {
  m.def("f(Tensor x) -> Tensor", [](at::Tensor x) { return x; });
  m.def("g(Tensor x) -> Tensor", &mine::g);
  m.impl("h", torch::CppFunction::makeFallthrough());
  m.impl("i", &mine::g);
  for (;;) m.def("j() -> ()");
}
"""
    code, lines = said(run, project, a_cpp=text)
    assert (code, lines) == (
        1,
        [
            "a.cpp:2:34: error[TG612] not compared: 'l::f' has a kernel for CompositeImplicitAutograd: a lambda has no name",
            "a.cpp:3:34: error[TG612] not compared: 'mine::g' is declared in none of these files",
            "a.cpp:5:15: error[TG612] not compared: 'l::i' is defined in none of these files",
            "a.cpp:6:3: error[TG601] this registration of 'j' is not understood",
            "2 operators and 2 kernels read",
        ],
    )


PYTHON = """\
import torch
from torch.library import register_fake

@register_fake("l::f")
def _(x, s=1.0):
    return torch.empty_like(x)
"""
PASSED = (
    PYTHON.replace('@register_fake("l::f")\ndef _', "def fake") + 'register_fake("l::f", fake)\n'
)


@pytest.mark.parametrize("text", [PYTHON, PASSED], ids=["decorated", "passed"])
def test_fakes(text: str, run: Run, project: Path) -> None:
    signature = "at::Tensor f(at::Tensor x, double s)"
    cpp = kernel(signature, "(Tensor x, float s=1.0) -> Tensor").replace("kMeta", "kCUDA")
    right = said(run, project, a_cpp=cpp, a_py=text)
    assert right == (0, ["1 operator and 2 kernels read; all of them agree"])
    code, lines = said(run, project, a_cpp=cpp, a_py=text.replace(", s=1.0", ", s"))
    name, line = ("_", 4) if text == PYTHON else ("fake", 6)
    problem = f"'{name}' has no default for 's', but the schema has one: registered here"
    help_ = "the schema is 'l::f(Tensor x, float s=1.0) -> Tensor'"
    assert lines[0] == f"a.py:{line}:1: error[TG610] l::f: {problem} ({help_})"
    assert (code, lines[1:]) == (1, ["1 operator and 2 kernels read"])


def test_python_that_is_not_read(run: Run, project: Path) -> None:
    text = (
        PYTHON + 'lib = torch.library.Library(name(), "DEF")\nlib.define("g(Tensor x) -> Tensor")\n'
    )
    code, lines = said(run, project, a_py=text)
    assert (code, lines) == (
        1,
        [
            "a.py:4:1: error[TG612] not compared: 'l::f' is defined in none of these files",
            "a.py:8:1: error[TG612] not compared: 'g': 'name()' is computed",
            "0 operators and 0 kernels read",
        ],
    )
    assert said(run, project, a_py="import torch.library\n(")[1][0].startswith(
        "a.py:2:1: error[TG601]"
    )


def test_fakes_are_those_of_the_module_and_have_whole_names(run: Run, project: Path) -> None:
    cpp = kernel("at::Tensor f(at::Tensor x)", "(Tensor x) -> Tensor").replace("kMeta", "kCUDA")
    python = """\
import torch as t


def fake(x):
    return x


class A:
    def fake(self, y):
        return y


t.library.register_fake("l::f", fake)
t.library.register_fake("g", fake)
"""
    assert said(run, project, a_cpp=cpp, a_py=python) == (
        1,
        [
            "a.py:14:1: error[TG612] not compared: 'g': 'g' is not the whole name of an operator",
            "1 operator and 2 kernels read",
        ],
    )


def test_kernels_in_python(run: Run, project: Path) -> None:
    text = """\
import torch
lib = torch.library.Library("l", "DEF")
lib.define("f(Tensor x, int n=1) -> Tensor")
def f(x, n=1): ...
def less(x): ...
lib.impl("f", f, "Meta")
lib.impl("f", less, "CPU")
lib.impl("f", lambda x, n=1: x, "CUDA")
lib.impl("f", torch.nn.functional.relu, "XPU")
"""
    assert said(run, project, a_py=text) == (
        1,
        [
            "a.py:7:1: error[TG610] l::f: 'less' takes 1 positional argument, but 'n' is one more: registered here"
            " (the schema is 'l::f(Tensor x, int n=1) -> Tensor')",
            "a.py:8:1: error[TG612] not compared: 'l::f' has a kernel for CUDA that has no name",
            "a.py:9:1: error[TG612] not compared: 'relu' is declared in none of these files",
            "1 operator and 4 kernels read",
        ],
    )


def test_what_is_registered_twice(run: Run, project: Path) -> None:
    text = """\
at::Tensor f(at::Tensor x);
TORCH_LIBRARY(l, m) {
  m.def("f(Tensor x) -> Tensor");
  m.impl("f", torch::kMeta, &f);
  m.impl("f", torch::kMeta, &f);
}
TORCH_LIBRARY_IMPL(aten, PrivateUse1, m) {
  m.impl("relu", &f);
}
"""
    assert said(run, project, a_cpp=text) == (
        1,
        [
            "a.cpp:5:29: error[TG603] 'l::f' has two kernels for Meta: again",
            "a.cpp:8:18: error[TG612] not compared: 1 kernel of operators of PyTorch, such as 'aten::relu'",
            "1 operator and 3 kernels read",
        ],
    )


def test_what_is_bound_is_no_operator(run: Run, project: Path) -> None:
    text = 'void f(at::Tensor x, int n);\nPYBIND11_MODULE(l, m) { m.def("f", &f); }\n'
    assert said(run, project, a_cpp=text) == (
        1,
        [
            "error[TG612] not compared: what 'a.cpp' binds with pybind11, which is no operator",
            "0 operators and 0 kernels read",
        ],
    )


def test_nothing_is_no_proof(run: Run, project: Path) -> None:
    assert said(run, project, a_cpp="int f();\n") == (1, ["no registrations in these files"])
    assert run("prove").code == 2
    assert run("prove", "nowhere").code == 2


WHOLE = r"""
#include <torch/library.h>
/* The kernels
   of this library. */
#ifdef WITH_KERNELS
at::Tensor f(const at::Tensor& x) { return x; }
TORCH_LIBRARY(lib, m) {
  m.def(R"(f(Tensor x) -> Tensor)");
  /* only here */
  if (true) {}
  m.impl("f", torch::kCPU, f);
  m.impl("f", torch::kMeta, f);
}
#endif
"""


@pytest.mark.parametrize("command", ["prove", "import"])
def test_a_file_that_is_cut_off_is_no_library(run: Run, tmp_path: Path, command: str) -> None:
    """What ended inside of a block, a comment or a condition was proven, or skipped: `all of them agree`."""
    path = tmp_path / "ops.cpp"
    path.write_text(WHOLE)
    assert run(command, str(path)).code == 0
    wrong = []
    for length in range(len(WHOLE.rstrip())):
        path.write_text(WHOLE[:length])
        if run(command, str(path)).code == 0:
            wrong.append(WHOLE[:length][-20:])
    assert wrong == []
    path.write_text(WHOLE[: WHOLE.index("  m.impl")])
    stderr = run(command, str(path)).stderr
    assert "error[TG601]: the end of this block was not read" in stderr
    assert "error[TG601]: the file ends before this condition does" in stderr
