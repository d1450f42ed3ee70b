"""Computed tables: expected cases of torch 2.13, any order of registration, undoing."""

from __future__ import annotations

import itertools
from typing import Any

import pytest

from tests.unit.runtime.helpers import operator_with, origins, says
from torchgen_lite.runtime import Dispatcher, Library

IMPLICIT = "CompositeImplicitAutograd"
EXPLICIT = "CompositeExplicitAutograd"
NON_FUNCTIONAL = "CompositeExplicitAutogradNonFunctional"
NESTED = "CompositeImplicitAutogradNestedTensor"


@pytest.mark.parametrize(
    ("registered", "expected"),
    [
        (
            (IMPLICIT,),
            {"Undefined": "math kernel", "CPU": "math kernel", "AutogradCPU": "math kernel"},
        ),
        (
            (IMPLICIT, "CPU"),
            {"CPU": "kernel", "AutogradCPU": "backend fallback", "AutogradCUDA": "math kernel"},
        ),
        (
            (IMPLICIT, "CPU", "Autograd"),
            {"AutogradCPU": "autograd kernel", "AutogradCUDA": "math kernel"},
        ),
        ((IMPLICIT, "SparseCPU"), {"AutogradOther": "ambiguous autogradother"}),
        ((IMPLICIT, "SparseCPU", "Autograd"), {"AutogradOther": "ambiguous autogradother"}),
        ((IMPLICIT, "QuantizedCPU", "AutogradOther"), {"AutogradOther": "kernel"}),
        (
            (IMPLICIT, EXPLICIT, "Autograd"),
            {
                "Undefined": "default backend kernel",
                "CPU": "default backend kernel",
                "AutogradCPU": "autograd kernel",
                "AutogradOther": "autograd kernel",
                "NestedTensorCPU": None,
            },
        ),
        (
            (IMPLICIT, "NestedTensorCPU"),
            {"AutogradNestedTensor": None, "NestedTensorCUDA": "math kernel"},
        ),
        ((NESTED, "NestedTensorCPU"), {"AutogradNestedTensor": "nested kernel"}),
        (
            (NON_FUNCTIONAL, IMPLICIT),
            {"CPU": "default backend kernel", "AutogradCPU": "math kernel"},
        ),
        (
            (NON_FUNCTIONAL,),
            {"SparseCPU": None, "XLA": None, "SparseCsrCPU": "default backend kernel"},
        ),
        ((IMPLICIT, "HIP"), {"AutogradHIP": "math kernel", "HIP": "kernel"}),
        (("FuncTorchBatchedDecomposition",), {"FuncTorchBatched": "batched kernel", "CPU": None}),
        ((EXPLICIT, NON_FUNCTIONAL), {"CPU": "default backend kernel"}),
    ],
)
def test_golden_cases(registered: tuple[str, ...], expected: dict[str, str | None]) -> None:
    operator, dispatcher, _keep = operator_with(*registered, fallbacks=("AutogradCPU",))
    table = origins(operator.computed_table())
    assert {key: table.get(key) for key in expected} == expected
    dispatcher.check_invariants()


def test_the_non_functional_alias_is_looked_at_before_the_explicit_one() -> None:
    operator, _, _keep = operator_with(EXPLICIT, NON_FUNCTIONAL)
    table = operator.computed_table()
    assert (table["CPU"].debug, table["XLA"].debug) == (NON_FUNCTIONAL, EXPLICIT)


@pytest.mark.parametrize("key", ["Undefined", "CatchAll", "", IMPLICIT])
def test_what_means_composite_implicit(key: str) -> None:
    operator, _, _keep = operator_with(key)
    assert "CompositeImplicitAutograd[alias]: " in operator.dump()


def test_alias_keys_alone_are_no_backend_kernels() -> None:
    operator, _, _keep = operator_with("Autograd", IMPLICIT)
    assert origins(operator.computed_table())["AutogradOther"] == "math kernel"


Step = tuple[str, ...]
STEPS: list[Step] = [
    ("def",),
    ("impl", IMPLICIT),
    ("impl", EXPLICIT),
    ("impl", "SparseCPU"),
    ("impl", "Autograd"),
    ("fallback", "AutogradOther"),
]


def run(dispatcher: Dispatcher, step: Step) -> Library:
    if step[0] == "def":
        library = Library("ns", "DEF", dispatcher=dispatcher)
        library.define("op(Tensor x) -> Tensor", debug="def")
    elif step[0] == "impl":
        library = Library("ns", "IMPL", step[1], dispatcher=dispatcher)
        library.impl("op", says(step[1]), debug=step[1])
    else:
        library = Library("_", "IMPL", step[1], dispatcher=dispatcher)
        library.fallback(says(step[1]), debug="fallback")
    return library


def state_of(dispatcher: Dispatcher) -> tuple[Any, ...]:
    operator = dispatcher.find_op("ns::op")
    if operator is None:
        return ("absent", sorted(dispatcher.fallbacks))
    return (operator.dump(), operator.dump_table(), sorted(dispatcher.fallbacks))


def test_the_order_of_registration_is_of_no_account() -> None:
    """Every order of registering, and of undoing half of it, ends in the same state."""
    expected: dict[frozenset[Step], tuple[Any, ...]] = {}
    for order in itertools.permutations(STEPS):
        dispatcher = Dispatcher()
        libraries = {step: run(dispatcher, step) for step in order}
        done = frozenset(order)
        assert state_of(dispatcher) == expected.setdefault(done, state_of(dispatcher)), order
        for step in order[1:4]:
            libraries[step].close()
            done -= {step}
            assert state_of(dispatcher) == expected.setdefault(done, state_of(dispatcher)), order
        dispatcher.check_invariants()
    assert len(expected) > 20


def test_operators_of_one_pattern_share_a_plan() -> None:
    dispatcher = Dispatcher()
    library = Library("ns", "DEF", dispatcher=dispatcher)
    first, second = (library.define(f"{name}() -> ()") for name in ("a", "b"))
    for name in ("a", "b"):
        library.impl(name, says(name), "CPU")
    assert first.entry.plan is second.entry.plan
    assert first.entry.kernel_of_slot(1) is not second.entry.kernel_of_slot(1)


def test_check_invariants_finds_a_stale_table() -> None:
    operator, dispatcher, _keep = operator_with("CPU")
    other, _, _keep_too = operator_with("CUDA")
    operator.entry._plan = (operator.entry.changes, other.entry.plan)
    with pytest.raises(RuntimeError, match=r"the table of ns::op has .* at CPU"):
        dispatcher.check_invariants()
