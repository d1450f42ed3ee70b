"""Compares two versions of the computed tables, grouping operators that change alike.

add.Tensor: CUDA: kernel `add_cuda` -> missing
12 operators lose their Meta kernel: ...
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple

from torchgen_lite.analysis.computed_table import (
    Cell,
    Registrations,
    are_alike,
    run_name,
    runs_of,
    table,
)
from torchgen_lite.analysis.program import Program
from torchgen_lite.cli.pages import Section, column, filled
from torchgen_lite.cli.tables.explain import cell_data
from torchgen_lite.diagnostics.text import counted, ended
from torchgen_lite.loader.config.options import Json
from torchgen_lite.runtime.table import MISSING
from torchgen_lite.schema.grouped import by_name, grouped, names_of
from torchgen_lite.targets.generation import compared
from torchgen_lite.targets.registered import Beneath, registrations_of_program

_NAME = re.compile(r"[\w:.]+")
_KERNEL = "kernel"
_HEADS = ("operator", "key", "before", "after")


class CellChange(NamedTuple):
    """A slot, before and after."""

    old: Cell
    new: Cell


class Changed(NamedTuple):
    """An operator whose table changes."""

    name: str
    cells: Sequence[CellChange]

    @property
    def runs(self) -> list[list[CellChange]]:
        """The cells, merging neighbors that change alike into runs."""
        return runs_of(self.cells, lambda a, b: are_alike(a.old, b.old) and are_alike(a.new, b.new))

    @property
    def rows(self) -> list[tuple[str, str, str]]:
        """Of each run, its keys and what serves them before and after."""
        return [(_keys(run), _describe(run[0].old), _describe(run[0].new)) for run in self.runs]


class Comparison(NamedTuple):
    """The differences: operators that changed, new ones, and removed ones."""

    changed: Sequence[Changed]
    added: Sequence[str]
    removed: Sequence[str]

    @property
    def summary(self) -> str:
        """`3 operators change in 5 cells, 1 is new, 2 are gone`."""
        cells = sum(len(operator.cells) for operator in self.changed)
        verb = "changes" if len(self.changed) == 1 else "change"
        parts = [f"{counted(len(self.changed), 'operator')} {verb} in {counted(cells, 'cell')}"]
        for names, word in ((self.added, "new"), (self.removed, "gone")):
            if names:
                be = "is" if len(names) == 1 else "are"
                parts.append(f"{len(names)} {be} {word}")
        return ", ".join(parts)


def compare_tables(
    old: Iterable[Registrations],
    new: Iterable[Registrations],
    keys: Collection[str] = (),
    beneath: Beneath = MappingProxyType({}),
) -> Comparison:
    """The cells that differ, in the order of the new version; `keys` picks slots.

    An operator of PyTorch in only one version is what is `beneath` in the other.
    """
    before = by_name(old)
    after = by_name(new)
    for name in (*before, *after):
        if name in beneath:
            before.setdefault(name, beneath[name])
            after.setdefault(name, beneath[name])
    changed: list[Changed] = []
    added: list[str] = []
    for name, now in after.items():
        if name not in before:
            added.append(name)
            continue
        cells = list(_cells(before[name], now, keys))
        if cells:
            changed.append(Changed(now.name, cells))
    removed = [name for name in before if name not in after]
    return Comparison(changed, added, removed)


def compare_targets(old: Program, new: Program, beneath: Beneath) -> dict[str, Comparison]:
    """What changes over what PyTorch has, by what it is registered for, and once where several targets agree."""
    comparisons: dict[str, Comparison] = {}
    for pair in compared(old, new):
        before = registrations_of_program(old, pair[0], beneath)
        after = registrations_of_program(new, pair[1], beneath)
        # What has operators, rather the new version.
        whose = pair[0] if pair[0].operators and not pair[1].operators else pair[1]
        comparison = compare_tables(before, after, (), beneath)
        if any(comparison) and comparison not in comparisons.values():
            comparisons[whose.policy.speaks_of] = comparison
    return comparisons


def _cells(old: Registrations, new: Registrations, keys: Collection[str]) -> Iterator[CellChange]:
    if old == new:
        return  # Most are equal, and computing a table takes time.
    wanted = {new.sets.parse(key) for key in keys}
    before = {cell.key: cell for cell in table(old)}
    for cell in table(new):
        was = before.get(cell.key, Cell(cell.key, 0, MISSING, "", ""))
        if was[2:] != cell[2:] and (not wanted or cell.key in wanted):
            yield CellChange(was, cell)


def render_comparison(comparison: Comparison) -> str:
    """As text: a line or a block for each group, then what is new and what is gone."""
    lines: list[str] = []
    for group in _groups(comparison.changed):
        if len(group) > 1:
            lines += _lines_of_group(group)
        else:
            lines += _lines_of_operator(group[0])
    lines += [f"new: {name}" for name in comparison.added]
    lines += [f"gone: {name}" for name in comparison.removed]
    return ended(lines)


def _lines_of_group(group: Sequence[Changed]) -> Iterator[str]:
    """Kernels have other names in each operator, so what serves them is said without."""
    names = ", ".join(names_of(group))
    yield f"{_sentence(group)}: {names}"
    runs = group[0].runs
    if len(runs) > 1:
        for run in runs:
            yield f"  {_keys(run)}: {run[0].old.called} -> {run[0].new.called}"


def _lines_of_operator(operator: Changed) -> Iterator[str]:
    texts = ["{}: {} -> {}".format(*row) for row in operator.rows]
    if len(texts) == 1:
        yield f"{operator.name}: {texts[0]}"
        return
    yield operator.name
    for text in texts:
        yield f"  {text}"


def comparison_sections(comparison: Comparison) -> list[Section]:
    """As tables: one per group of operators that change alike, one for all the others."""
    alone: list[tuple[str, ...]] = []
    sections: list[Section] = []
    for group in _groups(comparison.changed):
        rows = []
        for changed in group:
            for row in changed.rows:
                rows.append((changed.name, *row))
        if len(group) == 1:
            alone += rows
        else:
            sections.append(Section(_sentence(group), rows, _HEADS))
    sections.append(Section("cells that change", alone, _HEADS))
    sections.append(column("new operators", comparison.added))
    sections.append(column("operators that are gone", comparison.removed))
    return filled(sections)


def comparison_data(tables: Mapping[str, Comparison]) -> Json:
    """As JSON data, by what it is registered for."""
    changes: list[object] = []
    added: dict[str, None] = {}
    removed: dict[str, None] = {}
    for registered, comparison in tables.items():
        for operator in comparison.changed:
            slots = [_change_data(change) for change in operator.cells]
            changes.append({"operator": operator.name, "registered": registered, "slots": slots})
        added |= dict.fromkeys(comparison.added)
        removed |= dict.fromkeys(comparison.removed)
    return {"changes": changes, "added": list(added), "removed": list(removed)}


def _change_data(change: CellChange) -> Json:
    return {"old": cell_data(change.old), "new": cell_data(change.new)}


def _groups(changed: Sequence[Changed]) -> list[list[Changed]]:
    """Groups of operators that change alike, ignoring kernel names; lost kernels come first."""
    groups = grouped(changed, _without_names)
    return sorted(groups.values(), key=lambda group: not _loses(group[0]))


def _without_names(operator: Changed) -> tuple[tuple[str, str, str], ...]:
    """How a table changes, whatever its kernels are called."""
    return tuple((cell.new.key, cell.old.origin, cell.new.origin) for cell in operator.cells)


def _loses(operator: Changed) -> bool:
    return any(change.new.origin == MISSING for change in operator.cells)


def _sentence(group: Sequence[Changed]) -> str:
    """`12 operators lose their Meta kernel`."""
    count = counted(len(group), "operator")
    if len(group[0].cells) > 1:
        return f"{count} change alike"
    old, new = group[0].cells[0]
    if (old.origin, new.origin) == (_KERNEL, MISSING):
        return f"{count} lose their {new.key} kernel"
    if (old.origin, new.origin) == (MISSING, _KERNEL):
        return f"{count} get a {new.key} kernel"
    if old.origin == new.origin:
        return f"{count} have another {new.called} at {new.key}"
    return f"{count} have {new.called} at {new.key}, and had {old.called}"


def _keys(run: Sequence[CellChange]) -> str:
    return run_name([change.new for change in run])


def _describe(cell: Cell) -> str:
    """`missing`, ``kernel `add_cuda` ``, `autograd kernel: records the call`."""
    if not cell.label:
        return cell.called
    label = f" `{cell.label}`" if _NAME.fullmatch(cell.label) else f": {cell.label}"
    return f"{cell.called}{label}"
