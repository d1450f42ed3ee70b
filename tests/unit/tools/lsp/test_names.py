"""References, definitions, hovers and renames of what entries name, in schema files, Python and C++."""

from __future__ import annotations

from pathlib import Path

import pytest

from torchgen_lite.diagnostics import Source, Span, apply_edits
from torchgen_lite.diagnostics.content import place as shown_place
from torchgen_lite_tools.lsp.analysis import Analysis, analyze
from torchgen_lite_tools.lsp.definition import definitions
from torchgen_lite_tools.lsp.hover import hover
from torchgen_lite_tools.lsp.places import Place, find_place
from torchgen_lite_tools.lsp.references import references
from torchgen_lite_tools.lsp.rename import CannotRename, rename

PYTHON = """\
schema = ["ops.yaml"]
targets = ["torch-python"]
[target.torch-python]
kernels = ["mylib.kernels"]
fakes = ["mylib.kernels"]
formulas = ["mylib.kernels"]
"""
OPS = """\
- func: mylib::muladd(Tensor a, Tensor b, float s=1.0) -> Tensor
  doc: a * b + s, of two tensors a and b
  dispatch:
    CPU: muladd  # for a and b
    CUDA: muladd
  fake:
    like: a
    check: {a.dim() == b.dim(): same rank}
  derivatives:
    a: half(grad, b)
    b: half(grad, a)
    result: a_t * b_p + b_t * a_p
  samples:
    calls:
      - (randn(3, dtype=float32), b=randn(3), s=2.0)
    reference: a * b + s
- func: mylib::other(Tensor a) -> Tensor
  dispatch: {CPU: other}
  fake: fake_other
"""
KERNELS = """\
def muladd(a, b, s):
    def inner(b):
        return b
    "a * b"
    return a * inner(b) + s


def half(grad, x):
    return grad * x


def other(a):
    return muladd(a, a, 0.5)


def fake_other(a):
    muladd = a.new_empty(a.shape)
    return muladd
"""
TESTS = """\
from mylib.kernels import muladd
from mylib import kernels

import mylib


def test_muladd():
    assert muladd(1, 2, s=3) == kernels.muladd(1, 2, 3)
    mylib.muladd(1, 2, 3)
"""
CPP = """\
schema = ["ops.yaml"]
targets = ["cpp-torch"]
"""
CPP_OPS = """\
- func: mylib::scale(Tensor self, float by) -> Tensor
  dispatch:
    CPU: scale
    CUDA: scale
"""
CPP_KERNELS = """\
// scale by `by`
namespace mylib {
at::Tensor scale(const at::Tensor& self, double by);
at::Tensor scale(const at::Tensor& self, double by) {
  auto text = "scale by";
  if (by == options.by) { return at::scale(self, by); }
  return mylib::scale(self, by);
}
at::Tensor twice(double by) { return scale(x, by); }
}
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A project in Python whose kernels are used by a test."""
    (tmp_path / "torchgen_lite.toml").write_text(PYTHON)
    (tmp_path / "ops.yaml").write_text(OPS)
    (tmp_path / "mylib").mkdir()
    (tmp_path / "mylib" / "kernels.py").write_text(KERNELS)
    (tmp_path / "test_it.py").write_text(TESTS)
    return tmp_path


@pytest.fixture
def in_cpp(tmp_path: Path) -> Path:
    (tmp_path / "torchgen_lite.toml").write_text(CPP)
    (tmp_path / "ops.yaml").write_text(CPP_OPS)
    (tmp_path / "kernels.cpp").write_text(CPP_KERNELS)
    return tmp_path


def at(folder: Path, before: str, after: str) -> tuple[Analysis, Place]:
    """The analysis of a project, and the place between two texts of its schema file."""
    path = folder / "ops.yaml"
    text = path.read_text()
    assert text.count(before + after) == 1
    analysis = analyze(path.resolve(), {})
    assert analysis is not None
    assert [one.message for one in analysis.diagnostics if one.severity == "error"] == []
    offset = text.index(before + after) + len(before)
    return analysis, find_place(Source(str(path), text), offset)


