"""Verdicts of `coverage`, compared with the dispatch tables of the running PyTorch."""

from __future__ import annotations

from pathlib import Path

import pytest

from torchgen_lite.cli.backends.sources import loaded_kernels
from torchgen_lite.cli.backends.verdicts import Kernels, Verdict, coverage, native_program
from torchgen_lite.loader import Config
from torchgen_lite.loader.releases import INSTALLED
from torchgen_lite.pipeline import load

pytestmark = pytest.mark.torch
torch = pytest.importorskip("torch")

# What the slot of a table says, and the verdicts that it may come to.
WORDS = {
    "[kernel]": {Verdict.own, Verdict.through},
    "[math kernel]": {Verdict.composite},
    "[default backend kernel]": {
        Verdict.composite,
        Verdict.through,
        Verdict.fallback,
        Verdict.nothing,
    },
    "[backend fallback]": {Verdict.fallback},
    "": {Verdict.nothing},
}


@pytest.mark.parametrize("key", ["CPU", "PrivateUse1", "SparseCPU", "QuantizedCPU"])
def test_verdicts_are_those_of_the_tables(key: str, tmp_path: Path) -> None:
    program = load([], config=Config(tmp_path, native=INSTALLED))
    native = native_program(program.config, program.resolved.context, program.tags)
    kernels = loaded_kernels(())
    assert len(kernels.of) > 3000
    different = []
    for covered in coverage(native, key, kernels):
        name = covered.operator.name
        dump = torch._C._dispatch_dump_table(name).splitlines()
        cell = next((line for line in dump if line.startswith(f"{key}: ")), "")
        word = cell[cell.rfind("[") :] if cell else ""
        if covered.verdict not in WORDS[word]:
            different.append((name, covered.verdict.name, cell))
    assert different == []


def test_its_file_says_what_its_registry_says(tmp_path: Path) -> None:
    """Kernels that the file names, and what PyTorch really has; it registers some by hand."""
    program = load([], config=Config(tmp_path, native=INSTALLED))
    native = native_program(program.config, program.resolved.context, program.tags)
    by_file = {c.operator.name: c.verdict for c in coverage(native, "CPU", Kernels({}))}
    loaded = {c.operator.name: c.verdict for c in coverage(native, "CPU", loaded_kernels(()))}
    different = {
        name: (verdict.name, loaded[name].name)
        for name, verdict in by_file.items()
        if verdict is not loaded[name]
    }
    by_hand = {o.name for o in native.resolved.operators if o.function.manual_kernel_registration}
    assert set(different) <= by_hand, different
