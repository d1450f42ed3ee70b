"""Properties of keysets and of dispatch, compared with slow and simple models."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.unit.runtime.helpers import T, registrations_of, says
from torchgen_lite.analysis.computed_table import table
from torchgen_lite.cli.tables.explain import why
from torchgen_lite.runtime import (
    Dispatcher,
    DispatcherError,
    DispatchKey,
    DispatchKeySet,
    ExcludeDispatchKeyGuard,
    IncludeDispatchKeyGuard,
    Library,
    MissingKernelError,
    fallthrough_kernel,
    to_backend_component,
    to_functionality_key,
)
from torchgen_lite.runtime.keys import RUNTIME_KEYS, TABLE

KEYS = [key for key in RUNTIME_KEYS if key]
keys_of_any_kind = st.lists(st.sampled_from(KEYS), max_size=6)


def members(keys: list[DispatchKey]) -> set[DispatchKey]:
    """The keys of a keyset: the cross product of functionalities and backends, computed key by key."""
    functionalities = {to_functionality_key(key) for key in keys}
    backends = {to_backend_component(key) for key in keys} - {0}
    return {
        key
        for key in KEYS
        if to_functionality_key(key) in functionalities
        and (not to_backend_component(key) or to_backend_component(key) in backends)
    }


@given(keys_of_any_kind, keys_of_any_kind)
def test_keysets_are_cross_products(a: list[DispatchKey], b: list[DispatchKey]) -> None:
    ours, other = DispatchKeySet(a), DispatchKeySet(b)
    assert list(ours) == sorted(members(a), key=RUNTIME_KEYS.index)
    assert set(ours | other) == members(a + b)
    assert ours & other is other & ours
    assert (ours ^ other) ^ other is ours
    assert (ours - other) | (ours & other) == ours or not (ours & other).empty()
    assert all(ours.has(key) for key in a)
    assert ours.highest_priority_type_id() == max(members(a), key=RUNTIME_KEYS.index, default=0)
    assert DispatchKeySet(list(ours)) is ours


# These keys are not above Autograd, so the order of the slots is the only priority that the model below needs.
WHERE = ["CPU", "CUDA", "SparseCPU", "AutogradCPU", "AutogradCUDA", "Tracer", "ADInplaceOrView"]
ALIASES = ["CompositeExplicitAutograd", "Autograd"]
TENSORS = [("CPU",), ("CUDA",), ("CPU", "AutogradCPU"), ("CUDA", "AutogradCUDA", "ADInplaceOrView")]

registration = st.tuples(st.sampled_from(WHERE + ALIASES), st.booleans())
call = st.tuples(
    st.lists(st.sampled_from(TENSORS), min_size=1, max_size=2),
    st.sets(st.sampled_from(["Tracer"])),
    st.sets(st.sampled_from(["Tracer", "ADInplaceOrView", "AutogradFunctionality"])),
)


@pytest.mark.filterwarnings("ignore:Warning only once")
@settings(max_examples=60)
@given(
    st.lists(st.tuples(registration, st.lists(call, max_size=3), st.integers(0, 20)), max_size=8),
)
def test_calls_run_what_a_slow_walk_finds(steps: list[tuple[Any, ...]]) -> None:
    """Register, call and undo in turn; `walk` predicts the kernel of each call from the live table."""
    dispatcher = Dispatcher()
    library = Library("ns", "DEF", dispatcher=dispatcher)
    operator = library.define("op(Tensor[] x) -> Any")
    blocks: list[Library] = []
    for (key, falls_through), calls, undo in steps:
        block = Library("ns", "IMPL", key, dispatcher=dispatcher)
        label = f"{key} {len(blocks)}"
        block.impl("op", fallthrough_kernel if falls_through else says(label), debug=label)
        blocks.append(block)
        if undo < len(blocks):
            blocks.pop(undo).close()
        for tensors, included, excluded in calls:
            arguments = [T(*names) for names in tensors]
            with IncludeDispatchKeyGuard(DispatchKeySet(DispatchKey[n] for n in included)):
                with ExcludeDispatchKeyGuard(DispatchKeySet(DispatchKey[n] for n in excluded)):
                    expected = walk(operator, arguments, included, excluded)
                    try:
                        found = operator.call(arguments)
                    except (MissingKernelError, DispatcherError):
                        found = None
            assert found == expected
    dispatcher.check_invariants()
    for block in blocks:
        block.close()
    assert operator.computed_table() == {}


def walk(operator: Any, tensors: list[T], included: set[str], excluded: set[str]) -> str | None:
    """Walk down from the highest key, past keys that fall through, to the first key with a kernel.

    The highest backend of the tensors is the backend of the call, for every functionality.
    """
    names = {key.name for tensor in tensors for key in tensor._dispatch_keyset} | included
    names |= {"ADInplaceOrView", "BackendSelect"}
    gone = {DispatchKey[name] for name in excluded}
    functionalities = {to_functionality_key(DispatchKey[name]) for name in names} - gone
    backend = max(to_backend_component(DispatchKey[name]) for name in names)
    cells = operator.computed_table()
    for functionality in sorted(functionalities, reverse=True):
        slot = next(
            key
            for key in RUNTIME_KEYS
            if to_functionality_key(key) == functionality
            and to_backend_component(key) in (0, backend)
        )
        cell = cells.get(slot.name)
        if cell is not None and cell.fallthrough:
            continue
        if cell is not None:
            return str(cell.debug)
        if slot.name not in ("ADInplaceOrView", "BackendSelect"):
            return None
    cell = cells.get("Undefined")
    return None if cell is None or cell.fallthrough else str(cell.debug)


@given(
    st.sets(st.sampled_from([key.name for key in KEYS] + list(TABLE.aliases)), max_size=5),
    st.sets(st.sampled_from(KEYS), max_size=4),
)
def test_why_names_the_kernel_that_a_call_runs(where: set[str], keys: set[DispatchKey]) -> None:
    dispatcher = Dispatcher()
    library = Library("ns", "DEF", dispatcher=dispatcher)
    operator = library.define("op(Tensor x) -> Any")
    for key in where:
        library.impl("op", says(key), key, debug=key)
    registrations = registrations_of(operator)
    answer = why(registrations, [key.name for key in keys])
    tensor = T(*(key.name for key in keys))
    try:
        ran = operator.call(tensor)
    except (MissingKernelError, DispatcherError):
        ran = ""
    assert answer.steps[0].cell.label == ran
    cells = {cell.key: cell.origin for cell in table(registrations) if cell.origin != "missing"}
    assert cells == {key: cell.origin for key, cell in operator.computed_table().items()}
