"""`breaking` finds something in an operator exactly when a call of it is served worse than before.

Both versions are registered with the runtime's dispatcher, with kernels that say what becomes of a call. Each call is made
in both, and compared: whether it ends in a kernel, whether it is recorded, and whether a mode has a kernel of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import yaml
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from tests.unit.runtime.helpers import T
from torchgen_lite.analysis import Program, build_program
from torchgen_lite.analysis.compare import compare_operators
from torchgen_lite.analysis.policy import Origin
from torchgen_lite.analysis.registrations import Registration
from torchgen_lite.analysis.stock_fallbacks import STOCK_FALLBACKS
from torchgen_lite.diagnostics import Source, has_errors
from torchgen_lite.loader import Config, load_native_functions
from torchgen_lite.runtime import (
    Dispatcher,
    DispatcherError,
    DispatchKey,
    DispatchKeySet,
    Library,
    MissingKernelError,
    fallthrough_kernel,
)
from torchgen_lite.targets.output import Selection
from torchgen_lite.targets.registered import select_operators, side_of

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
# Beside the backends with kernels, one for each group of others that aliases treat alike.
AUTOGRAD = {
    **{name: f"Autograd{name}" for name in ("CPU", "CUDA", "Meta", "PrivateUse1", "XPU", "XLA")},
    **dict.fromkeys(("SparseCPU", "SparseCUDA", "SparseCsrCPU"), "AutogradOther"),
}
MODES = ("Tracer", "Functionalize", "FuncTorchBatched")


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


class Outcome(NamedTuple):
    """What became of a call; each is better than nothing."""

    ended: bool
    was_recorded: bool
    had_its_kernel: bool
    was_decomposed: bool
    was_functionalized: bool


Call = tuple[str, ...]
CALLS: list[Call] = [
    *((backend,) for backend in AUTOGRAD),
    *((backend, autograd) for backend, autograd in AUTOGRAD.items()),
    *((backend, mode) for backend in AUTOGRAD for mode in MODES),
]


def outcomes(program: Program, selection: Selection) -> dict[tuple[str, Call], Outcome]:
    """Every call of every operator that the target takes, made in a dispatcher of its own."""
    dispatcher = Dispatcher()
    library = Library("lib", "DEF", dispatcher=dispatcher)
    fallbacks = Library("_", "IMPL", dispatcher=dispatcher)
    seen: list[str] = []
    policy = selection.policy
    registered = list(selection.registrations(program))
    composed = {
        r.operator.name.replace(".", "_")
        for r in registered
        if r.key == "CompositeImplicitAutograd"
    }
    for key, label in STOCK_FALLBACKS.items() if policy.in_pytorch else ():
        kernel = (
            fallthrough_kernel
            if label == "fallthrough"
            else _fallback(key, seen, composed, policy.is_pytorch)
        )
        fallbacks.fallback(kernel, key, with_keyset=label != "fallthrough")
    found = {}
    for operator in selection.operators:
        # One tensor is enough to dispatch by.
        name = operator.name.replace(".", "_")
        handle = library.define(f"{name}(Tensor self) -> Any")
        for one in registered:
            if one.operator is operator:
                falls = one.origin is Origin.fallthrough
                kernel = fallthrough_kernel if falls else _kernel(one, handle, seen)
                library.impl(name, kernel, one.key, with_keyset=not falls)
        for call in CALLS:
            seen.clear()
            try:
                handle.call(T(*call))
            except (DispatcherError, MissingKernelError):
                seen.clear()
            said = [
                word in seen for word in ("end", "record", call[-1], "decompose", "functionalize")
            ]
            found[operator.name, call] = Outcome(*said)
    return found


def _kernel(one: Registration, handle: Any, seen: list[str]) -> Callable[..., None]:
    """Kernels that are written end a call; those that are generated above backends redispatch."""

    def run(keyset: DispatchKeySet, tensor: T) -> None:
        highest = keyset.highest_priority_type_id()
        is_above = "Autograd" in highest.name or highest.name == "ADInplaceOrView"
        is_written = one.origin in (Origin.written, Origin.implied)
        if is_above and (is_written or one.origin in (Origin.autograd, Origin.formulas)):
            seen.append("record")
        if is_above and not is_written:
            handle.redispatch(keyset & DispatchKeySet.full_after(highest), tensor)
            return
        seen.append("end")
        if highest.name in MODES:
            seen.append(highest.name)
        if highest.name == "Functionalize":
            seen.append("functionalize")

    return run


def _fallback(
    key: str, seen: list[str], composed: set[str], is_pytorch: bool
) -> Callable[..., None]:
    """PyTorch's fallbacks redispatch, except that at Meta, and functionalization decomposes.

    It refuses operators that return what they write; for PyTorch's own, torchgen generates kernels.
    """

    def run(keyset: DispatchKeySet, operator: Any, tensor: T) -> None:
        if key == "Meta":
            raise DispatcherError("no kernel for Meta")
        if key == "Functionalize" and operator.name in composed:
            seen.extend(("end", "decompose", "functionalize"))
            return
        if key == "Functionalize" and (is_pytorch or operator.name in ("lib::f", "lib::h")):
            seen.append("functionalize")
        operator.redispatch(keyset & DispatchKeySet.full_after(DispatchKey[key]), tensor)

    return run


def is_worse(name: str, old: Outcome, new: Outcome) -> bool:
    """A call that failed before cannot become worse."""
    lost = Outcome(*(was and not now for was, now in zip(old, new)))
    return old.ended and (
        lost.ended
        or (lost.was_recorded and name in ("lib::f", "lib::f_", "lib::g_"))
        or (lost.had_its_kernel and not new.was_decomposed)
        or lost.was_functionalized
    )


@pytest.mark.parametrize("target", ["", "python", "torch-python", "cpp-torch", "cpp-runtime"])
@settings(max_examples=20)
@given(texts=versions())
def test_a_finding_is_a_call_that_is_served_worse(target: str, texts: tuple[str, str]) -> None:
    programs = program_of(texts[0]), program_of(texts[1])
    assume(not any(has_errors(program.diagnostics) for program in programs))
    before, after = (select_operators(p, target or None) for p in programs)
    taken = [{operator.name for operator in selection.operators} for selection in (before, after)]
    assume(taken[0] == taken[1])
    sides = side_of(programs[0], [before]), side_of(programs[1], [after])
    # That another kernel serves a call as well is TG382.
    changes = compare_operators(*sides, level="call")
    found = {one.operator for one in changes if one.code != "TG382"}
    was, now = outcomes(programs[0], before), outcomes(programs[1], after)
    expected = {
        name for (name, call), outcome in was.items() if is_worse(name, outcome, now[name, call])
    }
    assert found == expected, (found, expected)
