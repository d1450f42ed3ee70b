"""The atoms of conditions, the facts of an input on which each depends, and the values of a fact that differ for them.

x.dtype == half && x.size(-1) % 8 == 0      two atoms, of two facts: the dtype of x, its last size
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from itertools import chain, pairwise
from math import ceil, floor, gcd, lcm
from typing import NamedTuple

from torchgen_lite.analysis.selection.inputs import (
    FORMATS,
    Dtype,
    NoReading,
    Read,
    Unknown,
    Value,
    dtype_named,
    value_of,
)
from torchgen_lite.formulas import kinds
from torchgen_lite.formulas import model as nodes
from torchgen_lite.formulas.language import DTYPES, kinds_of_values
from torchgen_lite.formulas.model import Expression, walk
from torchgen_lite.formulas.operands import COMPARISONS
from torchgen_lite.schema import FunctionSchema
from torchgen_lite.schema.grouped import names_of

# Between two bounds, as many values are tried as a period of the divisors has.
LONGEST_PERIOD = 1024
# So many values of a fact are tried that no decided atom tells apart.
_ALIKE = 5
# The values that a fact has in an atom of several, besides those that its other atoms ask for.
_FEW = (1, 2, 3, 4, 8)
# Examples have the dtypes that are used most, if it makes no difference.
_USUAL = ("float32", "float16", "bfloat16", "float64", "int64", "int32", "bool", "complex64")


class Fact(NamedTuple):
    """What may differ between inputs: `kind` is `size`, `dtype`, `value` ..., of an argument, at an index if it has one."""

    kind: str
    argument: str
    at: int | None = None


# The facts that methods and attributes of a tensor read; some read the same one.
_READ = {
    "dim": "dim",
    "ndim": "dim",
    "dtype": "dtype",
    "is_complex": "dtype",
    "is_floating_point": "dtype",
    "is_contiguous": "contiguous",
    "numel": "numel",
    "requires_grad": "requires_grad",
    "storage_offset": "offset",
    "defined": "defined",
}
TRUTHS = {
    "contiguous": (True, False),
    "requires_grad": (False, True),
    "defined": (True, False),
}
_COUNTS = frozenset({"size", "stride", "dim", "numel", "offset", "address", "capability", "length"})


@dataclass(frozen=True, slots=True)
class Atom:
    """A part of a condition without `and`, `or` and `not`.

    It `is_decided` by the value of its only fact, for which `cuts` and `period` say where that matters.
    """

    node: Expression
    facts: tuple[Fact, ...]
    is_decided: bool
    cuts: tuple[Fraction, ...] = ()
    period: int = 1

    @property
    def text(self) -> str:
        return str(self.node)


def canonical(node: Expression) -> Expression:
    """The condition with `==` and `<` alone, so that `a >= b` is the opposite of `a < b` by its text."""
    node = nodes.mapped(node, canonical)
    match node:
        case nodes.Binary("==" | "!=" as sign, left, right):
            first, second = sorted((left, right), key=str)
            equal = nodes.Binary("==", first, second)
            return equal if sign == "==" else nodes.Unary("!", equal)
        case nodes.Binary(">", left, right):
            return nodes.Binary("<", right, left)
        case nodes.Binary("<=", left, right):
            return nodes.Unary("!", nodes.Binary("<", right, left))
        case nodes.Binary(">=", left, right):
            return nodes.Unary("!", nodes.Binary("<", left, right))
    return node


def atoms_of(condition: Expression, schema: FunctionSchema) -> Iterator[Atom]:
    """The atoms of a condition, in the order written."""
    match condition:
        case nodes.Unary("!", operand):
            yield from atoms_of(operand, schema)
        case nodes.Binary("&&" | "||", left, right):
            yield from atoms_of(left, schema)
            yield from atoms_of(right, schema)
        case _:
            yield _atom(condition, schema)


def _atom(node: Expression, schema: FunctionSchema) -> Atom:
    names = set(names_of(schema.inputs))
    facts, is_readable = _facts_in(node, names)
    extent = None
    if is_readable and len(facts) <= 1:
        extent = _extent(node, facts[0], schema) if facts else _extent_of_constant(node)
    if extent is None:
        return Atom(node, facts, False)
    return Atom(node, facts, True, *extent)


# Where the truth of an atom changes, and the period with which it does.
_Extent = tuple[tuple[Fraction, ...], int]
_NOWHERE: _Extent = ((), 1)


def _extent(node: Expression, fact: Fact, schema: FunctionSchema) -> _Extent | None:
    """Where the truth of an atom of one fact changes; None if that is not known for every value of the fact.

    A form of atom that nobody thought of is not known. So a new function of the language costs a verdict, never a
    right one.
    """
    kind = kind_of(fact, schema)
    is_value = fact.kind == "value"
    if _is_finite(fact, kind):
        values = _candidates(fact, (), schema, ())
        truths = [_truth(node, fact, value, schema) for value in values]
        return None if None in truths else _NOWHERE
    if fact.kind == "address":
        divisor = _alignment(node)
        return ((), divisor) if divisor else None
    if kind.is_optional and is_value:
        return None
    names = set(names_of(schema.inputs))
    if fact.kind in _COUNTS or (fact.kind in ("value", "item") and kind.sort is kinds.Sort.int):
        return None if is_value and kind.is_list else _cuts_of(node, names)
    if is_value and not kind.is_list and _is_bare_comparison(node, fact):
        return _cuts_of(node, names) if kind.is_number else _extent_of_text(node, kind)
    return None


def _extent_of_constant(node: Expression) -> _Extent | None:
    """That of an atom without facts; None if it can't be computed, as a division by zero."""
    try:
        value_of(node, assigned({}, None))
    except Unknown:
        return None
    return _NOWHERE


