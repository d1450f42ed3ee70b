"""Keys and keysets against those of the installed torch."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.installed import needs_the_keys_of_the_runtime
from torchgen_lite import key_tables
from torchgen_lite.runtime import (
    DispatchKey,
    DispatchKeySet,
    backend_keyset_from_autograd,
    is_alias_dispatch_key,
    is_included_in_alias,
    local_state,
    named_sets,
    runtime_dispatch_keyset,
    to_functionality_key,
)
from torchgen_lite.runtime.keys import RUNTIME_KEYS
from torchgen_lite.runtime.keyset import FULL_MASK

torch = pytest.importorskip("torch")
pytestmark = [pytest.mark.torch, needs_the_keys_of_the_runtime]
C = torch._C

# pybind exports some of the names; `_dispatch_key_name` mentions every value.
EXPORTED = {
    name: key for name, key in C.DispatchKey.__members__.items() if hasattr(DispatchKey, name)
}
# c10 prints these markers by the name of their value's last owner.
REAL = [key for key in DispatchKey if not key.name.startswith(("StartOf", "EndOf"))]


def theirs(key: DispatchKey) -> Any:
    return C.DispatchKey(int(key))


def test_every_exported_name() -> None:
    unknown = set(C.DispatchKey.__members__) - set(EXPORTED)
    assert unknown == set()
    assert {name: int(key) for name, key in EXPORTED.items()} == {
        name: int(DispatchKey[name]) for name in EXPORTED
    }


@pytest.mark.parametrize("key", REAL, ids=str)
def test_a_key(key: DispatchKey) -> None:
    assert C._dispatch_key_name(theirs(key)) == key.name
    assert C._dispatch_is_alias_key(theirs(key)) == is_alias_dispatch_key(key)
    assert C._to_functionality_key(theirs(key)) == theirs(to_functionality_key(key))
    assert C.DispatchKeySet(theirs(key)).raw_repr() == DispatchKeySet(key).raw_repr()
    assert (
        (
            C._dispatch_keyset_full_after(theirs(key)).raw_repr()
            == DispatchKeySet.full_after(key).raw_repr()
        )
        or key == DispatchKey.Undefined
        or is_alias_dispatch_key(key)
    )


def test_keys_that_torch_can_read() -> None:
    readable = 0
    for key in REAL:
        try:
            parsed = C._dispatch_key_parse(key.name)
        except RuntimeError:
            continue
        readable += 1
        assert int(parsed) == key
    assert len(REAL) - readable == 42


@pytest.mark.parametrize("key", RUNTIME_KEYS, ids=str)
def test_aliases_and_autograd_backends(key: DispatchKey) -> None:
    for alias in [DispatchKey[name] for name in key_tables.CURRENT.aliases]:
        assert C._dispatch_is_included_in_alias(theirs(key), theirs(alias)) == is_included_in_alias(
            key, alias
        )
        if key:
            assert runtime_dispatch_keyset(alias).has(key) == is_included_in_alias(key, alias)
    assert (
        C._dispatch_get_backend_keyset_from_autograd(theirs(key)).raw_repr()
        == backend_keyset_from_autograd(key).raw_repr()
    )


def test_named_sets() -> None:
    assert (
        C._dispatch_autogradother_backends.raw_repr()
        == named_sets.AUTOGRADOTHER_BACKENDS.raw_repr()
    )
    assert C._dispatch_keyset_full().raw_repr() == DispatchKeySet.full().raw_repr()
    assert C._dispatch_num_backends() == len(key_tables.CURRENT.backends)
    assert C._dispatch_tls_local_include_set().raw_repr() == local_state().included.raw_repr()
    assert C._dispatch_tls_local_exclude_set().raw_repr() == local_state().excluded.raw_repr()
    with C._AutoDispatchBelowAutograd():
        excluded = C._dispatch_tls_local_exclude_set().raw_repr()
    assert excluded == (local_state().excluded | named_sets.AUTOGRAD).raw_repr()
    with torch.inference_mode():
        included = C._dispatch_tls_local_include_set().raw_repr()
    assert included == local_state().included.remove(DispatchKey.ADInplaceOrView).raw_repr()


def test_the_keyset_of_a_tensor() -> None:
    keys = C._dispatch_keys(torch.ones(1))
    assert C._dispatch_keyset_to_string(keys) == str(DispatchKeySet.from_raw_repr(keys.raw_repr()))


representations = st.integers(0, FULL_MASK) | st.builds(
    lambda bits: sum(1 << bit for bit in bits),
    st.sets(st.integers(0, FULL_MASK.bit_length() - 1), max_size=6),
)


@given(representations, representations, st.sampled_from([k for k in RUNTIME_KEYS if k]))
def test_algebra(a: int, b: int, key: DispatchKey) -> None:
    ours, other = DispatchKeySet.from_raw_repr(a), DispatchKeySet.from_raw_repr(b)
    real, real_other = C.DispatchKeySet.from_raw_repr(a), C.DispatchKeySet.from_raw_repr(b)
    assert (ours | other).raw_repr() == (real | real_other).raw_repr()
    assert (ours & other).raw_repr() == (real & real_other).raw_repr()
    assert (ours - other).raw_repr() == (real - real_other).raw_repr()
    assert ours.has(key) == real.has(theirs(key))
    assert ours.add(key).raw_repr() == real.add(theirs(key)).raw_repr()
    assert ours.remove(key).raw_repr() == real.remove(theirs(key)).raw_repr()
    assert int(ours.highest_priority_type_id()) == int(real.highestPriorityTypeId())
    assert str(ours) == C._dispatch_keyset_to_string(real)
