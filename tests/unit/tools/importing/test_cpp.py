"""`import` of C++: each file with its YAML and its messages."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.conftest import Result
from tests.expected import expect
from torchgen_lite.diagnostics import Source, has_errors
from torchgen_lite.loader.formats.fmt import format_text
from torchgen_lite.loader.formats.native_functions import load_native_functions

Run = Callable[..., Result]
HERE = Path(__file__).parent
MACROS = {
    "macros.cpp": ("TORCH_EXTENSION_NAME=mylib", "ON_CPU(name, f)=m.impl(name, torch::kCPU, &f)")
}
FILES = sorted(path.name for path in HERE.glob("*.cpp"))


@pytest.mark.parametrize("name", FILES)
def test_styles(name: str, run: Run, project: Path) -> None:
    shutil.copy(HERE / name, project)
    options = [word for macro in MACROS.get(name, ()) for word in ("--macro", macro)]
    result = run("import", name, *options, "--output-format", "concise")
    stem = name.removesuffix(".cpp")
    expect(HERE / f"{stem}.yaml", result.stdout)
    expect(HERE / f"{stem}.txt", result.stderr + f"exit code {result.code}\n")
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
    result = run("import", "src", "--output", "ops.yaml")
    assert result.code == 0, result.stderr
    written = (project / "ops.yaml").read_text()
    assert written == "- func: mylib::f(Tensor x) -> Tensor\n  dispatch:\n    CPU: a::f\n"
    assert run("import", "src/ops.cpp").stdout.endswith("dispatch: {}\n")
    assert "TG605" in run("import", "src/cpu.cu", "src/f.h").stderr


@pytest.mark.parametrize("option", ["--output", "--declare"])
@pytest.mark.parametrize("name", ["ops.yaml", "src/ops.cpp", "src/ops.h", "new.yaml"])
@pytest.mark.parametrize("is_project", [False, True])
def test_what_may_be_an_authors_is_not_replaced(
    run: Run, project: Path, option: str, name: str, is_project: bool
) -> None:
    """After `adopt`, the command that README shows first left the schema file without the operators that had moved."""
    (project / "src").mkdir()
    (project / "src/ops.cpp").write_text(
        'TORCH_LIBRARY(mylib, m) { m.def("f(Tensor x) -> Tensor"); }'
    )
    (project / "src/ops.h").write_text("at::Tensor g(at::Tensor x);\n")
    (project / "ops.yaml").write_text("- func: mylib::mine(Tensor x) -> Tensor\n")
    (project / "torchgen_lite.toml").unlink()
    if is_project:
        (project / "torchgen_lite.toml").write_text('schema = ["ops.yaml"]\n')
    path = project / name
    before = path.read_text() if path.exists() else None
    is_kept = before is not None and (is_project or name.startswith("src"))
    result = run("import", "src", option, name)
    assert (result.code == 2, path.read_text() == before) == (is_kept, is_kept)
    assert (f"`{name}` is not replaced" in result.stderr) == is_kept
    again = run("import", "src", option, name)
    assert again.code == result.code


def test_a_schema_file_is_known_from_anywhere_and_nothing_is_half_written(
    run: Run, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (project / "src").mkdir()
    (project / "src/ops.cpp").write_text(
        'TORCH_LIBRARY(mylib, m) { m.def("f(Tensor x) -> Tensor"); }'
    )
    (project / "torchgen_lite.toml").write_text('schema = ["ops.yaml"]\n')
    (project / "ops.yaml").write_text("- func: mylib::mine(Tensor x) -> Tensor\n")
    (project / "main.cpp").write_text("int main() {}\n")
    before = {path.name: path.read_text() for path in project.glob("*.*")}
    monkeypatch.chdir(project / "src")
    for options in (
        ("--output", "../ops.yaml"),
        ("--declare", "../k.h", "--output", "../ops.yaml"),
        ("--declare", "../main.cpp"),
    ):
        assert run("import", "ops.cpp", *options).code == 2
        assert {path.name: path.read_text() for path in project.glob("*.*")} == before
    # What it has written itself is another matter.
    (project / "new.yaml").write_text("- func: mylib::g(Tensor x) -> Tensor\n")
    assert run("import", "ops.cpp", "--output", "../new.yaml").code == 0


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


def test_files_that_register_nothing(run: Run, project: Path) -> None:
    (project / "a.cpp").write_text("int f();\n")
    (project / "b.h").write_text("")
    result = run("import", ".")
    said = "no TORCH_LIBRARY, no pybind11 module, no torch.library in 2 files\n"
    assert (result.code, result.stdout, result.stderr) == (1, "", said)


TWO_DEVICES = """\
#include <torch/extension.h>
at::Tensor {name}(const at::Tensor& x) {{ return x; }}
PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {{ m.def("both", &{name}); }}
"""


@pytest.mark.parametrize(
    ("name", "dispatch"),
    [
        ("both_cuda", ["    CPU: ::both", "    CUDA: ::both_cuda"]),
        (
            "both",
            [
                "    # ? `both` is the name of several functions: each needs its own",
                "    CPU, CUDA: ::both",
            ],
        ),
    ],
)
def test_extensions_of_one_name_are_one_operator(
    name: str, dispatch: list[str], run: Run, project: Path
) -> None:
    """One for CPU and one for CUDA."""
    (project / "csrc").mkdir()
    (project / "csrc/both.cpp").write_text(TWO_DEVICES.format(name="both"))
    (project / "csrc/both_cuda.cu").write_text(TWO_DEVICES.format(name=name))
    result = run("import", "csrc", "--macro", "TORCH_EXTENSION_NAME=ours")
    assert result.stdout.splitlines() == [
        "- func: ours::both(Tensor x) -> Tensor",
        "  dispatch:",
        *dispatch,
    ]
    assert result.code == 0, result.stderr
    assert result.stderr == """\
