"""Two versions, release by release: an operator may have an entry for each of several ranges of PyTorch.

    - func: lib::f(Tensor self, int n=0) -> Tensor
      torch: "<2.9"
    - func: lib::f(Tensor self) -> Tensor
      torch: ">=2.9"

The entry for the newest release is compared anyway. What the others lose is lost with older releases.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace

from torchgen_lite.analysis.overlay import Entries, entries_for
from torchgen_lite.analysis.program import Program
from torchgen_lite.analysis.resolve import Resolved
from torchgen_lite.loader.versions import bounds, has_release
from torchgen_lite.schema.grouped import names_of


def entries_by_release(old: Program, new: Program) -> Iterator[tuple[Program, Program, set[str]]]:
    """For each release that makes a difference, both programs with its entries, and the operators that have several.
    There are none where no operator has.
    """
    before = _written(old)
    after = _written(new)
    names = _with_several(before) | _with_several(after)
    if not names:
        return
    for release in bounds([entry.torch for entry in (*before, *after) if entry.name in names]):
        if has_release(old.config.torch, release):
            was = _at(old, entries_for(before, release))
            now = _at(new, entries_for(after, release))
            yield was, now, names


def _written(program: Program) -> Entries:
    """All entries, those for other releases last."""
    return (*program.functions, *program.elsewhere)


def _with_several(entries: Entries) -> set[str]:
    counts = Counter(names_of(entries))
    return {name for name, count in counts.items() if count > 1}


def _at(program: Program, entries: Entries) -> Program:
    resolved = program.resolved
    return replace(program, resolved=Resolved(entries, resolved.vocabulary, resolved.context))
