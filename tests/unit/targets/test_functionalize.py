"""Which variants get the boxed functionalization kernel."""

from __future__ import annotations

from pathlib import Path

import pytest

from torchgen_lite import load
from torchgen_lite.analysis.registrations import registrations
from torchgen_lite.targets import TARGETS
from torchgen_lite.targets.cpp_torch.fallbacks import functionalize_views


def registered(folder: Path, *entries: str) -> list[str]:
    (folder / "ops.yaml").write_text("".join(entries))
    program = load("ops.yaml", root=folder)
    assert not program.diagnostics
    registered = registrations(program, TARGETS["cpp-torch"].policy)
    return [
        f"{view.namespace}: {call.name}, {call.kernel}"
        for view in functionalize_views(registered, "lib")
        for call in view.statements
    ]


FUNCTIONAL = "- func: ns::f(Tensor x, float s) -> Tensor\n  dispatch: {CPU: f, Meta: m}\n"
INPLACE = "- func: ns::f_(Tensor(a!) x, float s) -> Tensor(a!)\n  dispatch: {CPU: f_, Meta: m_}\n"
OUT = (
    "- func: ns::f.out(Tensor x, float s, *, Tensor(a!) out) -> Tensor(a!)\n"
    "  dispatch: {CPU: fo, Meta: mo}\n"
)


def test_in_place_and_out_variants_of_a_functional_one(tmp_path: Path) -> None:
    assert registered(tmp_path, INPLACE, FUNCTIONAL, OUT) == [
        'ns: "f_", lib::fallback::functionalize("ns::f", "")',
        'ns: "f.out", lib::fallback::functionalize("ns::f", "")',
    ]


@pytest.mark.parametrize(
    "writer",
    [
        pytest.param("", id="none"),
        pytest.param(INPLACE.replace("{CPU: f_, Meta: m_}", "{Functionalize: k}"), id="own kernel"),
        pytest.param(
            INPLACE.replace("CPU: f_, Meta: m_", "CompositeImplicitAutograd: f_"), id="composite"
        ),
        pytest.param(INPLACE.replace("-> Tensor(a!)", "-> ()"), id="returns nothing"),
        pytest.param(INPLACE.replace("float s", "int s"), id="another signature"),
    ],
)
def test_others_get_none(tmp_path: Path, writer: str) -> None:
    assert registered(tmp_path, FUNCTIONAL, writer) == []


def test_without_a_functional_variant_there_is_nothing_to_call(tmp_path: Path) -> None:
    assert registered(tmp_path, INPLACE, OUT) == []
