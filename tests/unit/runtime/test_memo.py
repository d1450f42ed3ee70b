"""The memo of resolved kernels: it is emptied by registrations, and bounded."""

from __future__ import annotations

import warnings
from typing import Any

import pytest

from tests.unit.runtime.helpers import T, keyset, operator_with, says
from torchgen_lite.runtime import DispatchKeySet, Library, fallthrough_kernel, local_state, memo
from torchgen_lite.runtime.entry import OperatorEntry

CPU = T("CPU")


def test_registration_forgets_what_was_resolved() -> None:
    operator, dispatcher, keep = operator_with("CPU")
    assert operator.call(CPU) == operator.redispatch(keyset("CPU"), CPU) == "CPU"
    block = Library("ns", "IMPL", "CPU", dispatcher=dispatcher)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        block.impl("op", says("newer"))
    assert operator.call(CPU) == operator.redispatch(keyset("CPU"), CPU) == "newer"
    block.close()
    assert operator.call(CPU) == operator.redispatch(keyset("CPU"), CPU) == "CPU"


def test_a_registration_during_a_miss_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    """The keys of the call are found without the lock; a registration before it is taken may bring in another one."""
    operator, _, keep = operator_with("CPU")
    keep[0].impl("op", fallthrough_kernel, "AutogradCPU")
    load = OperatorEntry.load

    def interrupted(*arguments: Any) -> bool:
        monkeypatch.setattr(OperatorEntry, "load", load)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            keep[0].impl("op", says("newer"), "AutogradCPU")
        return load(*arguments)

    monkeypatch.setattr(OperatorEntry, "load", interrupted)
    x = T("CPU", "AutogradCPU")
    assert (operator.call(x), operator.memo[local_state()][x._dispatch_keyset]()) == ("newer",) * 2


def test_the_memo_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memo, "MEMO_LIMIT", 8)
    operator, _, _keep = operator_with("CompositeExplicitAutograd")
    for backends in range(1, 40):
        keys = DispatchKeySet.from_raw_repr(backends) | keyset("Dense")
        x = T()
        x._dispatch_keyset = keys
        operator.call(x)
        operator.redispatch(keys, x)
        assert sum(map(len, operator.memo.values())) <= 8
        assert len(operator.redispatch_memo) <= 8
