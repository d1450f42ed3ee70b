"""The tree of a formula whose nodes know their kind, what is saved for them, and which operator they call."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from torchgen_lite.diagnostics import Help
from torchgen_lite.formulas import model as nodes
from torchgen_lite.formulas.callees import Callee, Operators, no_operators
from torchgen_lite.formulas.facts import FUNCTIONS, Fact, Saved
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
    def kinds(self) -> list[Kind]:
        """Those of the operands."""
        return kinds_of(self.parts)

    @property
    def calls_own(self) -> bool:
        """Whether it calls an operator of the file, and not one of PyTorch's."""
        return self.operator is not None and self.operator.is_own

    @property
    def is_none(self) -> bool:
        return isinstance(self.node, nodes.Name) and self.node.text == "None"


def kinds_of(trees: Iterable[Typed]) -> list[Kind]:
    return [tree.kind for tree in trees]


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


def saving_in(tree: Typed) -> Iterator[tuple[Typed, Saved]]:
    """The parts of a formula for which something is saved, each with that, in order of appearance."""
    if tree.saved is not None:
        yield tree, tree.saved
        return
    for part in tree.parts:
        yield from saving_in(part)


def saved_in(tree: Typed) -> Iterator[Saved]:
    """What a formula saves, in order of appearance."""
    return (saved for _, saved in saving_in(tree))


def fits(kind: Kind, wanted: Wanted) -> bool:
    """Whether a value of this kind is accepted where one of the wanted kinds is expected."""
    if not kind.is_known or kind in wanted or not all(other.is_known for other in wanted):
        return True
    is_number = kind in NUMBERS and SCALAR in wanted
    return is_number or (kind == INT and bool(wanted & {FLOAT, SCALAR}))


# Facts that our own formulas read as attributes: `self.shape`.
_ATTRIBUTES = {fact.value: fact for fact in (Fact.device, Fact.dtype, Fact.ndim, Fact.shape)}


def saved_by(node: nodes.Expression, scope: Scope) -> Saved | None:
    """What to save for an expression that is a value of the scope or a fact about one; else None."""
    values = scope.values
    match node:
        case nodes.Name(text):
            return values.get(text)
        case nodes.Member(value, name):
            return _about(value, values, _ATTRIBUTES.get(name))
        case nodes.Call(nodes.Member(value, "sym_sizes", True), (), ()):
            return _about(value, values, Fact.sym_sizes_opt)
        case nodes.Call(nodes.Member(value, name, False), (), ()):
            known = scope.language.methods.get(name)
            return _about(value, values, known.saved if known is not None else None)
        case nodes.Call(
            nodes.Member(value, "size" | "sym_size", False),
            (nodes.Literal() | nodes.Name() | nodes.Unary() as dim,),
            (),
        ):
            return _about(value, values, Fact.size, str(dim))
        case nodes.Call(function, (value,), ()) if not isinstance(function, nodes.Member):
            return _about(value, values, FUNCTIONS.get(nodes.called_name(node) or ""))
    return None


def _about(
    value: nodes.Expression, values: Mapping[str, Saved], fact: Fact | None, dim: str = ""
) -> Saved | None:
    source = values.get(value.text) if isinstance(value, nodes.Name) else None
    if source is None or fact is None:
        return None
    has_sizes = source.carries.has_tensors and not source.carries.is_list
    if fact in (Fact.size, Fact.sym_sizes) and not has_sizes:
        return None  # `sizes.size()` is the length of a list.
    saved = replace(source, fact=fact, dim=dim)
    while saved.name in values:
        saved = replace(saved, apart=f"{saved.apart}_")
    return saved
