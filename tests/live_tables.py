"""Every cell of every operator of PyTorch: what is said of a backend's files, and what the process has that loaded it."""

from __future__ import annotations

import json
from collections.abc import Mapping

# Run where the project is, which neither of them changes. `SAID` loads no library, `LIVE` the one that is imported.
SAID = """
import json, sys
from torchgen_lite import load
from torchgen_lite.analysis.computed_table import table
from torchgen_lite.cli.tables.registrations import pytorchs_of
from torchgen_lite.targets.registered import registrations_of_program, select_operators

program = load()
beneath = pytorchs_of(program, sys.argv[1:])
over = registrations_of_program(program, select_operators(program, None), beneath)
print(json.dumps({
    one.name: {
        cell.key: [cell.origin, cell.falls_through, cell.whose]
        for cell in table(one)
        if cell.origin != "missing"
    }
    for one in {**beneath, **{one.name: one for one in over}}.values()
}))
"""
LIVE = """
import json, sys, torch

before = {name: torch._C._dispatch_dump_table(name) for name in torch._C._dispatch_get_all_op_names()}
__import__(sys.argv[1])
print(json.dumps([before, {name: torch._C._dispatch_dump_table(name) for name in before}]))
"""


def wrong_cells(said: str, live: str) -> tuple[list[tuple[object, ...]], int]:
    """The cells that differ, and how many are alike. A cell is yours exactly if loading the library changed it."""
    before, after = json.loads(live)
    tables, wrong, alike = json.loads(said), [], 0
    for name in after:
        old, new, cells = _lines(before[name]), _lines(after[name]), tables[name]
        for key in sorted({*new, *cells}):
            does = _cell(new[key], old.get(key)) if key in new else None
            if cells.get(key) == does:
                alike += 1
            else:
                wrong.append((name, key, cells.get(key), new.get(key)))
    return wrong, alike


def _lines(dump: str) -> Mapping[str, str]:
    return {key: cell for key, _, cell in (line.partition(": ") for line in dump.splitlines())}


def _cell(text: str, before: str | None) -> list[object]:
    """The origin of a cell, whether it falls through, and whose it is."""
    whose = "PyTorch's" if text == before else "yours"
    return [text[text.rfind(" [") + 2 : -1], text.startswith("fallthrough"), whose]