csrc/both.cpp: 1 binding of pybind11, 1 proposed, 0 not read
csrc/both_cuda.cu: 1 binding of pybind11, 1 proposed, 0 not read
1 operator
"""


@pytest.mark.parametrize("other", ["at::Tensor{0}both(at::Tensor y)", "void{0}both(at::Tensor x)"])
def test_what_is_bound_twice_for_a_device_or_otherwise(other: str, run: Run, project: Path) -> None:
    """The first is proposed, and the other one is named."""
    (project / "csrc").mkdir()
    text = TWO_DEVICES.format(name="both")
    (project / "csrc/both.cpp").write_text(text)
    head = "at::Tensor both(const at::Tensor& x)"
    ending = "cpp" if "y" in other else "cu"
    (project / f"csrc/other.{ending}").write_text(text.replace(head, other.format(" ")))
    result = run("import", "csrc", "--macro", "TORCH_EXTENSION_NAME=ours")
    assert "    CPU: ::both" in result.stdout and "CUDA" not in result.stdout
    assert "this name is bound twice" in result.stderr


def test_bindings_of_functions_in_other_files(run: Run, project: Path) -> None:
    """The key is that of the file that defines a function; the names are those of its definition."""
    (project / "bind.cpp").write_text(
        '#include "ops.h"\nPYBIND11_MODULE(mine, m) { m.def("f", &mine::f); m.def("g", &mine::g); }\n'
    )
    (project / "ops.h").write_text(
        "namespace mine { at::Tensor f(at::Tensor, int64_t); at::Tensor g(at::Tensor); }\n"
    )
    (project / "f.cu").write_text(
        "namespace mine { at::Tensor f(torch::Tensor x, int64_t n) { return x; } }\n"
    )
    (project / "g.cpp").write_text("at::Tensor mine::g(at::Tensor x) { return x; }\n")
    result = run("import", ".", "--output-format", "concise")
    assert result.stdout == """\
- func: mine::f(Tensor x, int n) -> Tensor
  dispatch:
    CUDA: f

