"""Which rows are never reached, and which inputs no row takes: see Note [What is proven of rows]."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import islice, product
from math import prod
from typing import NamedTuple, TypeVar

from torchgen_lite.analysis.selection.atoms import (
    LONGEST_PERIOD,
    Atom,
    Fact,
    assigned,
    atoms_of,
    canonical,
    facts_of,
    period_of,
    usual_dtypes,
    values_of,
)
from torchgen_lite.analysis.selection.inputs import (
    Dtype,
    NoReading,
    Read,
    TensorInput,
    Unknown,
    Value,
    contiguous_strides,
    dtype_named,
    noncontiguous,
    reading,
    value_of,
)
from torchgen_lite.formulas import kinds
from torchgen_lite.formulas.language import kinds_of_values
from torchgen_lite.formulas.model import Expression
from torchgen_lite.loader.entry.entry import KernelRow
from torchgen_lite.schema import FunctionSchema
from torchgen_lite.schema.grouped import without_none

# So many assignments are looked at; rows for which there are more are said to be undecided.
_MOST = 20_000
# For each row so many assignments are tried as inputs.
_TRIED = 400
_FREE_SIZE = 4

Conditions = Sequence[Expression | None]
_Outcome = TypeVar("_Outcome")


class Example(NamedTuple):
    """An input, by the names of the arguments that conditions ask for."""

    values: Mapping[str, Value]

    def __str__(self) -> str:
        """`half[4, 12]`, or with names if there are several: `x = half[4, 12], n = 3`."""
        texts = {name: _text(value) for name, value in self.values.items()}
        if len(texts) == 1:
            return next(iter(texts.values()))
        return ", ".join(f"{name} = {text}" for name, text in texts.items())


def _text(value: Value) -> str:
    if isinstance(value, str):
        return f'"{value}"'
    if isinstance(value, tuple):
        return f"[{', '.join(map(_text, value))}]"
    return str(value)


class Cover(NamedTuple):
    """What is known of rows: those that are never reached, and an input without a row.

    `is_complete` says that there are no such inputs. What is neither proven nor has an example is not known.
    """

    dead: tuple[int, ...]
    gap: Example | None
    is_complete: bool


class Difference(NamedTuple):
    """The pairs of kernels between which inputs change, each with an example; an empty name stands for none.

    It `is_whole` if no input changes between two others.
    """

    changed: tuple[tuple[str, str, Example], ...]
    is_whole: bool


Holds = Callable[[int], bool]
"""Whether a condition holds, by its number. Raises `Unknown` where it can't be computed."""


def _holds(conditions: Conditions, read: Read) -> Holds:
    """Which conditions hold where `read` has what they read."""

    def holds(number: int) -> bool:
        condition = conditions[number]
        return condition is None or bool(value_of(condition, read))

    return holds


def _first(numbers: Iterable[int], holds: Holds) -> int | None:
    """The first of these conditions that holds."""
    return next(filter(holds, numbers), None)


def cover(conditions: Conditions, schema: FunctionSchema, dtypes: Sequence[str] = ()) -> Cover:
    """What these rows take, for inputs of these dtypes, or of any."""
    space = Space(conditions, schema, dtypes)
    numbers = range(len(conditions))
    possible = space.outcomes(lambda holds: _first(numbers, holds))
    dead = [row for row in numbers if row not in possible] if space.is_whole else []
    has_rest = None in conditions
    if has_rest:
        # Whatever is not decided, nothing comes behind the kernel for the rest.
        dead += [row for row in numbers[conditions.index(None) + 1 :] if row not in dead]
    is_complete = has_rest or (space.is_whole and None not in possible)
    return Cover(tuple(dead), possible.get(None), is_complete)


def difference(
    before: Sequence[KernelRow],
    after: Sequence[KernelRow],
    schema: FunctionSchema,
    dtypes: Sequence[str] = (),
) -> Difference:
    """The kernels that inputs have before and after, where these are not the same."""
    rows = [*before, *after]
    space = Space([row.when for row in rows], schema, dtypes)
    earlier = range(len(before))
    later = range(len(before), len(rows))

    def kernel_for(numbers: Iterable[int], holds: Holds) -> str:
        number = _first(numbers, holds)
        return "" if number is None else rows[number].kernel

    def kernels_for(holds: Holds) -> tuple[str, str]:
        return kernel_for(earlier, holds), kernel_for(later, holds)

    is_whole = space.is_whole
    changed = []
    for (was, now), example in space.outcomes(kernels_for).items():
        if was == now:
            continue
        if example is None:
            is_whole = False
        else:
            changed.append((was, now, example))
    return Difference(tuple(changed), is_whole)


