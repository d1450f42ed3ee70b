"""Every file that is given is accounted for: what registers is read, or named with the reason."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from tests.conftest import Result

Run = Callable[..., Result]

# What is beside the case in each folder, so that something is read in any case.
OTHER = (
    'at::Tensor o(at::Tensor x);\nTORCH_LIBRARY(other, m) { m.def("o(Tensor x) -> Tensor", &o); }\n'
)
BLOCK = '{ m.def("f(Tensor x) -> Tensor"); }\n'
ONE = 'm.def(#n "(Tensor x) -> Tensor");'


def written(project: Path, files: Mapping[str, str]) -> None:
    for name, text in {"other.cpp": OTHER, **files}.items():
        path = project / "lib" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


READ: dict[str, dict[str, str]] = {
    "a macro of a macro": {
        "a.h": "#define A TORCH_LIBRARY\n#define B A\n",
        "b.cpp": f"B(l, m) {BLOCK}",
    },
    "a macro that is called like PyTorch's": {
        "a.cpp": f"#define TORCH_ONE(n) TORCH_LIBRARY_FRAGMENT(l, m) {{ {ONE} }}\nTORCH_ONE(f)\n",
    },
    "one that is called like those of c10, in another file": {
        "a.h": f"#define C10_ONE(n) TORCH_LIBRARY_FRAGMENT(l, m) {{ {ONE} }}\n",
        "b.cpp": "C10_ONE(f)\n",
    },
    "one that is called like those of the stable ABI": {
        "a.cpp": f"#define STABLE_TORCH_OPS(name) STABLE_TORCH_LIBRARY(name, m)\nSTABLE_TORCH_OPS(l) {BLOCK}",
    },
    "one in a block": {
        "a.cpp": f"#define TORCH_ADD_OP(n) {ONE}\nTORCH_LIBRARY(l, m) {{ TORCH_ADD_OP(f) }}\n",
    },
    "the name of a namespace": {
        "a.cpp": f"#ifndef TORCH_EXTENSION_NAME\n#define TORCH_EXTENSION_NAME l\n#endif\n"
        f"TORCH_LIBRARY(TORCH_EXTENSION_NAME, m) {BLOCK}",
    },
    "a macro that puts the name of the block together": {
        "a.h": "#define OPS(kind) TORCH_##kind(l, m)\n",
        "b.cpp": f"OPS(LIBRARY) {BLOCK}",
    },
    "a header below the stable ABI or not": {
        "a.cpp": '#define OPS TORCH_LIBRARY\n#include "ops.hpp"\n',
        "b.cpp": '#define OPS STABLE_TORCH_LIBRARY\n#include "ops.hpp"\n',
        "ops.hpp": f"OPS(l, m) {BLOCK}",
    },
    "the same in one file": {
        "a.cpp": "#ifdef STABLE\n#define OPS STABLE_TORCH_LIBRARY\n#else\n#define OPS TORCH_LIBRARY\n#endif\n"
        f"OPS(l, m) {BLOCK}",
    },
}


@pytest.mark.parametrize("files", READ.values(), ids=READ)
def test_what_is_read(files: dict[str, str], run: Run, project: Path) -> None:
    written(project, files)
    result = run("import", "lib", "--output-format", "concise")
    assert "- func: l::f(Tensor x) -> Tensor" in result.stdout, result.stderr
    assert result.code == 0, result.stderr


# What is said of the files, and the line that it is about.
NAMED: dict[str, tuple[str, dict[str, str]]] = {
    "a header under two meanings of a macro": (
        "ops.hpp:1:1: error[TG601] 'OPS' may register",
        {
            "a.cpp": '#define OPS(n) TORCH_LIBRARY(n, m)\n#include "ops.hpp"\n',
            "b.cpp": '#define OPS(n) TORCH_LIBRARY_FRAGMENT(n, m)\n#include "ops.hpp"\n',
            "ops.hpp": f"OPS(l) {BLOCK}",
        },
    ),
    "two meanings in one file": (
        "a.cpp:6:1: error[TG601] 'OPS' may register",
        {
            "a.cpp": "#ifdef A\n#define OPS TORCH_LIBRARY\n#else\n#define OPS TORCH_LIBRARY_FRAGMENT\n#endif\n"
            f"OPS(l, m) {BLOCK}",
        },
    ),
    "a list of two macros": (
        "ops.def:1:1: error[TG601] 'REG' may register",
        {
            "a.cpp": f'#define REG(n) TORCH_LIBRARY_FRAGMENT(a, m) {{ {ONE} }}\n#include "ops.def"\n',
            "b.cpp": f'#define REG(n) TORCH_LIBRARY_FRAGMENT(b, m) {{ {ONE} }}\n#include "ops.def"\n',
            "ops.def": "REG(f)\nREG(g)\n",
        },
    ),
    "two meanings that reach one by another macro": (
        "ops.hpp:1:1: error[TG601] 'OPS' may register",
        {
            "in.h": "#define INNER(n) TORCH_LIBRARY(n, m)\n",
            "a.cpp": '#define OPS(n) INNER(n)\n#include "ops.hpp"\n',
            "b.cpp": '#define OPS(n)  struct n\n#include "ops.hpp"\n',
            "ops.hpp": f"OPS(l) {BLOCK}",
        },
    ),
    "a boxed kernel of the stable ABI": (
        "a.cpp:2:56: error[TG602] 'l::f' has a kernel for CPU",
        {
            "a.cpp": "void f(StableIValue* stack, uint64_t n, uint64_t k) {}\n"
            'STABLE_TORCH_LIBRARY_IMPL(l, CPU, m) { m.impl("f",     &f); }\n',
        },
    ),
    "a class outside of a block": (
        "a.cpp:1:17: error[TG601] 'torch::class_' registers without a block",
        {"a.cpp": 'static auto q = torch::class_<Q>("l", "Q").def(torch::init<>());\n'},
    ),
    "a class by the name of the namespace of TorchScript": (
        "a.cpp:1:24: error[TG601] 'jit::class_' registers without a block",
        {"a.cpp": 'static auto q = torch::jit::class_<Q>("l", "Q");\n'},
    ),
    "a class by its last name": (
        "a.cpp:1:7: error[TG601] 'torch::class_' registers without a block",
        {"a.cpp": 'using torch::class_;\nstatic auto q = class_<Q>("l", "Q");\n'},
    ),
    "a library by another name of its class": (
        "a.cpp:2:",
        {
            "a.cpp": "using Ops = torch::Library;\n"
            'static Ops ops(Ops::FRAGMENT, "l", c10::nullopt, __FILE__, __LINE__);\n',
        },
    ),
    "one whose name another file makes": (
        "b.cpp:2:",
        {
            "a.h": "using Ops = torch::Library;\n",
            "b.cpp": '#include "a.h"\nstatic Ops ops(Ops::DEF, "l", {}, __FILE__, __LINE__);\n',
        },
    ),
    "operators by another name of their class": (
        "a.cpp:2:",
        {"a.cpp": "using Ops = torch::RegisterOperators;\nstatic auto r = make(Ops(options));\n"},
    ),
    "a library by a typedef": (
        "a.cpp:2:",
        {
            "a.cpp": "typedef torch::Library Ops;\n"
            'static Ops ops(Ops::DEF, "l", c10::nullopt, __FILE__, __LINE__);\n',
        },
    ),
    "the dispatcher itself": (
        "a.cpp:1:45: error[TG601] '.registerDef' registers without a block",
        {"a.cpp": "auto r = c10::Dispatcher::singleton(       ).registerDef(schema(), \"\");\n"},
    ),
}  # fmt: skip


@pytest.mark.parametrize(("said", "files"), NAMED.values(), ids=NAMED)
def test_what_is_named(said: str, files: dict[str, str], run: Run, project: Path) -> None:
    written(project, files)
    result = run("import", "lib", "--output-format", "concise")
    assert f"lib/{said}" in result.stderr
    assert result.code == 1
    proof = run("prove", "lib", "--output-format", "concise")
    assert proof.code == 1 and "all of them agree" not in proof.stderr


def test_files_that_are_not_text(run: Run, project: Path) -> None:
    """Those that mention a registration are named; others are no part of the library."""
    written(project, {})
    (project / "lib/a.cpp").write_bytes(b"// \xe9\nTORCH_LIBRARY(l, m) {}\n")
    (project / "lib/b.cpp").write_text("TORCH_LIBRARY(l, m) {}\n", "utf-16")
    (project / "lib/c.py").write_bytes(b"# \xe9\nimport torch\nlib = torch.library.Library()\n")
    (project / "lib/d.cpp").write_bytes(b"\xff\xfe\x00")
    result = run("import", "lib", "--output-format", "concise")
    named = [line.partition(":")[0] for line in result.stderr.splitlines() if "TG601" in line]
    assert (named, result.code) == (["lib/a.cpp", "lib/b.cpp", "lib/c.py"], 1)
    assert "all of them agree" not in run("prove", "lib").stderr


@pytest.mark.parametrize("ending", [".cc", ".cxx", ".c++", ".C", ".hh", ".hxx", ".ixx", ".tcc"])
def test_endings(ending: str, run: Run, project: Path) -> None:
    written(project, {f"a{ending}": f"TORCH_LIBRARY(l, m) {BLOCK}"})
    assert "l::f(Tensor x)" in run("import", "lib").stdout
