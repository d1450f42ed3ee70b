"""Which variants get the boxed functionalization kernel."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from torchgen_lite import load
from torchgen_lite.pipeline import generate_all


def registered(folder: Path, *entries: str) -> list[str]:
    (folder / "ops.yaml").write_text("".join(entries))
    program = load("ops.yaml", root=folder)
    assert not program.diagnostics
    files = generate_all(program, targets=["cpp-torch"]).files
    text = files.get("cpp-torch/src/register.cpp", "")
    return re.findall(
        r"m\.impl\((.+functionalize\(.+)\);", re.sub(r"\s+", " ", text).replace("; ", ";\n")
    )


FUNCTIONAL = "- func: ns::f(Tensor x, float s) -> Tensor\n  dispatch: {CPU: f, Meta: m}\n"
INPLACE = "- func: ns::f_(Tensor(a!) x, float s) -> Tensor(a!)\n  dispatch: {CPU: f_, Meta: m_}\n"
OUT = (
    "- func: ns::f.out(Tensor x, float s, *, Tensor(a!) out) -> Tensor(a!)\n"
    "  dispatch: {CPU: fo, Meta: mo}\n"
)


def test_in_place_and_out_variants_of_a_functional_one(tmp_path: Path) -> None:
    assert registered(tmp_path, INPLACE, FUNCTIONAL, OUT) == [
        '"f_", ns::fallback::functionalize("ns::f", "")',
        '"f.out", ns::fallback::functionalize("ns::f", "")',
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