class Space:
    """Every assignment of values to facts, and of truth to undecided atoms, that may differ for some conditions.

    It `is_whole` if these are few enough to look at all of them.
    """

    def __init__(
        self, conditions: Conditions, schema: FunctionSchema, dtypes: Sequence[str]
    ) -> None:
        self.schema = schema
        self.dtypes = dtypes or usual_dtypes()
        self.conditions: list[Expression | None] = [
            condition and canonical(condition) for condition in conditions
        ]
        self.atoms: list[Atom] = []
        # The number of the atom that a node is, by identity: conditions are read once for each assignment.
        self.numbers: dict[int, int] = {}
        numbers: dict[str, int] = {}
        for condition in self.conditions:
            if condition is None:
                continue
            for atom in atoms_of(condition, schema):
                if atom.text not in numbers:
                    numbers[atom.text] = len(self.atoms)
                    self.atoms.append(atom)
                self.numbers[id(atom.node)] = numbers[atom.text]
        self.values: dict[Fact, Sequence[Value]] = {}
        has_short_periods = True
        for fact in facts_of(self.atoms):
            self.values[fact] = values_of(fact, self.atoms, schema, dtypes)
            if period_of(fact, self.atoms) > LONGEST_PERIOD:
                has_short_periods = False
        self.is_whole = has_short_periods and prod(map(len, self._choices())) <= _MOST

    def _choices(self) -> list[Sequence[Value]]:
        """The values of each fact, then the truths of each undecided atom."""
        choices = [*self.values.values()]
        for atom in self.atoms:
            if not atom.is_decided:
                choices.append((True, False))
        return choices

    def _assignments(self) -> Iterator[tuple[Mapping[Fact, Value], Read]]:
        """The values of facts, and what conditions read then: the truth of each atom."""
        tables = [self._truths_of(atom) for atom in self.atoms]
        for choice in islice(product(*self._choices()), _MOST):
            facts = dict(zip(self.values, choice))
            free = iter(choice[len(facts) :])
            truths = []
            for atom, table in zip(self.atoms, tables):
                if not atom.is_decided:
                    truths.append(bool(next(free)))
                else:
                    truths.append(table[facts[atom.facts[0]] if atom.facts else None])
            yield facts, partial(self._truth_in, truths)

    def _truth_in(self, truths: Sequence[bool], node: Expression) -> bool:
        number = self.numbers.get(id(node))
        if number is None:
            raise NoReading
        return truths[number]

    def _truths_of(self, atom: Atom) -> Mapping[Value, bool]:
        """The truth of a decided atom for each value of its fact, or for None if it has none."""
        if not atom.is_decided:
            return {}
        if not atom.facts:
            return {None: bool(value_of(atom.node, assigned({}, None)))}
        (fact,) = atom.facts
        return {
            value: bool(value_of(atom.node, assigned({fact: value}, self.schema)))
            for value in self.values[fact]
        }

    def outcomes(self, outcome: Callable[[Holds], _Outcome]) -> dict[_Outcome, Example | None]:
        """What may come out for inputs, each with an example if one was found; nothing else may if the space is whole.

        `outcome` is asked for assignments, and then for the inputs that are made of them.
        """
        tried: dict[_Outcome, list[Mapping[Fact, Value]]] = {}
        for facts, read in self._assignments():
            possible = tried.setdefault(outcome(_holds(self.conditions, read)), [])
            if len(possible) < _TRIED:
                possible.append(facts)
        return {which: self._example(outcome, which, some) for which, some in tried.items()}

    def _example(
        self,
        outcome: Callable[[Holds], _Outcome],
        which: _Outcome,
        assignments: Sequence[Mapping[Fact, Value]],
    ) -> Example | None:
        """The first of the assignments that an input has for which that really comes out."""
        for assignment in assignments:
            values = self.input_of(assignment)
            if values is None:
                continue
            try:
                result = outcome(_holds(self.conditions, reading(values)))
            except Unknown:
                continue
            if result == which:
                return self.example(values)
        return None

    def example(self, values: Mapping[str, Value]) -> Example:
        """The input without the arguments that no condition asks for."""
        asked = {fact.argument for fact in self.values}
        return Example({name: values[name] for name in values if name in asked})

    def input_of(self, facts: Mapping[Fact, Value]) -> dict[str, Value] | None:
        """An input with these facts; None if none was found."""
        made: dict[str, Value] = {}
        for name, kind in kinds_of_values(self.schema.inputs).items():
            value: Value
            of_argument: _Facts = {}
            for fact, fact_value in facts.items():
                if fact.argument == name:
                    of_argument[fact.kind, fact.at] = fact_value
            if kind.present == kinds.TENSOR:
                value = self._tensor(of_argument)
                if value is None and of_argument.get(("defined", None)) is not False:
                    return None
            elif of_argument.get(("defined", None)) is False:
                value = None
            elif kind.is_list:
                value = of_argument.get(("value", None)) or _list(of_argument)
            else:
                value = of_argument.get(("value", None), 1)
            made[name] = value
        return made

    def _tensor(self, facts: _Facts) -> TensorInput | None:
        if facts.get(("defined", None)) is False:
            return None
        shape = _shape(facts)
        if shape is None:
            return None
        dtype = facts.get(("dtype", None))
        if not isinstance(dtype, Dtype):
            dtype = dtype_named(self.dtypes[0])
        has_gradient = dtype.is_floating_point or dtype.is_complex
        if facts.get(("requires_grad", None)) is True and not has_gradient:
            return None
        tensor = TensorInput(
            dtype,
            shape,
            requires_grad=facts.get(("requires_grad", None)) is True,
            address=_integer(facts.get(("address", None)), 0),
            capability=_integer(facts.get(("capability", None)), 0),
        )
        steps = [*contiguous_strides(shape)]
        for index, value in _indexed(facts, "stride"):
            if -len(steps) <= index < len(steps):
                steps[index] = _integer(value, 1)
        if tuple(steps) != tensor.steps:
            return replace(tensor, strides=tuple(steps))
        if facts.get(("contiguous", None)) is False:
            return noncontiguous(tensor)
        return tensor