def shown(spans: list[Span]) -> list[str]:
    return [shown_place(span) for span in spans]


def renamed(folder: Path, before: str, after: str, new: str) -> dict[str, str]:
    """The changed lines of each file, after a rename."""
    edits = rename(*at(folder, before, after), new, {})
    found = {}
    for path in {edit.span.source.path for edit in edits}:
        some = [edit for edit in edits if edit.span.source.path == path]
        old = some[0].span.source.text
        after_it = apply_edits(old, sorted(some, key=lambda edit: edit.span.start))
        pairs = zip(old.splitlines(), after_it.splitlines())
        found[path] = "".join(f"{line}\n" for was, line in pairs if was != line)
    return found


ARGUMENT = {
    "ops.yaml": """\
- func: mylib::muladd(Tensor a, Tensor other, float s=1.0) -> Tensor
    check: {a.dim() == other.dim(): same rank}
    a: half(grad, other)
    other: half(grad, a)
    result: a_t * other_p + other_t * a_p
      - (randn(3, dtype=float32), other=randn(3), s=2.0)
    reference: a * other + s
""",
    "mylib/kernels.py": """\
def muladd(a, other, s):
    return a * inner(other) + s
""",
}
FUNCTION = {
    "ops.yaml": "    CPU: fma  # for a and b\n    CUDA: fma\n",
    "mylib/kernels.py": "def fma(a, b, s):\n    return fma(a, a, 0.5)\n",
    "test_it.py": "from mylib.kernels import fma\n    assert fma(1, 2, s=3) == kernels.fma(1, 2, 3)\n",
}


@pytest.mark.parametrize(
    ("before", "after"),
    [("Tensor a, Tensor ", "b, "), ("half(grad, ", "b)"), ("* ", "b_p"), ("float32), ", "b=")],
)
def test_an_argument_is_renamed_wherever_it_is_named(folder: Path, before: str, after: str) -> None:
    assert renamed(folder, before, after, "other") == ARGUMENT


def test_a_kernel_is_renamed_wherever_it_is_named(folder: Path) -> None:
    assert renamed(folder, "CPU: mul", "add  #", "fma") == FUNCTION


@pytest.mark.parametrize(
    ("importing", "call"),
    [
        ("from mylib.kernels import muladd", "muladd"),
        ("from mylib.kernels import *", "muladd"),
        ("from mylib import kernels", "kernels.muladd"),
        ("from mylib import kernels as k", "k.muladd"),
        ("import mylib.kernels", "mylib.kernels.muladd"),
        ("import mylib.kernels as k", "k.muladd"),
        ("def f():\n    from mylib import kernels as k\n    return k.muladd", "f()"),
    ],
)
def test_a_kernel_is_renamed_however_it_is_imported(
    folder: Path, importing: str, call: str
) -> None:
    (folder / "test_it.py").write_text(f"{importing}\nassert {call}(1, 2, 3) == 5\n")
    edited = renamed(folder, "CPU: ", "muladd", "fma")["test_it.py"]
    whole = f"{importing}\nassert {call}(1, 2, 3) == 5\n".replace("muladd", "fma")
    assert set(edited.splitlines()) <= set(whole.splitlines())
    assert edited.count("fma") == whole.count("fma")


CALLERS = {
    "import mylib": "mylib.muladd(1, 2, s=3)",
    "import mylib as m": "m.muladd(1, 2, s=3)",
    "from mylib import muladd as fma": "fma(1, 2, s=3)",
    "from mylib._ops.functions import muladd": "muladd(1, 2, s=3)",
    "from mylib.kernels import muladd": "muladd(1, 2, s=3)",
    "from . import kernels": "kernels.muladd(1, 2, s=3)",
    "import torch": "torch.ops.mylib.muladd(1, 2, s=3)",
    "from torch import ops": "ops.mylib.muladd.default(1, 2, s=3)",
}
OTHERS = {
    "import numpy": "numpy.muladd(1, 2, s=3)",
    "import torch": "torch.ops.other.muladd(1, 2, s=3)",
    "import mylib": "mylib.half(1, s=3)",
    "from other import muladd": "muladd(1, 2, s=3)",
}