def _extent_of_text(node: Expression, kind: kinds.Kind) -> _Extent | None:
    """That of `m == "mean"`, where any other text is like any."""
    is_equality = isinstance(node, nodes.Binary) and node.operator == "=="
    return _NOWHERE if is_equality and kind.sort is kinds.Sort.string else None


def _is_finite(fact: Fact, kind: kinds.Kind) -> bool:
    """Whether a fact has so few values that all are tried."""
    if fact.kind in TRUTHS or fact.kind == "dtype":
        return True
    is_one = fact.kind == "value" and not kind.is_list
    return is_one and kind.sort in (kinds.Sort.bool, kinds.Sort.dtype)


def _is_bare_comparison(node: Expression, fact: Fact) -> bool:
    """Whether an atom compares an argument as it is with a literal: floats that are calculated are rounded."""
    match node:
        case nodes.Binary(sign, nodes.Name(text), other) | nodes.Binary(
            sign, other, nodes.Name(text)
        ):
            return sign in COMPARISONS and text == fact.argument and _is_literal(other)
    return False


def _is_literal(node: Expression) -> bool:
    match node:
        case nodes.Unary("-", nodes.Literal()):
            return True
    return isinstance(node, nodes.Literal)


def _alignment(node: Expression) -> int:
    """By what `x.is_aligned(16)` asks whether the address is divisible; 0 for another atom."""
    match node:
        case nodes.Call(nodes.Member(_, "is_aligned"), (nodes.Literal(text),)) if text.isdigit():
            return int(text)
    return 0


def _facts_in(node: Expression, names: Iterable[str]) -> tuple[tuple[Fact, ...], bool]:
    """The facts that an expression reads, each once, and whether these are all that it reads."""
    facts: dict[Fact, None] = {}
    is_readable = True

    def visit(part: Expression) -> None:
        nonlocal is_readable
        fact = fact_of(part, names)
        if fact is not None:
            facts[fact] = None
            return
        if isinstance(part, nodes.Name) and part.text in names:
            is_readable = False
        for child in nodes.children(part):
            visit(child)

    visit(node)
    return tuple(facts), is_readable


def fact_of(node: Expression, names: Iterable[str]) -> Fact | None:
    """The fact that a node reads, if it reads one and no more; a whole shape is none."""
    match node:
        case nodes.Name(text) if text in names:
            return Fact("value", text)
        case nodes.Member(nodes.Name(text), name) if name in _READ and text in names:
            return Fact(_READ[name], text)
        case nodes.Call(nodes.Member(nodes.Name(text), "is_aligned"), _) if text in names:
            return Fact("address", text)
        case nodes.Call(nodes.Name("capability"), (nodes.Name(text),)) if text in names:
            return Fact("capability", text)
        case nodes.Call(nodes.Name("len"), (nodes.Name(text),)) if text in names:
            return Fact("length", text)
        case nodes.Call(nodes.Member(nodes.Name(text), "size" | "stride" as name), (index,), ()):
            return _indexed(name, text, index)
        case nodes.Call(nodes.Member(nodes.Name(text), name), (), ()) if name in _READ:
            return Fact(_READ[name], text)
        case nodes.Subscript(nodes.Member(nodes.Name(text), "shape"), index):
            return _indexed("size", text, index)
        case nodes.Subscript(nodes.Name(text), index):
            return _indexed("item", text, index)
    return None


def _indexed(kind: str, name: str, index: Expression) -> Fact | None:
    match index:
        case nodes.Literal(text) if text.isdigit():
            return Fact(kind, name, int(text))
        case nodes.Unary("-", nodes.Literal(text)) if text.isdigit():
            return Fact(kind, name, -int(text))
    return None


