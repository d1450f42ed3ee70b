"""Key tables, `table` and `why`, compared with the installed torch of any release."""

from __future__ import annotations

from typing import Any

import pytest

from tests.conformance.torch_replay import computed
from tests.installed import KEYS
from torchgen_lite.analysis.computed_table import table
from torchgen_lite.cli.tables.registrations import registrations_of_torch
from torchgen_lite.key_sets import INCLUDED_BY_DEFAULT, key_sets
from torchgen_lite.key_tables import dispatch_keys, registrable_keys
from torchgen_lite.runtime.keys import end_markers

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.torch
C = torch._C
SETS = key_sets(KEYS)
VALUES = dispatch_keys(KEYS)


def theirs(name: str) -> Any:
    return C.DispatchKey(VALUES[name])


def named(keyset: Any) -> tuple[str, ...]:
    return SETS.names(keyset.raw_repr())


def test_names_and_bits() -> None:
    for name in registrable_keys(KEYS):
        assert C._dispatch_key_name(theirs(name)) == name
        assert C._dispatch_is_alias_key(theirs(name)) == (name in KEYS.aliases)
        assert C.DispatchKeySet(theirs(name)).raw_repr() == SETS.bits(name)
    assert set(C.DispatchKey.__members__) <= {*VALUES, *end_markers(KEYS), *dict(KEYS.former_names)}
    assert C._dispatch_keyset_full().raw_repr() == SETS.full_mask
    assert C._dispatch_num_backends() == len(KEYS.backends)


def test_what_keys_stand_for() -> None:
    for alias in KEYS.aliases:
        members = [
            n for n in SETS.slots if C._dispatch_is_included_in_alias(theirs(n), theirs(alias))
        ]
        assert set(members) - {"Undefined"} == SETS.members[alias], alias
    for name in SETS.slots:
        backends = C._dispatch_get_backend_keyset_from_autograd(theirs(name))
        assert set(named(backends)) == SETS.backends_of[name], name


def test_the_local_state() -> None:
    included, excluded = C._dispatch_tls_local_include_set(), C._dispatch_tls_local_exclude_set()
    assert included.raw_repr() == SETS.bits(*INCLUDED_BY_DEFAULT)
    assert excluded.raw_repr() == SETS.bits(*SETS.autocast)


def test_a_tensor() -> None:
    keys = C._dispatch_keys(torch.ones(1))
    assert C._dispatch_keyset_to_string(keys) == f"DispatchKeySet({', '.join(named(keys))})"
    assert SETS.highest(keys.raw_repr()) == C._dispatch_key_name(keys.highestPriorityTypeId())


def test_every_cell_of_every_operator() -> None:
    every = [one for one in registrations_of_torch() if not one.name.startswith("torchgen_lite_")]
    assert len(every) > 3000
    for one in every:
        ours = {c.key: f"{c.label} [{c.origin}]" for c in table(one) if c.origin != "missing"}
        cells = computed(C._dispatch_dump_table(one.name))
        assert ours == {
            key: cell.replace("ambiguous_autogradother ", " ") for key, cell in cells.items()
        }, one.name
