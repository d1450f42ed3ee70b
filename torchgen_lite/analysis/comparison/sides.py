"""The two sides of a comparison, and one operator of each."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from torchgen_lite.analysis.comparison.terms import Terms
from torchgen_lite.analysis.finding import Change, Witness
from torchgen_lite.analysis.operators import Operator
from torchgen_lite.analysis.served import Served
from torchgen_lite.loader.entry.entry import NativeFunction

# How a target calls an operator: the lines of its signatures, for any entry of that name.
Called = Mapping[str, Callable[[NativeFunction], Sequence[str]]]
# The line of a witness, in the language of whoever makes the call; empty where no line shows the change.
Writer = Callable[[Operator, Witness], str]


class Side(NamedTuple):
    """One side of a comparison: its operators; for each target what it serves of them, by name, and how they are called.

    `called` is None without a configuration, which would say what is generated. `lent` are operators of PyTorch that
    only the other side has an entry for: without one they are what PyTorch makes of them. `terms` are what options and
    fields offer besides, if they are known. `releases` is the range of PyTorch that the project supports, `ranges` has
    those of the entries of each operator with several. `write` gives the line of a witness.
    """

    operators: Sequence[Operator]
    served: Sequence[Mapping[str, Served]] = ()
    called: Called | None = None
    lent: Sequence[Operator] = ()
    terms: Terms | None = None
    releases: str = ""
    ranges: Mapping[str, Sequence[str]] = {}
    write: Writer = lambda operator, witness: ""

    def offer(self, operator: Operator, names: Mapping[str, str]) -> Offer:
        served = [of_target.get(operator.name) for of_target in self.served]
        ranges = self.ranges.get(operator.name) or [operator.function.torch or ""]
        return Offer(operator, self, served, ranges, names)


class Offer(NamedTuple):
    """An operator of one side, what each target serves of it, if it takes the operator, and the ranges of its entries.

    `names` are what its arguments are called in the new version, where that differs.
    """

    operator: Operator
    side: Side
    served: Sequence[Served | None]
    ranges: Sequence[str]
    names: Mapping[str, str]

    def named(self, name: str) -> str:
        """An argument as the new version calls it."""
        return self.names.get(name, name)

    @property
    def taken(self) -> set[str]:
        """The targets that take the operator."""
        return {served.policy.target for served in self.served if served is not None}

    def changed(
        self,
        code: str,
        message: str,
        field: str,
        was: Offer,
        label: str = "",
        witness: Witness | None = None,
    ) -> Change:
        """A change in a field of the entry, since the version in which it was another one."""
        here = self.operator.function.place(field)
        there = was.operator.function.place(field)
        return Change(code, message, here, label, there, witness)
