"""The key tables of releases, and the key sets computed from each."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from torchgen_lite.key_sets import INCLUDED_BY_DEFAULT, key_sets
from torchgen_lite.key_tables import (
    CURRENT,
    KEY_TABLES,
    KeyTable,
    dispatch_keys,
    table_of,
)
from torchgen_lite.runtime import DispatchKey, DispatchKeySet, named_sets
from torchgen_lite.runtime.keys import end_markers
from torchgen_lite.runtime.keyset import FULL_MASK


@pytest.mark.parametrize(
    ("version", "release"),
    [
        ((1, 13), "2.6"),
        ((2, 6, 0), "2.6"),
        ((2, 7, 1), "2.7"),
        ((2, 9, 1), "2.8"),
        ((2, 12), "2.10"),
        ((2, 13, 0), "2.13"),
        ((3, 0), "2.13"),
        ((), "2.6"),
    ],
)
def test_the_table_of_a_release(version: tuple[int, ...], release: str) -> None:
    assert table_of(version).release == release


@pytest.mark.parametrize(
    ("version", "values"),
    [
        ((2, 6), {"MAIA": 3, "Python": 13, "Named": 17, "ADInplaceOrView": 21, "Autograd": 144}),
        ((2, 7), {"MAIA": 3, "AutocastMTIA": 27, "Autograd": 145}),
        ((2, 8), {"Fake": 13, "Named": 16, "AutocastMAIA": 27, "MAIA": 61, "Autograd": 151}),
        ((2, 13), {"Fake": 12, "Python": 13, "MAIA": 60, "Autograd": 150}),
    ],
)
def test_the_numbers_of_a_release(version: tuple[int, ...], values: dict[str, int]) -> None:
    table = table_of(version)
    keys = dispatch_keys(table)
    assert {name: keys[name] for name in values} == values
    assert end_markers(table)["EndOfDenseBackends"] == keys["Meta"]


def test_composite_kernels_served_functionalize() -> None:
    serves = {
        t.release: "Functionalize" in key_sets(t).members["CompositeImplicitAutograd"]
        for t in KEY_TABLES
    }
    assert serves == {"2.6": True, "2.7": True, "2.8": True, "2.10": False, "2.13": False}


@pytest.mark.parametrize("table", KEY_TABLES, ids=lambda table: table.release)
def test_every_slot_has_bits_of_its_own(table: KeyTable) -> None:
    sets = key_sets(table)
    assert len({sets.bits(name) for name in sets.slots}) == len(sets.slots)
    assert sets.bits(*sets.slots) == sets.full_mask
    assert set(sets.members) == set(table.aliases)
    assert set(INCLUDED_BY_DEFAULT) <= set(sets.slots)
    assert [sets.highest(sets.bits(name)) for name in sets.slots] == list(sets.slots)


@given(st.integers(0, FULL_MASK))
def test_the_runtime_has_the_same_sets(bits: int) -> None:
    sets, ours = key_sets(CURRENT), DispatchKeySet.from_raw_repr(bits)
    assert sets.names(bits) == tuple(key.name for key in ours)
    assert list(sets.slots).index(sets.highest(bits)) == ours.dispatch_table_index()
    key = ours.highest_priority_type_id()
    assert sets.below(bits) == (ours & DispatchKeySet.full_after(key)).remove(key).raw_repr()
    assert sets.bits(*sets.autocast) == named_sets.DEFAULT_EXCLUDED.raw_repr()


def test_names() -> None:
    sets = key_sets(table_of((2, 6)))
    assert sets.parse("CatchAll") == "Undefined"
    assert sets.bits("Undefined", "CompositeExplicitAutograd") == 0
    assert sets.parse("Named") == "Named"
    with pytest.raises(ValueError, match="^could not parse dispatch key: Named$"):
        key_sets(CURRENT).parse("Named")
    assert DispatchKey["Python"] == dispatch_keys(CURRENT)["Python"]