@pytest.mark.parametrize(("importing", "call"), CALLERS.items())
def test_an_argument_is_renamed_where_it_is_given(folder: Path, importing: str, call: str) -> None:
    (folder / "test_it.py").write_text(f"{importing}\nx = {call}\n")
    found = renamed(folder, "float ", "s=1.0", "bias")
    assert found["test_it.py"] == f"x = {call}\n".replace("s=3", "bias=3")
    assert "bias" in found["mylib/kernels.py"]


@pytest.mark.parametrize(("importing", "call"), OTHERS.items())
def test_an_argument_of_another_function_keeps_its_name(
    folder: Path, importing: str, call: str
) -> None:
    (folder / "test_it.py").write_text(f"{importing}\nx = {call}\n")
    assert "test_it.py" not in renamed(folder, "float ", "s=1.0", "bias")


NAMING = [
    "from mylib import kernels\ngetattr(kernels, 'muladd')",
    "from mylib.kernels import muladd\n__all__ = ['muladd']",
    "import mylib.kernels\nnames = {'muladd': 1}",
    "from unittest import mock\nmock.patch('mylib.kernels.muladd')",
    "entry = 'mylib.kernels:muladd'",
]


@pytest.mark.parametrize("text", NAMING)
def test_a_function_that_a_string_names_is_not_renamed(folder: Path, text: str) -> None:
    (folder / "test_it.py").write_text(f"{text}\n")
    with pytest.raises(CannotRename, match=r"the string at test_it.py:[12]:\d+ names it, too"):
        rename(*at(folder, "CPU: ", "muladd"), "fma", {})


def test_a_string_of_another_kind_is_in_no_way(folder: Path) -> None:
    (folder / "test_it.py").write_text(
        "import mylib\ngetattr(mylib, 'muladd')\n'mylib::muladd'\n'about muladd'\n"
    )
    assert "test_it.py" not in renamed(folder, "CPU: ", "muladd", "fma")


def test_a_kernel_is_renamed_in_its_package(folder: Path) -> None:
    (folder / "mylib" / "__init__.py").write_text(
        "from . import kernels as k\nfrom .kernels import other\nx = k.muladd\n"
    )
    found = renamed(folder, "CPU: ", "muladd", "fma")
    assert found["mylib/__init__.py"] == "x = k.fma\n"


def test_what_only_looks_like_the_kernel_keeps_its_name(folder: Path) -> None:
    (folder / "test_it.py").write_text("import numpy as kernels\nkernels.muladd(1)\n")
    assert "test_it.py" not in renamed(folder, "CPU: ", "muladd", "fma")


def test_a_helper_of_formulas_is_renamed(folder: Path) -> None:
    assert renamed(folder, "a: ha", "lf(grad", "scaled") == {
        "ops.yaml": "    a: scaled(grad, b)\n    b: scaled(grad, a)\n",
        "mylib/kernels.py": "def scaled(grad, x):\n",
    }


def test_a_fake_is_renamed(folder: Path) -> None:
    assert renamed(folder, "fake: fake_", "other\n", "shape_of_other") == {
        "ops.yaml": "  fake: shape_of_other\n",
        "mylib/kernels.py": "def shape_of_other(a):\n",
    }


def test_a_kernel_of_cpp_is_renamed_in_its_namespace(in_cpp: Path) -> None:
    assert renamed(in_cpp, "CPU: sc", "ale\n", "times") == {
        "ops.yaml": "    CPU: times\n    CUDA: times\n",
        "kernels.cpp": """\
at::Tensor times(const at::Tensor& self, double by);
at::Tensor times(const at::Tensor& self, double by) {
  return mylib::times(self, by);
at::Tensor twice(double by) { return times(x, by); }
""",
    }


