"""`import` of C++: each file beside its YAML and what is said."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.conftest import Result
from torchgen_lite.diagnostics import Source, has_errors
from torchgen_lite.loader import load_native_functions
from torchgen_lite.loader.fmt import format_text

Run = Callable[..., Result]
HERE = Path(__file__).parent
MACROS = {
    "macros.cpp": ("TORCH_EXTENSION_NAME=mylib", "ON_CPU(name, f)=m.impl(name, torch::kCPU, &f)")
}
FILES = sorted(path.name for path in HERE.glob("*.cpp"))


def expect(name: str, text: str) -> None:
    """Compare with a file of this folder; `UPDATE_EXPECT=1` rewrites it."""
    path = HERE / name
    if os.environ.get("UPDATE_EXPECT"):
        path.write_text(text, "utf-8")
    assert text == path.read_text("utf-8")


@pytest.mark.parametrize("name", FILES)
def test_styles(name: str, run: Run, project: Path) -> None:
    shutil.copy(HERE / name, project)
    options = [word for macro in MACROS.get(name, ()) for word in ("--macro", macro)]
    result = run("import", name, *options, "--output-format", "concise")
    stem = name.removesuffix(".cpp")
    expect(f"{stem}.yaml", result.stdout)
    expect(f"{stem}.txt", result.stderr + f"exit code {result.code}\n")
    entries = result.stdout.removesuffix("\n").split("\n\n")
    declared = [one for one in entries if "(" in one.splitlines()[0]]
    source = Source("ops.yaml", "\n\n".join(declared) + "\n")
    functions, found = load_native_functions([source])
    assert functions and not has_errors(found)
    assert format_text(source.text) == (source.text, ())


def test_kernels_and_definitions_of_different_files(run: Run, project: Path) -> None:
    (project / "src").mkdir()
    (project / "src/ops.cpp").write_text(
        'TORCH_LIBRARY(mylib, m) { m.def("f(Tensor x) -> Tensor"); }'
    )
    (project / "src/cpu.cu").write_text(
        '#include "f.h"\nTORCH_LIBRARY_IMPL(mylib, CPU, m) { m.impl("f", &a::f); }'
    )
    (project / "src/f.h").write_text("namespace a { at::Tensor f(at::Tensor x); }")
    (project / "src/notes.txt").write_text("TORCH_LIBRARY(mylib, m) {}")
    (project / "src/binary.h").write_bytes(b"\xff\xfe\x00")
    result = run("import", "src", "--to", "ops.yaml")
    assert result.code == 0, result.stderr
    written = (project / "ops.yaml").read_text()
    assert written == "- func: mylib::f(Tensor x) -> Tensor\n  dispatch:\n    CPU: a::f\n"
    assert run("import", "src/ops.cpp").stdout.endswith("dispatch: {}\n")
    assert "TG605" in run("import", "src/cpu.cu", "src/f.h").stderr


def test_namespace(run: Run, project: Path) -> None:
    shutil.copy(HERE / "blocks.cpp", project)
    result = run("import", "blocks.cpp", "--namespace", "other")
    assert result.stdout.count("func:") == 1


def test_places_are_those_of_the_call_of_a_macro(run: Run, project: Path) -> None:
    text = '#define DEF(n, t) m.def(#n t)\n/* é */ TORCH_LIBRARY(l, m) {\n  DEF(f, "(Tnsor x) -> ()");\n}\n'
    (project / "a.cpp").write_text(text, "utf-8")
    result = run("import", "a.cpp", "--output-format", "concise")
    assert result.code == 1
    assert result.stderr.startswith("a.cpp:3:3: error[TG604]")


@pytest.mark.parametrize(
    "text",
    [
        "",
        "TORCH_LIBRARY",
        "TORCH_LIBRARY(",
        "TORCH_LIBRARY(a, m) {",
        "#if A\nTORCH_LIBRARY(a, m) { m.def(",
        "#endif\n#else\n#elif\nTORCH_LIBRARY(a, m) {}",
        "#define A A A\n#define B(x) B(x) x\nTORCH_LIBRARY(A, m) { B(B(1)) }",
        'TORCH_LIBRARY(a, m) { m.def(); m.impl(); m.def(""); m.def("\\' 'x("); m; m.x; m(); }',
        "#define A(x) x##x #x\nTORCH_LIBRARY(a, m) { A(;) A( }",
    ],
)
def test_nothing_that_is_written_is_a_crash(text: str, run: Run, project: Path) -> None:
    (project / "a.cpp").write_text(text)
    assert run("import", "a.cpp").code in (0, 1)


def test_macros_that_grow(run: Run, project: Path) -> None:
    lines = ["#define M0 x"]
    lines += [f"#define M{n + 1} M{n} M{n} M{n} M{n} M{n} M{n} M{n} M{n}" for n in range(20)]
    text = "\n".join([*lines, "TORCH_LIBRARY(a, m) { M20; }"])
    (project / "a.cpp").write_text(text)
    assert run("import", "a.cpp").code in (0, 1)


def test_mistakes_of_the_command_line(
    run: Run, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (project / "a.cpp").write_text("")
    assert run("import").code == 2
    assert run("import", "missing.cpp").code == 2
    assert run("import", "a.cpp", "--macro", "1").code == 2
    monkeypatch.setattr("torchgen_lite.loader.importing.cpp_tree.find_spec", lambda name: None)
    result = run("import", "a.cpp")
    assert result.code == 2 and "torchgen-lite[import]" in result.stderr