- func: mine::g(Tensor x) -> Tensor
  dispatch:
    CPU: g
"""
    said = "bind.cpp: 2 bindings of pybind11, 2 proposed, 0 not read\n2 operators\n"
    assert (result.code, result.stderr) == (0, said)


def test_kernels_that_builds_without_cuda_do_not_have(run: Run, project: Path) -> None:
    (project / "ops.cpp").write_text("""\
at::Tensor f(at::Tensor x);
at::Tensor g(at::Tensor x);
TORCH_LIBRARY(mylib, m) {
  m.def("f(Tensor x) -> Tensor", &f);
  m.def("g(Tensor x) -> Tensor");
  m.impl("g", torch::kCUDA, &g);
  m.impl("g", torch::kCPU, &f);
#ifdef WITH_CUDA
  m.def("h(Tensor x) -> Tensor", &f);
#endif
}
""")
    (project / "f.cu").write_text(
        "at::Tensor f(at::Tensor x) { return x; }\nat::Tensor g(at::Tensor x) { return x; }\n"
        'TORCH_LIBRARY_IMPL(mylib, CPU, m) { m.impl("h", &f); }\n'
    )
    result = run("import", ".", "--output-format", "concise")
    said = "f.cu:1:12: warning[TG616] kernel '::f' of 'mylib::{}' for {} is in a file of CUDA"
    assert (result.code, [one.partition(": only")[0] for one in result.stderr.splitlines()]) == (
        0,
        [
            said.format("f", "CompositeImplicitAutograd"),
            said.format("g", "CPU"),
            said.format("h", "CPU"),
            "3 operators, 3 things to do by hand",
        ],
    )
    assert run("prove", ".", "--output-format", "concise").stderr.count("TG616") == 3
    (project / "f.cpp").write_text("at::Tensor f(at::Tensor x) { return x; }\n")
    assert "TG616" not in run("import", ".").stderr


LIST = """\
// OP(name, schema)
OP(f, "(Tensor x) -> Tensor")
#include "more.def"
#undef OP
"""
INCLUDING = """\
at::Tensor f_cpu(at::Tensor x);
at::Tensor g_cpu(at::Tensor x);
#define UNARY(X) X(h) X(i)
TORCH_LIBRARY(mylib, m) {
#define OP(name, schema) m.def(#name schema);
#include "lists/ops.def"
#define ONE(name) m.def(#name "(Tensor x) -> Tensor");
UNARY(ONE)
#undef ONE
}
#define OP(name, schema) m.impl(#name, &name##_cpu);
#define ONE(name) m.impl(#name, &f_cpu);
#ifdef CPU
TORCH_LIBRARY_IMPL(mylib, CPU, m) {
#include "ops.def"
UNARY(ONE)
}
#endif
"""


def test_lists_that_are_included(run: Run, project: Path) -> None:
    """With the macros of that line, and once for each; nothing is read that was not given."""
    (project / "src/lists").mkdir(parents=True)
    (project / "src/lists/ops.def").write_text(LIST)
    (project / "src/lists/more.def").write_text('OP(g, "(Tensor x) -> Tensor")\n')
    (project / "src/ops.cpp").write_text(INCLUDING)
    result = run("import", "src", "--output-format", "concise")
    assert [line for line in result.stdout.splitlines() if line.startswith("- func")] == [
        f"- func: mylib::{name}(Tensor x) -> Tensor" for name in "fghi"
    ]
    assert result.stdout.count("CPU: ::f_cpu") == 3 and result.stdout.count("CPU: ::g_cpu") == 1
    problems = [line for line in result.stderr.splitlines() if "TG603" not in line]
    assert problems == ["4 operators, 4 things to do by hand"], "the condition"
    (project / "src/lists").rename(project / "lists")
    (project / "src/lists").symlink_to(project / "lists")
    lines = run("import", "src", "--output-format", "concise").stderr.splitlines()
    help_ = "give the file, if it has no conditions, or the built library: '--module'"
    said = "error[TG601] '\"{}ops.def\"' is included in the middle of a block, and not read"
    assert [line for line in lines if "TG601" in line] == [
        f"src/ops.cpp:6:1: {said.format('lists/')} ({help_})",
        f"src/ops.cpp:15:1: {said.format('')} ({help_})",
    ]


@pytest.mark.parametrize(
    ("text", "is_read"),
    [
        ('m.def("f() -> ()");', True),
        ('#pragma once\nm.def("f() -> ()");', False),
        ('#ifdef A\nm.def("f() -> ()");\n#endif', False),
        ('#ifndef A\n#define A\n#endif\nm.def("f() -> ()");', True),
        ('#include "a.inc"\n', False),
        ('#include "b.inc"\n', False),
    ],
)
def test_what_an_included_file_may_have(text: str, is_read: bool, run: Run, project: Path) -> None:
    (project / "a.cpp").write_text('TORCH_LIBRARY(l, m) {\n#include "a.inc"\n}\n')
    (project / "a.inc").write_text(text)
    result = run("import", ".")
    assert ("- func: l::f() -> ()" in result.stdout) == is_read
    assert ("TG601" in result.stderr) != is_read


def test_included_lists_that_grow(run: Run, project: Path) -> None:
    text = "".join(f'#include "{n + 1}.inc"\n' * 9 for n in [0])
    for number in range(30):
        (project / f"{number}.inc").write_text(text.replace("1.inc", f"{number + 1}.inc"))
    (project / "30.inc").write_text('m.def("f() -> ()");\n')
    (project / "a.cpp").write_text('TORCH_LIBRARY(l, m) {\n#include "0.inc"\n}\n')
    result = run("import", ".")
    assert result.code == 1 and "TG601" in result.stderr


def deep(before: str, inner: str, after: str) -> str:
    return 3000 * before + inner + 3000 * after


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
        'TORCH_LIBRARY(a, m) { m.def("f(Tensor x) -> Tensor", ' + deep("(", "f", ")") + "); }",
        'TORCH_LIBRARY(a, m) { m.def("f() -> ()", ' + deep("TORCH_FN(", "f", ")") + "); }",
        "TORCH_LIBRARY(a, m) { m.def(" + deep("(", '"f() -> ()"', ")") + "); }",
        "TORCH_LIBRARY(a, m) { m.def(" + deep("schema(", '"f() -> ()"', ")") + "); }",
        "TORCH_LIBRARY(a, m) " + deep("{", 'm.def("f() -> ()");', "}"),
        f"{deep('std::vector<', 'int64_t', '>')} f();" + 'TORCH_LIBRARY(a, m) { m.def("f", f); }',
        "#define A(x) x\nTORCH_LIBRARY(a, m) { " + deep("A(", "", ")") + " }",
    ],
)
def test_nothing_that_is_written_is_a_crash(text: str, run: Run, project: Path) -> None:
    (project / "a.cpp").write_text(text)
    assert run("import", "a.cpp").code in (0, 1)


@pytest.mark.parametrize(
    ("start", "unclosed"),
    [("#define F(x) x\n", "F(\n"), ("", 'R"(\n'), ("", "/*\n"), ("", "x /* y\n")],
)
def test_what_is_not_closed(start: str, unclosed: str, run: Run, project: Path) -> None:
    text = start + 'TORCH_LIBRARY(a, m) { m.def("f() -> ()"); }\n' + 20_000 * unclosed
    (project / "a.cpp").write_text(text)
    assert run("import", "a.cpp").stdout == "- func: a::f() -> ()\n  dispatch: {}\n"


def test_macros_within_the_arguments_of_the_same_macro(run: Run, project: Path) -> None:
    (project / "a.cpp").write_text("""\