def test_an_argument_of_a_kernel_of_cpp_is_renamed_in_its_definition(in_cpp: Path) -> None:
    assert renamed(in_cpp, "float ", "by)", "factor") == {
        "ops.yaml": "- func: mylib::scale(Tensor self, float factor) -> Tensor\n",
        "kernels.cpp": """\
at::Tensor scale(const at::Tensor& self, double factor) {
  if (factor == options.by) { return at::scale(self, factor); }
  return mylib::scale(self, factor);
""",
    }


@pytest.mark.parametrize(
    ("before", "after", "new", "reason"),
    [
        ("Tensor a, Tensor ", "b, ", "a", "there is a `a` already, at ops.yaml:1:"),
        ("Tensor a, Tensor ", "b, ", "inner", "there is a `inner` already, at mylib/kernels.py:2:9"),
        ("Tensor a, Tensor ", "b, ", "grad", "there is a `grad` already"),
        ("Tensor a, Tensor ", "b, ", "not one", "`not one` is not the name of an argument"),
        ("CPU: mul", "add  #", "half", "there is a `half` already"),
        ("CPU: mul", "add  #", "test_muladd", "there is a `test_muladd` already, at test_it.py:7:5"),
        ("mylib::mul", "add(", "fma", "only arguments, kernels and other functions of entries"),
        ("# for ", "a and", "x", "only arguments"),
        ("result: a_t * ", "b_p", "result", "there is a `result` already"),
    ],
)  # fmt: skip
def test_what_is_refused(folder: Path, before: str, after: str, new: str, reason: str) -> None:
    with pytest.raises(CannotRename) as refused:
        rename(*at(folder, before, after), new, {})
    assert str(refused.value).startswith(reason)


def test_a_rename_that_leaves_a_mistake_is_refused(folder: Path) -> None:
    """The keyword of a call that goes on in the next line is not found."""
    path = folder / "ops.yaml"
    path.write_text(OPS.replace("float32), b=", "float32),\n         b="))
    with pytest.raises(CannotRename, match="after it: "):
        rename(*at(folder, "Tensor a, Tensor ", "b, "), "other", {})


def test_references_and_the_definition(folder: Path) -> None:
    analysis, place = at(folder, "half(grad, ", "b)")
    assert shown(definitions(analysis, place)) == ["ops.yaml:1:40"]
    every = references(analysis, place, True)
    assert shown(every)[:3] == ["ops.yaml:1:40", "ops.yaml:8:24", "ops.yaml:10:19"]
    assert {span.text for span in every} == {"b"}
    assert shown(references(analysis, place, False)) == shown(every)[1:]


def test_the_definition_of_a_function_in_a_formula(folder: Path) -> None:
    analysis, place = at(folder, "a: ha", "lf(grad")
    assert shown(definitions(analysis, place)) == ["mylib/kernels.py:8:1"]
    assert shown(references(analysis, place, False)) == ["ops.yaml:10:8", "ops.yaml:11:8"]


@pytest.mark.parametrize(
    ("before", "after", "said"),
    [
        ("half(grad, ", "b)", "`Tensor b`: an argument of mylib::muladd"),
        ("reference: a * b + ", "s\n", "`float s=1.0`: an argument of mylib::muladd"),
        ("a: ha", "lf(grad", "half(grad"),
    ],
)
def test_hover_in_formulas(folder: Path, before: str, after: str, said: str) -> None:
    assert said in (hover(*at(folder, before, after)) or "")


def test_a_field_has_no_dead_link(folder: Path) -> None:
    analysis, place = at(folder, "  fa", "ke:\n")
    said = hover(analysis, place) or ""
    assert said == "`fake`: what the operator returns when only shapes are known, see schema.md"
