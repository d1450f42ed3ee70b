"""Every cell of every operator of PyTorch: what is said of a backend's files, and what the process has that loaded it.

What `why` says of a call is compared, too: where it arrives, under the keys that tensors of a device carry.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping

# Run where the project is, which neither of them changes. `SAID` loads no library, `LIVE` the one that is imported, or
# whose path is given. Arguments of `SAID` are keys for which the library has a fallback.
SAID = """
import json, sys
from torchgen_lite import load
from torchgen_lite.analysis.computed_table import table
from torchgen_lite.cli.tables.explain import why
from torchgen_lite.cli.tables.registrations import pytorchs_of
from torchgen_lite.targets.generation import generation_of
from torchgen_lite.targets.registered import registrations_of_program

def said(cell):
    return [cell.origin, cell.falls_through, cell.whose]

def arrives(one, keys):
    [first, *_] = why(one, keys).steps
    return [first.cell.key, said(first.cell)]

program = load()
beneath = pytorchs_of(program, sys.argv[1:])
over = registrations_of_program(program, generation_of(program).shown, beneath)
every = {**beneath, **{one.name: one for one in over}}
tables = {
    name: {cell.key: said(cell) for cell in table(one) if cell.origin != "missing"}
    for name, one in every.items()
}
calls = [[key, *autograd] for key in ("CPU", "PrivateUse1", "XLA") for autograd in ([], ["Autograd" + key])]
print(json.dumps([tables, {name: [arrives(one, keys) for keys in calls] for name, one in every.items()}]))
"""
LIVE = """
import json, os, sys, torch
from torch._C import DispatchKey, DispatchKeySet

def tables():
    return {name: torch._C._dispatch_dump_table(name) for name in torch._C._dispatch_get_all_op_names()}

def arrives(name, keys):
    "The key that a call arrives at: the first of those that are left and do not fall through."
    cells = dict(line.split(": ", 1) for line in after[name].splitlines())
    left = torch._C._dispatch_tls_local_include_set()
    for key in keys:
        left = left | DispatchKeySet(getattr(DispatchKey, key))
    while True:
        key = left.highestPriorityTypeId()
        if not cells.get(key.name, "").startswith("fallthrough"):
            return key.name
        left = left.remove(key)

before = tables()
torch.ops.load_library(sys.argv[1]) if os.path.isfile(sys.argv[1]) else __import__(sys.argv[1])
after = tables()
calls = [[key, *autograd] for key in ("CPU", "PrivateUse1", "XLA") for autograd in ([], ["Autograd" + key])]
arrived = {name: [arrives(name, keys) for keys in calls] for name in before}
print(json.dumps([before, {name: after[name] for name in before}, arrived]))
"""


def wrong_cells(said: str, live: str) -> tuple[list[tuple[object, ...]], int]:
    """The cells that differ, and how many are alike. A cell is yours exactly if its kernel came with the library.

    A call that `why` lets arrive at another key, or at another cell, is one more.
    """
    before, after, arrived = json.loads(live)
    (tables, whys), wrong, alike = json.loads(said), [], 0
    pytorchs = {_kernel(cell) for dump in before.values() for cell in _lines(dump).values()}
    for name in after:
        new, cells = _lines(after[name]), tables[name]
        does = {key: _cell(cell, pytorchs) for key, cell in new.items()}
        for key in sorted({*new, *cells}):
            if cells.get(key) == does.get(key):
                alike += 1
            else:
                wrong.append((name, key, cells.get(key), new.get(key)))
        for (key, cell), at in zip(whys[name], arrived[name], strict=True):
            if key != at or cell != does.get(at, ["missing", False, ""]):
                wrong.append((name, f"why: {key}", cell, f"{at}: {new.get(at)}"))
    return wrong, alike


def _lines(dump: str) -> Mapping[str, str]:
    return {key: cell for key, _, cell in (line.partition(": ") for line in dump.splitlines())}


def _kernel(cell: str) -> str:
    """Where the kernel of a cell was registered."""
    return cell[: cell.rfind(" [")]


def _cell(text: str, pytorchs: Collection[str]) -> list[object]:
    """The origin of a cell, whether it falls through, and whose it is."""
    kernel = _kernel(text)
    whose = "PyTorch's" if kernel in pytorchs else "yours"
    return [text[len(kernel) + 2 : -1], text.startswith("fallthrough"), whose]
