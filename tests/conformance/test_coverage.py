"""Verdicts of `coverage`, compared with the dispatch tables of the running PyTorch."""

from __future__ import annotations

import pytest

from torchgen_lite.cli.tables.registrations import registrations_of_torch
from torchgen_lite.loader.config.project import Config
from torchgen_lite.loader.torch.releases import INSTALLED
from torchgen_lite.pipeline import load
from torchgen_lite_tools.backends.results import is_refused, made_below
from torchgen_lite_tools.backends.verdicts import (
    SERVED,
    Covered,
    Overlay,
    Verdict,
    coverage,
    pytorchs,
    view_of,
)

pytestmark = pytest.mark.torch
torch = pytest.importorskip("torch")

# What the slot of a table says, and the verdicts that it may come to.
WORDS = {
    "[kernel]": {Verdict.own, Verdict.through},
    "[math kernel]": {Verdict.composite},
    "[default backend kernel]": {
        Verdict.composite,
        Verdict.through,
        Verdict.nothing,
    },
    "": {Verdict.nothing},
}


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Overlay:
    """PyTorch as its YAML has it."""
    config = Config(tmp_path_factory.mktemp("here"), native=INSTALLED)
    program = load([], config=config)
    return pytorchs(config, program.resolved.context, program.tags)


@pytest.fixture(scope="module")
def loaded(files: Overlay) -> Overlay:
    """PyTorch as its registry has it."""
    tables = {one.name: one for one in registrations_of_torch()}
    assert len(tables) > 3000
    return files._replace(tables={name: tables[name] for name in files.tables})


def cell_of(name: str, key: str) -> str:
    lines = torch._C._dispatch_dump_table(name).splitlines()
    return next((line for line in lines if line.startswith(f"{key}: ")), "")


@pytest.mark.parametrize("key", ["CPU", "PrivateUse1", "SparseCPU", "QuantizedCPU"])
def test_verdicts_are_those_of_the_tables(key: str, loaded: Overlay) -> None:
    different = []
    for covered in coverage(loaded, key):
        cell = cell_of(covered.operator.name, key)
        word = cell[cell.rfind("[") :] if cell else ""
        if covered.verdict is Verdict.nothing and is_known_to_raise(covered, key):
            continue
        if covered.verdict not in WORDS[word]:
            different.append((covered.operator.name, covered.verdict.name, cell))
    assert different == []


def is_known_to_raise(covered: Covered, key: str) -> bool:
    """A slot does not say it: see Note [Results that are not dense]."""
    name = covered.operator.name
    lacks_result = any(made_below(name, key)) or is_refused(name, key)
    return lacks_result or covered.by == view_of(covered.operator) != ""


def test_its_file_says_what_its_registry_says(files: Overlay, loaded: Overlay) -> None:
    """Kernels that the file names, and what PyTorch really has; it registers some by hand."""
    live = {c.operator.name: c.verdict for c in coverage(loaded, "CPU")}
    different = {
        c.operator.name: (c.verdict.name, live[c.operator.name].name)
        for c in coverage(files, "CPU")
        if c.verdict is not live[c.operator.name]
    }
    operators = files.native.resolved.operators
    by_hand = {o.name for o in operators if o.function.manual_kernel_registration}
    assert set(different) <= by_hand, different


def test_a_fallback_serves_what_the_cpu_has_kernels_for(files: Overlay) -> None:
    """Of what no kernel serves, the CPU lacks some; and what is left to copy may be a view."""
    fallen: dict[Verdict, set[str]] = {}
    covered_with = coverage(files.with_fallback("PrivateUse1"), "PrivateUse1")
    for covered in covered_with:
        name = covered.operator.name
        if not cell_of(name, "PrivateUse1"):
            fallen.setdefault(covered.verdict, set()).add(name)
        elif covered.verdict not in SERVED:
            # A kernel of PyTorch that calls what no kernel serves.
            assert covered.by or is_refused(name, "PrivateUse1"), name
    without = {name for names in fallen.values() for name in names if not cell_of(name, "CPU")}
    raising = {c.operator.name for c in covered_with if is_known_to_raise(c, "PrivateUse1")}
    assert fallen[Verdict.nothing] - without <= raising
    assert without <= fallen[Verdict.nothing] and len(without) > 150
    assert {"aten::_thnn_fused_lstm_cell", "aten::cudnn_convolution"} <= without
    views = {name for names in fallen.values() for name in names if _is_view(name)}
    assert fallen[Verdict.wrong] == views - without
    assert {"aten::view_as_real", "aten::view_as_complex"} <= fallen[Verdict.wrong]
    assert fallen.keys() == {Verdict.fallback, Verdict.nothing, Verdict.wrong}


def _is_view(name: str) -> bool:
    """What the fallback of PyTorch refuses or warns of: a result that shares memory, and is not written."""
    schema = torch._C._get_schema(*(name.partition(".")[::2]))
    aliases = [value.alias_info for value in schema.returns]
    return any(alias is not None and not alias.is_write for alias in aliases)
