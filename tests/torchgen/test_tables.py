"""The tables that `table` computes from PyTorch's file are those of the installed PyTorch."""

from __future__ import annotations

import pytest

from tests.installed import KEYS, needs_the_keys_of_the_runtime
from torchgen_lite.analysis.computed_table import table
from torchgen_lite.analysis.program import Program
from torchgen_lite.cli.tables.registrations import registrations_of_torch
from torchgen_lite.key_sets import key_sets
from torchgen_lite.targets.generation import generation_of
from torchgen_lite.targets.registered import registrations_of_program

pytestmark = [pytest.mark.torch, needs_the_keys_of_the_runtime]

# Keys at which PyTorch registers kernels that native_functions.yaml does not name, and their origin.
ELSEWHERE = {
    "Meta": "Python: torch/_meta_registrations.py and torch/_refs",
    "Autograd": "derivatives.yaml, and TraceTypeManual.cpp and VariableTypeManual.cpp by hand",
    "ADInplaceOrView": "derivatives.yaml, and VariableTypeManual.cpp by hand",
    "Tracer": "a file that torchgen generates for every operator",
    "Functionalize": "files that torchgen generates from groups and view groups",
    "Autocast": "autocast_mode.cpp, by hand",
    "FuncTorch": "functorch, by hand and from Python",
    "Batched": "LegacyBatchingRegistrations.cpp, by hand",
    "BatchedNestedTensor": "functorch, by hand",
    "VmapMode": "LegacyVmapMode.cpp, by hand",
    "Conjugate": "ConjugateFallback.cpp, by hand",
    "Negative": "NegateFallback.cpp, by hand",
    "ZeroTensor": "ZeroTensorFallback.cpp, by hand",
}
# The same for releases later than 2.13.
LATER = {"PythonTLSSnapshot": "Python: torch/_subclasses/fake_impls.py, from 2.14 on"}
# Backends of which no build has all.
NOT_BUILT = ("CUDA", "MPS", "MTIA", "XPU")


def test_the_keys_that_the_file_speaks_of(program: Program) -> None:
    pytest.importorskip("torch")
    theirs = {found.name: found for found in registrations_of_torch()}
    different: dict[str, set[str]] = {}
    compared: set[str] = set()
    selection = generation_of(program).shown
    for found in registrations_of_program(program, selection):
        for mine, running in zip(table(found), table(theirs[found.name]), strict=True):
            compared.add(mine.key)
            if (mine.origin, mine.source) != (running.origin, running.source):
                different.setdefault(mine.key, set()).add(found.name)
    built = {key for key in different if not key.endswith(NOT_BUILT) or key.startswith("Auto")}
    assert [key for key in built if not key.startswith((*ELSEWHERE, *LATER))] == []
    assert all(any(key.startswith(name) for key in built) for name in ELSEWHERE)
    assert compared == set(key_sets(KEYS).slots)
