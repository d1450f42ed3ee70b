"""`derivatives: auto`: one formula for all tensors, a call with everything that the reference takes."""

from __future__ import annotations

from pathlib import Path

import pytest

from torchgen_lite import load
from torchgen_lite.analysis.policy import Origin
from torchgen_lite.analysis.program import Program
from torchgen_lite.diagnostics import render_concise
from torchgen_lite.pipeline import generate_all
from torchgen_lite.targets import TARGETS

FUNC = "- func: my::f(Tensor x, Tensor? w=None, int n=1) -> Tensor\n"
AUTO = "  dispatch: {CPU: f}\n  fake: {like: x}\n  derivatives: auto\n"
REFERENCE = "  samples: {calls: [(randn(3))], reference: x * n}\n"
PYTHON = ', "torch-python"]\n[target.torch-python]\nload = "_C"'


def program_of(folder: Path, entries: str, config: str = "]") -> Program:
    (folder / "ops.yaml").write_text(entries)
    (folder / "kern.py").write_text("def f(x, w=None, n=1): ...\n")
    text = f'schema = "ops.yaml"\ntargets = ["torch-python"\n{config}\n'
    if '"' in config:
        text = f'schema = "ops.yaml"\ntargets = [{config}\n'
    (folder / "torchgen_lite.toml").write_text(text)
    return load(root=folder)


def test_it_is_one_formula(tmp_path: Path) -> None:
    program = program_of(tmp_path, FUNC + AUTO + REFERENCE)
    info = program.resolved.autograd["my::f"].info
    assert program.diagnostics == ()
    assert info is not None and info.function.is_auto
    assert [(one.names, one.formula.text) for one in info.derivatives] == [
        (("x", "w"), "auto (x * n)")
    ]
    assert [saved.name for saved in info.saved] == ["x", "w", "n"]


@pytest.mark.parametrize(
    ("entry", "found"),
    [
        (
            FUNC + AUTO,
            "4:16: error[TG325] 'my::f' has no 'reference' in 'samples', which 'auto' differentiates: no formulas here",
        ),
        (
            "- func: my::f_(Tensor(a!) self) -> Tensor(a!)\n"
            "  dispatch: {CPU: f}\n  derivatives: auto\n"
            "  samples: {calls: [(randn(3))], reference: self * 2}\n",
            "3:16: error[TG325] 'auto' of 'my::f_', which writes to an argument or returns one: no formulas here",
        ),
        (
            FUNC + AUTO + REFERENCE + "  tags: nondeterministic_seeded\n",
            "4:16: error[TG325] 'auto' of 'my::f', which draws random numbers, so that a reference has others: no formulas here",
        ),
        (
            FUNC + AUTO.replace("auto", "automatic") + REFERENCE,
            "4:16: error[TG106] 'derivatives' takes a mapping to formulas, or 'auto', not a single value: wrong type",
        ),
    ],
)
def test_what_cannot_have_it(entry: str, found: str, tmp_path: Path) -> None:
    program = program_of(tmp_path, entry)
    said = render_concise(program.diagnostics).splitlines()
    assert [line.partition("ops.yaml:")[2].partition(" (")[0] for line in said] == [found]


@pytest.mark.parametrize(
    ("targets", "said", "at_autograd"),
    [
        # The fake of the entry.
        ('"cpp-torch"]', ["TG535"], [Origin.autograd]),
        # The library refuses gradients until the package is there.
        ('"cpp-torch"' + PYTHON, [], [Origin.underived, Origin.formulas]),
        ('"cpp-torch"' + PYTHON + "\nautograd = false", [], [Origin.autograd, None]),
        ('"cpp-torch-stable"]', ["TG535", "TG535"], [None]),
        ('"cpp-torch-stable"' + PYTHON, [], [None, Origin.formulas]),
        ('"cpp-runtime"]\n[target.cpp-runtime]\ntensor = "T"', ["TG535", "TG562"], [None]),
    ],
)
def test_who_registers_it(
    targets: str, said: list[str], at_autograd: list[Origin | None], tmp_path: Path
) -> None:
    program = program_of(tmp_path, FUNC + AUTO + REFERENCE, targets)
    assert [d.code for d in generate_all(program).diagnostics] == said
    every = [
        {r.key: r.origin for r in TARGETS[name].select(program).registrations(program)}
        for name in program.config.targets
    ]
    assert [keys.get("Autograd") for keys in every] == at_autograd


def test_target_python_leaves_out_the_operator(tmp_path: Path) -> None:
    config = '"python"]\n[target.python]\npackage = "p"\nkernels = ["kern"]'
    program = program_of(tmp_path, FUNC + AUTO + REFERENCE, config)
    found = [d.message for d in generate_all(program).diagnostics if d.code == "TG511"]
    assert found == ["`my::f` has `derivatives: auto`, and a reference that calls PyTorch"]


def test_a_variant_that_writes_has_no_part_in_it(tmp_path: Path) -> None:
    variant = "- func: my::f_(Tensor(a!) x, Tensor? w=None, int n=1) -> Tensor(a!)\n  dispatch: {CPU: f}\n"
    program = program_of(tmp_path, FUNC + AUTO + REFERENCE + variant)
    assert program.resolved.autograd["my::f_"].info is None
    found = TARGETS["torch-python"].select(program).registrations(program)
    at_autograd = {r.operator.name: r.origin for r in found if r.key == "Autograd"}
    assert at_autograd == {"my::f": Origin.formulas, "my::f_": Origin.underived}
