"""No combination of fields that are valid one by one makes a check raise."""

from __future__ import annotations

from pathlib import Path

import yaml
from hypothesis import given
from hypothesis import strategies as st

from torchgen_lite.analysis.lint import lint_program
from torchgen_lite.analysis.program import build_program
from torchgen_lite.diagnostics import Source, render_full
from torchgen_lite.loader.config.project import Config
from torchgen_lite.loader.formats.native_functions import load_native_functions

FUNCTIONS = st.sampled_from(["f", "f_", "f.out", "f.x", "f_.x", "f.x_out", "f_copy", "__iadd__"])
ARGUMENTS = st.sampled_from([
    "Tensor self", "Tensor(a!) self", "Tensor(a) self", "Tensor(a!)[] self", "int n", "int n=1",
    "Tensor other=None", "Generator? generator=None", "Generator generator", "*", "Tensor out",
    "Tensor(a!) out", "Tensor(b!)? out=None", "Tensor(a!) out0", "int out_1", "t[] x=None",
])  # fmt: skip
RETURNS = st.sampled_from(["Tensor", "Tensor(a!)", "Tensor(a)", "Tensor(a)[]", "()", "int"])
FIELDS = {
    "variants": ["method", "function, method", []],
    "python_module": ["nn", "x", 1],
    "category_override": ["factory", "x", []],
    "cpp_no_default_args": ["n", ["n"], ["self", "x"], [None], {}],
    "structured": [True, False],
    "structured_delegate": ["f.out", "f.x_out", "f"],
    "precomputed": [["n -> int N"], ["n -> int size, int _"], [""], [None], ["self -> "]],
    "ufunc_inner_loop": ["f (Float)", "f", "f ()", {"Generic": "f (Flaot, Bool)"}, {"x": 1}, ""],
    "dispatch": [
        {"CPU": "k"},
        {"CompositeImplicitAutograd": "k", "CUDA": "k"},
        {"CompositeExplicitAutograd": "k"},
        {},
    ],
    "tags": ["generated", ["inplace_view", "core"], "view_copy", ["nondeterministic_seeded"], [1]],
    "autogen": ["f.out", "f, f.x_out"],
}


@st.composite
def entries(draw: st.DrawFn) -> dict[str, object]:
    """An entry of known fields, whose values may or may not fit together."""
    arguments = draw(st.lists(ARGUMENTS, unique=True, max_size=4))
    entry: dict[str, object] = {
        "func": f"{draw(FUNCTIONS)}({', '.join(arguments)}) -> {draw(RETURNS)}"
    }
    for name in draw(st.lists(st.sampled_from(sorted(FIELDS)), unique=True, max_size=5)):
        entry[name] = draw(st.sampled_from(FIELDS[name]))
    return entry


@given(st.lists(entries(), max_size=5))
def test_no_entries_raise(data: list[dict[str, object]]) -> None:
    source = Source("ops.yaml", yaml.safe_dump(data, sort_keys=False))
    functions, found = load_native_functions([source])
    config = Config(Path("."))
    program = lint_program(build_program(functions, config, diagnostics=found, sources=[source]))
    assert all(d.label is not None and d.help != "" for d in program.diagnostics)
    render_full(program.diagnostics)
