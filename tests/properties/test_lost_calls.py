"""`breaking` finds something in an operator exactly when a call of it is served worse than before.

Each call is made in both versions (`tests/fuzz/outcomes.py`), and compared: whether it ends in a kernel, whether it is
recorded, and whether a mode has a kernel of its own.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from tests.fuzz.outcomes import is_worse, outcomes
from torchgen_lite.analysis.comparison.compare import compare_operators
from torchgen_lite.analysis.program import Program, build_program
from torchgen_lite.diagnostics import Source, has_errors
from torchgen_lite.loader.config.project import Config
from torchgen_lite.loader.formats.native_functions import load_native_functions
from torchgen_lite.targets.generation import generation_of
from torchgen_lite.targets.registered import side_of

# Variants of one another, one that has no functional variant, and one whose result has no gradient.
SCHEMAS = {
    "f": "lib::f(Tensor self) -> Tensor",
    "f_": "lib::f_(Tensor(a!) self) -> Tensor(a!)",
    "f.out": "lib::f.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)",
    "g_": "lib::g_(Tensor(a!) self) -> Tensor(a!)",
    "h": "lib::h(Tensor self) -> int",
}
KEYS = (
    *("CPU", "CUDA", "SparseCPU", "Meta", "PrivateUse1"),
    *("CompositeImplicitAutograd", "CompositeExplicitAutograd"),
    *(
        "CompositeExplicitAutogradNonFunctional",
        "Autograd",
        "AutogradCPU",
        "Tracer",
        "Functionalize",
    ),
)
FORMULAS = ("grad", "not_differentiable")
# The operators whose results may have a gradient.
RECORDED = ("lib::f", "lib::f_", "lib::g_")

Entry = dict[str, Any]


@st.composite
def entries(draw: st.DrawFn, name: str) -> Entry:
    keys = draw(st.lists(st.sampled_from(KEYS), unique=True, max_size=3))
    entry: Entry = {"func": SCHEMAS[name]}
    if bool(keys) or draw(st.booleans()):
        entry["dispatch"] = dict.fromkeys(keys, "kernel")
    if name != "f.out" and draw(st.booleans()):
        entry["derivatives"] = {"self": draw(st.sampled_from(FORMULAS))}
    if name == "f" and draw(st.booleans()):
        entry["vmap"] = "f_vmap"
    return entry


@st.composite
def changed(draw: st.DrawFn, name: str, entry: Entry) -> Entry:
    """The entry of the next version: mostly one difference, or none."""
    new = {**entry, "dispatch": {**entry.get("dispatch", {})}}
    change = draw(st.sampled_from(("nothing", "key", "formula", "everything")))
    if change == "nothing":
        return entry
    if change == "everything":
        return draw(entries(name))
    if change == "key":
        key = draw(st.sampled_from(KEYS))
        if new["dispatch"].pop(key, None) is None:
            new["dispatch"][key] = "kernel"
    elif new.pop("derivatives", None) is None and name != "f.out":
        new["derivatives"] = {"self": draw(st.sampled_from(FORMULAS))}
    return new


@st.composite
def versions(draw: st.DrawFn) -> tuple[str, str]:
    """Two schema files, in either of which `f` and `f_` may delegate to a structured `f.out`."""
    old = {name: draw(entries(name)) for name in SCHEMAS}
    new = {name: draw(changed(name, entry)) for name, entry in old.items()}
    for side in (old, new):
        if draw(st.booleans()):
            kernels = side["f.out"].get("dispatch") or {"CPU": "kernel"}
            side["f.out"] = {**side["f.out"], "structured": True, "dispatch": kernels}
            for name in ("f", "f_"):
                rest = {key: value for key, value in side[name].items() if key != "dispatch"}
                side[name] = {**rest, "structured_delegate": "f.out"}
    texts = [yaml.safe_dump([*side.values()], sort_keys=False) for side in (old, new)]
    return texts[0], texts[1]


def program_of(text: str) -> Program:
    source = Source("ops.yaml", text)
    functions, found = load_native_functions([source])
    options: dict[str, Mapping[str, object]] = {
        "cpp-runtime": {"tensor": "toy::Tensor"},
        "python": {"kernels": ["kernels"]},
    }
    config = Config(Path("."), target_options=options)
    return build_program(functions, config, diagnostics=found, sources=[source])


@pytest.mark.parametrize("target", ["", "python", "torch-python", "cpp-torch", "cpp-runtime"])
@settings(max_examples=20, suppress_health_check=[HealthCheck.filter_too_much])
@given(texts=versions())
def test_a_finding_is_a_call_that_is_served_worse(target: str, texts: tuple[str, str]) -> None:
    programs = program_of(texts[0]), program_of(texts[1])
    assume(not any(has_errors(program.diagnostics) for program in programs))
    before, after = (generation_of(p).asked(target or None) for p in programs)
    taken = [{operator.name for operator in selection.operators} for selection in (before, after)]
    assume(taken[0] == taken[1])
    sides = side_of(programs[0], [before]), side_of(programs[1], [after])
    # That another kernel serves a call as well is TG382.
    changes = compare_operators(*sides, level="call")
    found = {one.operator for one in changes if one.code != "TG382"}
    was, now = outcomes(programs[0], before), outcomes(programs[1], after)
    expected = {
        name
        for (name, call), outcome in was.items()
        if is_worse(name in RECORDED, outcome, now[name, call])
    }
    assert found == expected, (found, expected)
