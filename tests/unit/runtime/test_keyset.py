"""Keysets; the expected values were measured with torch 2.13."""

from __future__ import annotations

import copy
import gc
import pickle

import numpy as np
import pytest

from tests.unit.runtime.helpers import keyset
from torchgen_lite.runtime import BackendComponent, DispatchKey, DispatchKeySet, KeysetMask
from torchgen_lite.runtime import keyset as keyset_module

K = DispatchKey
B = BackendComponent


def names(keys: DispatchKeySet) -> str:
    return " ".join(key.name for key in keys)


def test_the_keyset_of_a_cpu_tensor() -> None:
    cpu = keyset("CPU", "ADInplaceOrView", "AutogradCPU", "AutocastCPU")
    assert cpu.raw_repr() == 635655225345
    assert str(cpu) == "DispatchKeySet(CPU, ADInplaceOrView, AutogradCPU, AutocastCPU)"
    assert cpu.highest_priority_type_id() == K.AutocastCPU


def test_empty() -> None:
    empty = DispatchKeySet()
    assert (str(empty), empty.raw_repr(), empty.empty(), bool(empty)) == (
        "DispatchKeySet()",
        0,
        True,
        False,
    )
    assert empty.highest_priority_type_id() == K.Undefined
    assert empty.highest_backend_key() == B.InvalidBit
    assert list(empty) == []


@pytest.mark.parametrize("name", ["Undefined", "Autograd", "CompositeImplicitAutograd"])
def test_keys_without_bits(name: str) -> None:
    assert keyset(name).empty()


def test_the_marker_behind_all_functionalities_is_not_in_the_full_set() -> None:
    """As in libc10: `DispatchKeySet(EndOfFunctionalityKeys)` is 0x4000000000000000 there."""
    marker = K.EndOfFunctionalityKeys
    assert DispatchKeySet(marker).raw_repr() == 1 << 62
    assert not DispatchKeySet.full().has(marker)
    assert DispatchKeySet.full_after(marker) is DispatchKeySet.full()


def test_a_functionality_and_backends_are_a_cross_product() -> None:
    both = keyset("CPU") | keyset("AutogradCUDA")
    assert names(both) == "CPU CUDA AutogradCPU AutogradCUDA"
    assert both.has(K.AutogradCPU)
    assert not both.has(K.SparseCPU)


def test_subtraction_spares_backends() -> None:
    both = keyset("CPU") | keyset("AutogradCUDA")
    assert names(both - keyset("CPU")) == "AutogradCPU AutogradCUDA"
    assert both.remove(K.CPU) is both - keyset("CPU")
    assert names(both.remove_backend(B.CPUBit)) == "CUDA AutogradCUDA"


def test_operators() -> None:
    a, b = keyset("CPU", "Tracer"), keyset("CUDA", "Tracer")
    assert names(a | b) == "CPU CUDA Tracer"
    assert (a & b).raw_repr() == keyset("Tracer").raw_repr() | keyset("Dense").raw_repr()
    assert (a ^ b).raw_repr() == 0b11
    assert a.add(B.CUDABit) is a | keyset("CUDA")
    assert a != b
    assert a.has_all(keyset("Tracer")) and a.is_superset_of(keyset("CPU"))


def test_has_any_refuses_an_ambiguous_question() -> None:
    assert keyset("CPU").has_any(keyset("Dense", "Tracer"))
    assert keyset("CPU").has_any(DispatchKeySet(B.CPUBit))
    assert not keyset("CPU").has_any(keyset("Tracer"))
    with pytest.raises(ValueError, match="has_any of backends and per-backend functionalities"):
        keyset("CPU").has_any(keyset("CUDA"))


def test_highest() -> None:
    keys = keyset("CPU", "SparseMeta", "CUDA")
    assert keys.highest_functionality_key() == K.Sparse
    assert keys.highest_backend_key() == B.MetaBit
    assert keys.highest_priority_type_id() == K.SparseMeta
    assert keyset("CPU", "Tracer").highest_priority_type_id() == K.Tracer