class _Linear(NamedTuple):
    """`factor * fact + rest`."""

    factor: Fraction
    rest: Fraction


def _linear(node: Expression, names: Iterable[str]) -> _Linear | None:
    """An expression as a linear one of its fact; None if it is another."""
    if fact_of(node, names) is not None:
        return _Linear(Fraction(1), Fraction(0))
    match node:
        case nodes.Literal(text) if text[0] not in "\"'":
            return _Linear(Fraction(0), Fraction(text))
        case nodes.Unary("-" | "+" as sign, operand):
            inner = _linear(operand, names)
            factor = -1 if sign == "-" else 1
            return None if inner is None else _Linear(factor * inner.factor, factor * inner.rest)
        case nodes.Binary("+" | "-" | "*" as sign, left, right):
            return _combined(sign, _linear(left, names), _linear(right, names))
    return None


def _combined(sign: str, left: _Linear | None, right: _Linear | None) -> _Linear | None:
    if left is None or right is None:
        return None
    if sign == "+":
        return _Linear(left.factor + right.factor, left.rest + right.rest)
    if sign == "-":
        return _Linear(left.factor - right.factor, left.rest - right.rest)
    if left.factor and right.factor:
        return None
    factor = left.factor * right.rest + right.factor * left.rest
    return _Linear(factor, left.rest * right.rest)


def _cuts_of(node: Expression, names: Iterable[str]) -> tuple[tuple[Fraction, ...], int] | None:
    """Where the truth of a comparison changes, and the period with which it does; None for what is no such one.

    One side of it is linear, or what is left of a division of a linear one; the other side is a number.
    """
    if not isinstance(node, nodes.Binary) or node.operator not in COMPARISONS:
        return None
    for side, other in ((node.left, node.right), (node.right, node.left)):
        against = _linear(other, names)
        if against is None or against.factor:
            continue
        straight = _linear(side, names)
        if straight is not None and straight.factor:
            return (((against.rest - straight.rest) / straight.factor,), 1)
        divided = _divided(side, names)
        if divided is not None:
            return _cuts_of_division(*divided, against.rest)
    return None


def _divided(node: Expression, names: Iterable[str]) -> tuple[bool, _Linear, int] | None:
    """`v % 8` or `floor_div(v, 8)`: whether it is the quotient, what is divided, and by what."""
    match node:
        case nodes.Binary("%", value, nodes.Literal(text)) if text.isdigit() and int(text):
            is_quotient = False
        case nodes.Call(
            nodes.Name("floor_div"), (value, nodes.Literal(text)), ()
        ) if text.isdigit() and int(text):
            is_quotient = True
        case _:
            return None
    inner = _linear(value, names)
    if inner is None or not inner.factor or inner.factor.denominator != 1:
        return None
    return is_quotient, inner, int(text)


def _cuts_of_division(
    is_quotient: bool, inner: _Linear, divisor: int, against: Fraction
) -> tuple[tuple[Fraction, ...], int]:
    period = divisor // gcd(int(inner.factor), divisor)
    if not is_quotient:
        return (), period
    begins = floor(against) * divisor
    edges = (begins, begins + divisor, begins + 2 * divisor)
    return tuple([(edge - inner.rest) / inner.factor for edge in edges]), 1


def facts_of(atoms: Iterable[Atom]) -> dict[Fact, None]:
    """The facts that atoms read, each once."""
    return dict.fromkeys(chain.from_iterable(atom.facts for atom in atoms))


def kind_of(fact: Fact, schema: FunctionSchema) -> kinds.Kind:
    """The kind of the argument that a fact is about."""
    return kinds_of_values(schema.inputs)[fact.argument]


def period_of(fact: Fact, atoms: Sequence[Atom]) -> int:
    """The period with which the truth of all atoms of a fact changes together."""
    return lcm(*[atom.period for atom in atoms if fact in atom.facts])


def values_of(
    fact: Fact, atoms: Sequence[Atom], schema: FunctionSchema, dtypes: Sequence[str]
) -> list[Value]:
    """The values of a fact that may differ for these atoms, those first that examples shall have.

    Two values for which the same of the decided atoms are true are alike. One of them is enough, and a few if other
    atoms, whose truth is free, may need one of them in an example. `dtypes` are those of the entry, if it has any.
    """
    relevant = [atom for atom in atoms if fact in atom.facts]
    decided = [atom for atom in relevant if atom.is_decided]
    most = 1 if len(decided) == len(relevant) else _ALIKE
    alike: dict[tuple[object, ...], list[Value]] = {}
    for value in _candidates(fact, relevant, schema, dtypes):
        truths = tuple([_truth(atom.node, fact, value, schema) for atom in decided])
        values = alike.setdefault(truths, [])
        if len(values) < most:
            values.append(value)
    return list(chain.from_iterable(alike.values()))


