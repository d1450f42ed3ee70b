"""What `table` says about the reference set is what its dispatcher does, cell for cell."""

from __future__ import annotations

import torchgen_lite_reference as tl
from tests.conftest import ROOT
from torchgen_lite import load
from torchgen_lite.analysis.computed_table import table
from torchgen_lite.targets.generation import generation_of
from torchgen_lite.targets.registered import registrations_of_program


def test_every_cell_of_every_operator() -> None:
    program = load(root=ROOT)
    count = 0
    for found in registrations_of_program(program, generation_of(program).shown):
        qualified, _, overload = found.name.partition(".")
        live = tl.dispatcher.computed_table(qualified, overload)
        explained = table(found)
        assert len(explained) == 137
        # The live table leaves out the slots that nothing serves.
        served = [cell for cell in explained if cell.origin != "missing"]
        said = {cell.key: (cell.origin, cell.falls_through) for cell in served}
        does = {key: (cell.origin, cell.fallthrough) for key, cell in live.items()}
        assert said == does, found.name
        count += 1
    assert count == len(program.functions) == 698
