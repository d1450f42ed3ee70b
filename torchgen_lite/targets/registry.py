"""All targets: our own, and those that other packages register in the same form.

Note [Targets of other packages]
A package names a `Target` in the group `torchgen_lite.targets` of its entry points, under the target's name. From then
on it is a target like ours: its options are in `[target.NAME]`, its files are checked for freshness, its templates can be
overridden. It is imported only when a command uses it or lists all targets; installing a package means trusting its code.
A target that cannot be loaded is reported (TG514) when it is used.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache, cached_property
from typing import TYPE_CHECKING

from torchgen_lite.diagnostics import Diagnostic
from torchgen_lite.schema.grouped import by_name
from torchgen_lite.targets.output import Target

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

GROUP = "torchgen_lite.targets"


class Targets(Mapping[str, Target]):
    """Targets by their names, our own first."""

    def __init__(self, *own: Target) -> None:
        self._own = by_name(own)

    @cached_property
    def _others(self) -> Mapping[str, EntryPoint]:
        from importlib.metadata import entry_points

        entries = by_name(entry_points(group=GROUP))
        return {name: entries[name] for name in sorted(entries) if name not in self._own}

    def __getitem__(self, name: str) -> Target:
        return self._own.get(name) or _load(self._others[name])

    def __contains__(self, name: object) -> bool:
        return name in self._own or name in self._others

    def __iter__(self) -> Iterator[str]:
        yield from self._own
        yield from self._others

    def __len__(self) -> int:
        return len(self._own) + len(self._others)


@cache
def _load(entry: EntryPoint) -> Target:
    """The target that an entry point names, or one that says why it failed."""
    try:
        target = entry.load()
        if not isinstance(target, Target):
            return _refusing(entry, f"`{entry.value}` is not a `Target`")
        if target.name != entry.name:
            return _refusing(entry, f"its `Target` is called `{target.name}`")
    except (Exception, SystemExit) as error:  # Importing a package may raise anything.
        return _refusing(entry, f"{type(error).__name__}: {error}")
    return target


def _refusing(entry: EntryPoint, reason: str) -> Target:
    package = entry.dist.name if entry.dist is not None else entry.value.partition(":")[0]
    message = f"target `{entry.name}` of `{package}` cannot be loaded: {reason}"
    reported = Diagnostic("TG514", message, help=f"reinstall `{package}`, or leave the target out")
    return Target(entry.name, f"cannot be loaded: {reason}", "", failure=(reported,))