#define ID(x) x
#define PASTED(a, b) a##b
#define CAT(a, b) PASTED(a, b)
void f_cpu_out();
TORCH_LIBRARY(a, m) { m.def("f() -> ()"); m.impl("f", torch::kCPU, ID(ID(CAT(CAT(f_, cpu), _out)))); }
""")
    result = run("import", "a.cpp")
    assert result.stdout == "- func: a::f() -> ()\n  dispatch:\n    CPU: ::f_cpu_out\n"


def test_conditions_of_other_branches(run: Run, project: Path) -> None:
    lines = ["#ifdef A", "#elifdef B", "#elifndef C", "#elif D", "#else"]
    defs = [f'{line}\nm.def("f{at}() -> ()");' for at, line in enumerate(lines)]
    (project / "a.cpp").write_text("\n".join(["TORCH_LIBRARY(a, m) {", *defs, "#endif\n}"]))
    written = run("import", "a.cpp").stdout.splitlines()
    none = "!defined(A) && !defined(B) && defined(C)"
    assert [line.strip() for line in written if "guard" in line] == [
        'guard: "#ifdef A"',
        'guard: "#if !defined(A) && defined(B)"',
        'guard: "#if !defined(A) && !defined(B) && !defined(C)"',
        f'guard: "#if {none} && D"',
        f'guard: "#if {none} && !(D)"',
    ]


def test_a_template_in_no_namespace_has_one_problem(run: Run, project: Path) -> None:
    (project / "a.cpp").write_text(
        'TORCH_LIBRARY(a, m) { m.def("f() -> ()"); m.impl("f", torch::kCPU, &t<float>); }'
    )
    said = run("import", "a.cpp").stderr
    assert "TG602" in said and "TG606" not in said


def test_macros_that_grow(run: Run, project: Path) -> None:
    lines = ["#define M0 x"]
    lines += [f"#define M{n + 1} M{n} M{n} M{n} M{n} M{n} M{n} M{n} M{n}" for n in range(20)]
    text = "\n".join([*lines, "TORCH_LIBRARY(a, m) { M20; }"])
    (project / "a.cpp").write_text(text)
    assert run("import", "a.cpp").code in (0, 1)


def test_mistakes_of_the_command_line(run: Run, project: Path) -> None:
    (project / "a.cpp").write_text("")
    assert run("import").code == 2
    assert run("import", "missing.cpp").code == 2
    assert run("import", "a.cpp", "--macro", "1").code == 2


def test_where_nothing_is_registered(run: Run, project: Path) -> None:
    """If a folder or a namespace is mistyped, an existing file stays."""
    (project / "f.cpp").write_text('TORCH_LIBRARY(mylib, m) { m.def("f(Tensor x) -> Tensor"); }')
    (project / "ops.yaml").write_text("- func: mylib::f(Tensor x) -> Tensor\n")
    result = run("import", "f.cpp", "--namespace", "my_lib", "--output", "ops.yaml")
    assert (result.code, result.stdout, result.stderr) == (
        1,
        "",
        "0 operators of namespace `my_lib`\n",
    )
    assert (project / "ops.yaml").read_text() == "- func: mylib::f(Tensor x) -> Tensor\n"


def test_kernels_that_no_header_declares(run: Run, project: Path) -> None:
    """Their types are those of the definition; what only the file knows is reported."""
    (project / "known.h").write_text("at::Tensor known(at::Tensor x, int n);\n")
    text = "using at::Tensor;\nTensor one(const Tensor& x, float s = 1.0f) { return x * s; }\n"
    text += 'PYBIND11_MODULE(lib, m) {\n  m.def("one", &one);\n  m.def("known", &known);\n}\n'
    (project / "ops.cpp").write_text(text)
    result = run("import", ".", "--output", "ops.yaml", "--declare", "kernels.h")
    assert (project / "kernels.h").read_text() == """\
#pragma once

#include <torch/types.h>

at::Tensor one(const at::Tensor& x, float s);
"""
    assert (
        'numbers of other types, and keep them: `kernel-headers = ["known.h"]`, with the one'
        in result.stderr
    )
    assert "declarations written to kernels.h" in result.stderr
