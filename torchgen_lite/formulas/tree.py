"""The tree of a formula whose nodes know their kind, what is saved for them, and which operator they call."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from torchgen_lite.diagnostics import Help
from torchgen_lite.formulas import model as nodes
from torchgen_lite.formulas.callees import Callee, Operators, no_operators
from torchgen_lite.formulas.facts import Saved
from torchgen_lite.formulas.kinds import FLOAT, INT, SCALAR, UNKNOWN, Kind
from torchgen_lite.formulas.language import GRADIENTS, NUMBERS, Language, Wanted


class Mistake(NamedTuple):
    """What is wrong with a node, in the words of a diagnostic."""

    code: str
    message: str
    label: str
    help: Help | None = None


class Typed(NamedTuple):
    """A node with its operands, in the order of `children`.

    `saved` is what replaces the node in backward, and `operator` the overload that it calls, if one
    is declared.
    """

    node: nodes.Expression
    kind: Kind
    parts: tuple[Typed, ...] = ()
    saved: Saved | None = None
    operator: Callee | None = None
    mistake: Mistake | None = None

    @property
    def is_none(self) -> bool:
        return isinstance(self.node, nodes.Name) and self.node.text == "None"


Undeclared = Callable[[nodes.Call, Sequence[Kind]], Kind]
"""The kind of what a call gives, from the kinds of its operands, in the order of `children`."""


def nothing_known(node: nodes.Call, parts: Sequence[Kind]) -> Kind:
    """Nothing is known of what is not declared."""
    return UNKNOWN


@dataclass(frozen=True, slots=True)
class Scope:
    """The kinds of a formula's names, the values to save for them, the known operators, the language.

    `undeclared` says what a call gives of a function that is none of the operators, as far as that is known.
    """

    kinds: Mapping[str, Kind]
    values: Mapping[str, Saved] = field(default_factory=dict)
    operators: Operators = no_operators
    language: Language = GRADIENTS
    undeclared: Undeclared = nothing_known

    def with_defined(self, names: Sequence[str]) -> Scope:
        """The scope in which these arguments are known to be defined; see Note [Strictness]."""
        if not (names and self.language.is_closed):
            return self
        known = {n: k.present if n in names else k for n, k in self.kinds.items()}
        return replace(self, kinds=known)


def every_part(tree: Typed) -> Iterator[Typed]:
    """Every node of a formula, outermost first."""
    yield tree
    for part in tree.parts:
        yield from every_part(part)


def saved_in(tree: Typed) -> Iterator[Saved]:
    """What a formula saves, in order of appearance."""
    if tree.saved is not None:
        yield tree.saved
        return
    for part in tree.parts:
        yield from saved_in(part)


def fits(kind: Kind, wanted: Wanted) -> bool:
    """Whether a value of this kind is accepted where one of the wanted kinds is expected."""
    if not kind.is_known or kind in wanted or not all(other.is_known for other in wanted):
        return True
    is_number = kind in NUMBERS and SCALAR in wanted
    return is_number or (kind == INT and bool(wanted & {FLOAT, SCALAR}))