def test_slots() -> None:
    assert keyset("CPU").dispatch_table_index() == 1
    assert DispatchKeySet().dispatch_table_index() == 0
    assert keyset("CPU", "PythonDispatcher").dispatch_table_index() == 136
    # A functionality without a backend uses its first slot, as in c10.
    assert keyset("Dense").dispatch_table_index() == 1


def test_full_and_full_after() -> None:
    assert len(list(DispatchKeySet.full())) == 136
    after = DispatchKeySet.full_after(K.Functionalize)
    assert after.has(K.PythonDispatcher) and after.has(K.Python) and after.has(K.CPU)
    assert not after.has(K.Functionalize) and not after.has(K.ADInplaceOrView)


def test_iteration_is_ascending_and_skips_functionalities_without_a_backend() -> None:
    assert names(keyset("AutogradFunctionality", "AutogradOther", "Dense")) == "AutogradOther"
    assert (
        names(keyset("Tracer", "Python", "SparseMeta", "CPU"))
        == "CPU Meta SparseCPU SparseMeta Python Tracer"
    )


def test_keysets_are_interned_for_good_reasons() -> None:
    keys = keyset("CPU", "Tracer")
    assert keys is DispatchKeySet(K.Tracer, K.CPU)
    assert copy.copy(keys) is copy.deepcopy(keys) is pickle.loads(pickle.dumps(keys)) is keys
    assert {keys: 1}[DispatchKeySet.from_raw_repr(keys.raw_repr())] == 1


def test_the_intern_table_is_bounded_and_keeps_what_is_alive() -> None:
    kept = DispatchKeySet.from_raw_repr(0b1010101 | 1 << 60)
    for number in range(4 * keyset_module.RECENT_LIMIT):
        DispatchKeySet.from_raw_repr(number << 20)
    gc.collect()
    assert len(keyset_module._interned) < 2 * keyset_module.RECENT_LIMIT
    assert DispatchKeySet.from_raw_repr(kept.raw_repr()) is kept


def test_a_mask_remembers() -> None:
    mask = KeysetMask(DispatchKeySet.full_after(K.AutogradOther))
    assert mask[keyset("CPU", "AutogradCPU")] is keyset("CPU")
    for number in range(2 * keyset_module.RECENT_LIMIT):
        keys = DispatchKeySet.from_raw_repr(number << 16 | 1)
        assert mask[keys] is keys & DispatchKeySet.full_after(K.AutogradOther)
    assert len(mask) <= keyset_module.RECENT_LIMIT


@pytest.mark.parametrize("representation", [-1, 1 << 64])
def test_raw_representations_have_64_bits(representation: int) -> None:
    with pytest.raises(ValueError, match="not a 64-bit representation"):
        DispatchKeySet.from_raw_repr(representation)


def test_what_a_set_is_made_of() -> None:
    assert DispatchKeySet([K.CPU, K.Tracer]) is DispatchKeySet(B.CPUBit, K.Dense, keyset("Tracer"))
    with pytest.raises(
        TypeError, match="expected a DispatchKey, BackendComponent or DispatchKeySet, not str"
    ):
        DispatchKeySet(["CPU"])  # type: ignore[list-item]


def test_what_is_interned_is_an_integer() -> None:
    """A float that equals an integer became what all sets with that representation computed with."""
    fresh = 1 << 61 | 1 << 13
    with pytest.raises(TypeError, match="'float' object cannot be interpreted as an integer"):
        DispatchKeySet.from_raw_repr(float(fresh))  # type: ignore[arg-type]
    keys = DispatchKeySet.from_raw_repr(np.uint64(fresh))
    assert type(keys.raw_repr()) is int
    assert DispatchKeySet.from_raw_repr(fresh) is keys
