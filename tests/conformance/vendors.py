"""Read the operator files of vendors: what is seen in each, and whether every kernel is.

    python -m tests.conformance.vendors [--native RELEASE] [--show N] FOLDER

FOLDER holds YAML files, in separate folders if they belong together: a file of formulas is read after the others of
its folder, any other file by itself. `--native` says whose operators they refer to (default: the installed PyTorch).

One row for each file: operators, kernels that were read, items of the file that stand for a kernel as PyYAML counts
them, errors, warnings, and the codes. What is counted knows as little of the formats as may be: each list of names
or entries that are for the release, each key of `dispatch`, each entry of `kernels` without `arg_meta`. Where fewer kernels were read than there
are items, less one for each error, a `lost` line says how many, and the exit code is 1.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from pathlib import Path
from typing import Any, NamedTuple

import yaml

from torchgen_lite.diagnostics import render_concise
from torchgen_lite.loader.config.project import Config
from torchgen_lite.loader.torch.releases import read_release
from torchgen_lite.loader.versions import Version, parse_version
from torchgen_lite.pipeline import lint, load

# Lists of a backend's file that give no kernel.
NOT_KERNELS = ("symint", "ir_gen", "tocpu", "all_version", "backward", "extra_headers")
# Lists whose kernels are for other keys than those of the other lists.
APART = ("autograd", "custom_autograd", "quant")


class Row(NamedTuple):
    """What is printed of a file; `lost` are kernels that nothing accounts for."""

    file: str
    form: str
    operators: int
    kernels: int
    items: int
    errors: int
    warnings: int
    codes: str
    lost: int

    def text(self) -> str:
        return (
            f"{self.file:46} {self.form:12} {self.operators:6} {self.kernels:6} {self.items:6}"
            f" {self.errors:4} {self.warnings:4}  {self.codes}"
        )


def plain(path: Path) -> Any:
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    return yaml.load(path.read_text("utf-8-sig"), Loader=loader)


def form(data: Any) -> str:
    """The shape of a file."""
    if isinstance(data, dict):
        if "backward" in data:
            return "formulas"
        if {"backend", "supported", "official"} & data.keys():
            return "backend"
        return "namespaces" if "aten" in data else "?"
    first = data[0] if isinstance(data, list) and data else None
    if not isinstance(first, dict):
        return "empty" if not data else "?"
    if "name" in first:
        return "formulas"
    if any("inherits" in entry for entry in data if isinstance(entry, dict)):
        return "?"
    return "executorch" if any("kernels" in entry for entry in data) else "entries"


def items(data: Any, shape: str, version: Version) -> int:
    """How many kernels a reader of the file would count."""
    if shape in ("formulas", "?", "empty"):
        return 0
    if isinstance(data, list):
        return sum(map(entry_items, data))
    if shape == "namespaces":
        return sum(namespaced(entry) for listed in data.values() for entry in listed)
    # Without a known release, the newest one that the file names is used.
    known = [parse_version(word.lstrip("v")) for word in data.get("all_version") or []]
    version = version or max(known, default=())
    tables, named = 0, set()
    for field, listed in data.items():
        if not isinstance(listed, list) or field in NOT_KERNELS:
            continue
        for item in listed:
            if isinstance(item, dict) and "dispatch" in item:
                tables += entry_items(item)
                named.add(("", name_of(item)))
                continue
            if is_meant(item, version):
                # An operator that two lists name has one kernel, but for autograd and quantized tensors.
                named.add((field if field in APART else "", name_of(item)))
    with_tables = {
        ("", name_of(item))
        for listed in data.values()
        if isinstance(listed, list)
        for item in listed
        if isinstance(item, dict) and "dispatch" in item
    }
    return tables + len(named - with_tables)


def name_of(item: Any) -> str:
    if isinstance(item, dict):
        item = item.get("func") or item.get("op") or next(iter(item))
    return str(item).partition("(")[0].strip()


def is_meant(item: Any, version: Version) -> bool:
    """Whether an item has a kernel for the release: if one of its ranges has it, or if it has none."""
    if isinstance(item, dict) and "structured_delegate" in item:
        # The structured out variant has the kernel.
        return False
    given = [
        item[field] for field in ("acl_op", "op_api") if isinstance(item, dict) and field in item
    ]
    return not given or any(in_range(value, version) for value in given)


def in_range(value: Any, version: Version) -> bool:
    if value is True or value == "all_version":
        return True
    words = value if isinstance(value, list) else str(value).split(",")
    found = [
        (99,) if w.strip() == "newest" else parse_version(w.strip().lstrip("v")) for w in words
    ]
    if isinstance(value, list) and len(found) == 2:
        return found[0] <= version[:2] <= found[1]
    return version[:2] in found


def entry_items(entry: Any) -> int:
    """The keys of `dispatch`, a list of them counting each; the kernels without `arg_meta`."""
    if not isinstance(entry, dict):
        return 0
    table = entry.get("dispatch") or {}
    keys = sum(len(str(key).split(",")) for key in table) if isinstance(table, dict) else 1
    kernels = [k for k in entry.get("kernels") or [] if not k.get("arg_meta")]
    return keys + min(1, len(kernels))


def namespaced(entry: dict[str, Any]) -> int:
    """Without a table there is one kernel, or two with autograd; none for what delegates."""
    if "dispatch" in entry:
        return entry_items(entry)
    return 0 if "structured_delegate" in entry else 1 + bool(entry.get("custom_autograd"))


def read(path: Path, folder: Path, native: str, version: Version) -> tuple[Row, list[str]]:
    data = plain(path)
    shape = form(data)
    paths = [path]
    if shape == "formulas":
        others = sorted(
            p for p in path.parent.glob("*.y*ml") if form(plain(p)) not in ("formulas", "?")
        )
        paths = [*others, path]
    config = Config(folder, native=native, targets=("cpp-torch",))
    program = lint(load(paths, config=config))
    name = path.relative_to(folder).as_posix()
    own = [d for d in program.diagnostics if d.path is None or d.path.endswith(path.name)]
    errors = [d for d in own if d.severity == "error"]
    counted = Counter(d.code for d in own)
    mine = [
        f for f in program.functions if f.span is None or f.span.source.path.endswith(path.name)
    ]
    kernels = sum(len(f.dispatch) for f in mine) if shape != "formulas" else 0
    with_formulas = sum(f.derivatives is not None for f in program.functions)
    operators = with_formulas if shape == "formulas" else len(mine)
    wanted = items(data, shape, version)
    codes = ", ".join(f"{number} {code}" for code, number in sorted(counted.items()))
    # An error stands where a kernel is missing: an operator that does not exist, or is named twice.
    lost = max(0, wanted - kernels - len(errors))
    row = Row(
        name, shape, operators, kernels, wanted, len(errors), len(own) - len(errors), codes, lost
    )
    return row, render_concise(errors).splitlines()


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("folder", type=Path, metavar="FOLDER")
    parser.add_argument("--native", default="torch", metavar="RELEASE")
    parser.add_argument("--show", type=int, default=0, help="how many errors of a file to print")
    options = parser.parse_args()
    folder = options.folder.resolve()
    version = read_release(options.native, Path.cwd()).version
    print(f"{'file':46} {'form':12} {'operat':>6} {'kernel':>6} {'items':>6}  err warn  codes")
    lost = 0
    for path in sorted(folder.rglob("*.y*ml")):
        row, errors = read(path, folder, options.native, version)
        print(row.text(), flush=True)
        for line in errors[: options.show]:
            print(f"    {line[:160]}")
        if row.lost:
            print(f"    lost: {row.lost}")
        lost += row.lost
    return 1 if lost else 0


if __name__ == "__main__":
    sys.exit(main())
