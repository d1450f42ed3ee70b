"""Checks of whole schema files."""

from __future__ import annotations

from pathlib import Path

import pytest

from torchgen_lite.analysis.kernels import own_kernels
from torchgen_lite.analysis.lint import lint_program
from torchgen_lite.analysis.program import Program, build_program
from torchgen_lite.diagnostics import Source, render_concise
from torchgen_lite.loader.config.project import Config
from torchgen_lite.loader.formats.native_functions import load_native_functions

OPS = """\
- func: add.Tensor(Tensor self, Tensor other) -> Tensor
  structured_delegate: add.out
- func: add_.Tensor(Tensor(a!) self, Tensor other) -> Tensor(a!)
  structured_delegate: add.out
- func: add.out(Tensor self, Tensor other, *, Tensor(a!) out) -> Tensor(a!)
  structured: True
  dispatch:
    CPU: add_out
- func: matmul(Tensor self, Tensor other) -> Tensor
- func: lib::op.x(Tensor self) -> Tensor
  dispatch: {}
"""


def program(*texts: str, config: Config | None = None) -> Program:
    sources = [Source(f"{i}.yaml", text) for i, text in enumerate(texts)]
    functions, found = load_native_functions(sources)
    return build_program(functions, config or Config(Path(".")), diagnostics=found, sources=sources)


def test_own_kernels() -> None:
    tables = {
        f.func.full_name: [(e.key, e.kernel) for e in own_kernels(f)]
        for f in program(OPS).functions
    }
    assert tables == {
        "add.Tensor": [],
        "add_.Tensor": [],
        "add.out": [("CPU", "add_out")],
        "matmul": [("CompositeImplicitAutograd", "matmul")],
        "lib::op.x": [],
    }


def test_names_and_finding() -> None:
    made = program(OPS).resolved
    assert [operator.name for operator in made.operators[-2:]] == ["aten::matmul", "lib::op.x"]
    op = made.find("lib::op.x")
    assert op is not None and op is made.find("op.x")
    assert made.find("aten::op.x") is None


def test_a_program_is_resolved_once() -> None:
    made = program(OPS)
    assert made.resolved is made.resolved


def test_an_overlay_adds_kernels() -> None:
    made = program(
        OPS,
        "- func: add.out(Tensor self, Tensor other, *, Tensor(a!) out) -> Tensor(a!)\n"
        "  dispatch:\n    PrivateUse1: mine\n    CPU: add_out\n  doc: Adds.\n",
    )
    assert made.diagnostics == ()
    operator = made.resolved.find("add.out")
    assert operator is not None and operator.function.doc == "Adds."
    assert [(e.key, e.kernel) for e in operator.kernels] == [
        ("CPU", "add_out"),
        ("PrivateUse1", "mine"),
    ]
    assert len(made.functions) == 5


def test_an_overlay_must_not_contradict() -> None:
    made = program(
        OPS,
        "- func: add.out(Tensor self, Tensor other, *, Tensor(a!) out) -> Tensor(a!)\n"
        "  structured: False\n  dispatch:\n    CPU: other_kernel\n"
        "- func: matmul(Tensor self) -> Tensor\n",
    )
    assert render_concise(made.diagnostics) == """\
1.yaml:2:15: error[TG307] overlay gives 'structured' of 'add.out' another value: declared again here (0.yaml:6:15: first declared here)
1.yaml:4:10: error[TG307] overlay gives 'CPU' of 'add.out' another kernel: another kernel here (0.yaml:8:10: first given here)
1.yaml:5:9: error[TG307] overlay gives 'matmul' another schema: declared again here (0.yaml:9:9: first declared here)
"""


FIRST = """\
- func: lib::f(Tensor x) -> Tensor
  doc: Once.
  device_guard: False
  tags: core
  derivatives:
    x: grad * x
"""


def test_an_overlay_may_repeat() -> None:
    assert program(FIRST, FIRST).functions == program(FIRST).functions
    assert program(FIRST, FIRST).diagnostics == program(FIRST).diagnostics


@pytest.mark.parametrize(
    "field",
    [
        "doc: Twice.",
        "tags: pointwise",
        "guard: '#ifdef A'",
        "torch: '>=2.6'",
        "category_override: dummy",
        "manual_cpp_binding: True",
        "device_guard: True",
        "derivatives: {x: grad}",
    ],
)
def test_nothing_that_an_overlay_says_is_lost(field: str) -> None:
    made = program(FIRST, f"- func: lib::f(Tensor x) -> Tensor\n  {field}\n")
    name = field.partition(":")[0]
    found = [d.message for d in made.diagnostics if d.severity == "error"]
    assert found == [f"overlay gives `{name}` of `lib::f` another value"]


def test_selection_and_suppression() -> None:
    text = (
        "- func: a_(Tensor x) -> Tensor\n"
        "# torchgen-lite: ignore[TG402] historic\n"
        "- func: b_(Tensor x) -> Tensor\n"
        "- func: c_(Tensor x) -> Tensor  # torchgen-lite: ignore[TG401]\n"
        "- func: d_(Tensor x) -> Tensor\n  dispatch:\n    CPUU: k\n"
    )

    def said(select: tuple[str, ...], ignore: tuple[str, ...] = ()) -> list[str]:
        config = Config(Path("."), lint_select=select, lint_ignore=ignore)
        found = lint_program(program(text, config=config)).diagnostics
        return [f"{d.code} {d.operator}" for d in found]

    assert said(("TG",)) == ["TG402 a_", "TG402 c_", "TG402 d_", "TG103 d_"]
    # Errors can't be switched off.
    assert said(("TG",), ("TG4", "TG103")) == ["TG103 d_"]
    assert said(("TG402",), ("TG4",)) == ["TG402 a_", "TG402 c_", "TG402 d_", "TG103 d_"]
    assert said((), ()) == ["TG103 d_"]


@pytest.mark.parametrize("namespace", ["mylib", "aten"])
@pytest.mark.parametrize("beside", ["", "CPU: f_cpu"])
def test_a_structured_kernel_is_one_of_a_backend(namespace: str, beside: str) -> None:
    """With only the explicit kernel, the functional variant would have none; PyTorch's own operators have one."""
    text = f"""\
- func: {namespace}::f(Tensor self) -> Tensor
  structured_delegate: f.out
- func: {namespace}::f.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)
  structured: True
  dispatch: {{{beside + ", " if beside else ""}CompositeExplicitAutograd: f_out}}
"""
    codes = [found.code for found in program(text).diagnostics]
    assert codes == (["TG314"] if namespace == "mylib" and not beside else [])


@pytest.mark.parametrize("dispatch", ["", "  dispatch: {CPU: f_out}\n"])
def test_a_structured_operator_has_a_kernel(dispatch: str) -> None:
    text = f"""\
- func: mylib::f(Tensor self) -> Tensor
  structured_delegate: f.out
- func: mylib::f.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)
  structured: True
{dispatch}"""
    codes = [found.code for found in program(text).diagnostics]
    assert codes == ([] if dispatch else ["TG314"])


@pytest.mark.parametrize("alias", ["", "(a)"])
def test_an_in_place_view_is_one_of_a_view(alias: str) -> None:
    text = f"""\
- func: mylib::f(Tensor{alias} self) -> Tensor{alias}
- func: mylib::f_(Tensor(a!) self) -> Tensor(a!)
  tags: inplace_view
"""
    found = [(one.code, one.message) for one in program(text).diagnostics]
    assert found == ([] if alias else [("TG126", "`f_` is no view: `f` returns none")])