def _integer(value: Value, default: int) -> int:
    return value if isinstance(value, int) else default


# The facts of one argument, by kind and index.
_Facts = dict[tuple[str, int | None], Value]


def _indexed(facts: _Facts, *kinds: str) -> list[tuple[int, Value]]:
    """The indices at which there are facts of these kinds, with their values."""
    at = []
    for (kind, index), value in facts.items():
        if kind in kinds and index is not None:
            at.append((index, value))
    return at


def _list(facts: _Facts) -> Value:
    least = 1
    for index, _ in _indexed(facts, "item"):
        least = max(least, index + 1, -index)
    items: list[Value] = [1] * _integer(facts.get(("length", None)), least)
    for index, value in _indexed(facts, "item"):
        if -len(items) <= index < len(items):
            items[index] = value
    return tuple(items)


def _shape(facts: _Facts) -> tuple[int, ...] | None:
    """A shape with these sizes, number of dimensions and of elements; None if none was found.

    Sizes counted from the front and from the back are those of different dimensions, if there may be as many.
    """
    front = 0
    back = 0
    for index, _ in _indexed(facts, "size", "stride"):
        front = max(front, index + 1)
        back = max(back, -index)
    rank = _integer(facts.get(("dim", None)), max(front + back, 2))
    sizes: list[int | None] = [None] * rank
    for index, value in _indexed(facts, "size"):
        if not -rank <= index < rank:
            continue
        size = _integer(value, _FREE_SIZE)
        if sizes[index] not in (None, size):
            return None
        sizes[index] = size
    numel = facts.get(("numel", None))
    if not isinstance(numel, int):
        return tuple([_FREE_SIZE if size is None else size for size in sizes])
    return _with_elements(sizes, numel)


def _with_elements(sizes: Sequence[int | None], numel: int) -> tuple[int, ...] | None:
    """The shape where the first free size makes up for the number of elements."""
    known = prod(without_none(sizes))
    if None not in sizes:
        return tuple(without_none(sizes)) if known == numel else None
    left, rest = (0, numel) if known == 0 else divmod(numel, known)
    if rest:
        return None
    filled = list(sizes)
    filled[filled.index(None)] = left
    return tuple([1 if size is None else size for size in filled])