def _truth(node: Expression, fact: Fact, value: Value, schema: FunctionSchema) -> object:
    """What an atom is for a value of its fact; None if it can't be computed."""
    try:
        return value_of(node, assigned({fact: value}, schema))
    except Unknown:
        return None


def _candidates(
    fact: Fact, atoms: Sequence[Atom], schema: FunctionSchema, dtypes: Sequence[str]
) -> list[Value]:
    if fact.kind in TRUTHS:
        return list(TRUTHS[fact.kind])
    if fact.kind == "dtype":
        return list(map(dtype_named, dtypes or usual_dtypes()))
    kind = kind_of(fact, schema)
    if fact.kind != "value":
        return [*_integers(fact, atoms)]
    nothing = [None] if kind.is_optional else []
    return [*_arguments(fact, kind, atoms), *nothing]


def _arguments(fact: Fact, kind: kinds.Kind, atoms: Sequence[Atom]) -> Sequence[Value]:
    """Values of an argument that is no tensor, if it is there."""
    if kind.is_list:
        return _lists_in(atoms)
    if kind.sort is kinds.Sort.bool:
        return True, False
    if kind.sort is kinds.Sort.dtype:
        return list(map(dtype_named, usual_dtypes()))
    if not kind.present.is_number:
        return [*_texts_in(atoms), "other"]
    if kind.sort is kinds.Sort.int:
        return _integers(fact, atoms)
    return _around(_cuts(atoms))


def _cuts(atoms: Sequence[Atom]) -> list[Fraction]:
    return sorted(set(chain.from_iterable(atom.cuts for atom in atoms)))


def _lists_in(atoms: Sequence[Atom]) -> list[Value]:
    """The lists of numbers that are written in atoms, and another one."""
    written: dict[Value, None] = {}
    for atom in atoms:
        for part in walk(atom.node):
            if isinstance(part, nodes.ListDisplay) and all(map(_is_literal, part.items)):
                written[value_of(part, assigned({}, None))] = None
    return [*written, (1,)]


def _texts_in(atoms: Sequence[Atom]) -> list[str]:
    """The strings and memory formats that are written in atoms, each once."""
    texts: dict[str, None] = {}
    for atom in atoms:
        for part in walk(atom.node):
            if isinstance(part, nodes.Literal) and part.text[0] in "\"'":
                texts[part.text[1:-1]] = None
            elif isinstance(part, nodes.Name) and part.text in FORMATS:
                texts[part.text] = None
    return [*texts]


@cache
def usual_dtypes() -> tuple[str, ...]:
    """One name for each dtype, the usual ones first."""
    names = {dtype_named(name): name for name in reversed([*_USUAL, *sorted(DTYPES)])}
    rest = [name for name in names.values() if name not in _USUAL and name[0] != "q"]
    return (*_USUAL, *rest)


def _around(cuts: Sequence[Fraction]) -> list[float]:
    """Numbers at each of the cuts, and between them."""
    if not cuts:
        return [1.0]
    middles = [(left + right) / 2 for left, right in pairwise(cuts)]
    return list(map(float, (*cuts, *middles, cuts[0] - 1, cuts[-1] + 1)))


def _integers(fact: Fact, atoms: Sequence[Atom]) -> list[int]:
    """A period of integers on both sides of each cut, and from the least one: positive ones first, and zero last."""
    period = min(period_of(fact, atoms), LONGEST_PERIOD)
    integers = {*_FEW}
    for cut in _cuts(atoms) or [Fraction(0)]:
        integers.update(range(ceil(cut) - period, floor(cut) + period + 1))
    if fact.kind in _COUNTS:
        integers.update(range(period + 1))
        integers = {value for value in integers if value >= 0}
    return sorted(integers, key=lambda value: (value <= 0, value == 0, abs(value)))


def assigned(facts: Mapping[Fact, Value], schema: FunctionSchema | None) -> Read:
    """What atoms read where facts have these values."""
    names = [] if schema is None else names_of(schema.inputs)

    def read(node: Expression) -> Value:
        fact = fact_of(node, names)
        if fact is None or fact not in facts:
            raise NoReading
        return _read_as(node, facts[fact])

    return read


def _read_as(node: Expression, value: Value) -> Value:
    """What a node reads of a fact that has this value."""
    match node:
        case nodes.Call(nodes.Member(_, "is_aligned"), (nodes.Literal(text),)):
            assert isinstance(value, int)
            return value % int(text) == 0
        case nodes.Call(nodes.Member(_, "is_complex")):
            assert isinstance(value, Dtype)
            return value.is_complex
        case nodes.Call(nodes.Member(_, "is_floating_point")):
            assert isinstance(value, Dtype)
            return value.is_floating_point
    return value
