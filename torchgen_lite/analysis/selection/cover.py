"""Which rows are never reached, and which inputs no row takes: see Note [What is proven of rows]."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice, product
from math import prod
from typing import NamedTuple

from torchgen_lite.analysis.selection.atoms import (
    Atom,
    Fact,
    assigned,
    atoms_of,
    canonical,
    kinds_of,
    usual_dtypes,
    values_of,
)
from torchgen_lite.analysis.selection.inputs import (
    Dtype,
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
from torchgen_lite.formulas.model import Expression
from torchgen_lite.schema import FunctionSchema

# So many assignments are looked at; rows for which there are more are said to be undecided.
_MOST = 20_000
# For each row so many assignments are tried as inputs.
_TRIED = 400
_FREE_SIZE = 4

Conditions = Sequence[Expression | None]


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


@dataclass(frozen=True, slots=True)
class Cover:
    """What is known of rows: an example for each that is reached, those that never are, and the inputs without a row.

    `is_complete` says that there are no such inputs. What is neither proven nor has an example is undecided.
    """

    reached: Mapping[int, Example]
    dead: tuple[int, ...]
    gap: Example | None
    is_complete: bool

    @property
    def is_decided(self) -> bool:
        return self.gap is not None or self.is_complete


def chosen(conditions: Conditions, read: Read) -> int | None:
    """The number of the first row whose condition holds; None if none does. Raises `Unknown`."""
    for number, condition in enumerate(conditions):
        if condition is None or value_of(condition, read):
            return number
    return None


def cover(conditions: Conditions, schema: FunctionSchema, dtypes: Sequence[str] = ()) -> Cover:
    """What these rows take, for inputs of these dtypes, or of any."""
    conditions = _canonical(conditions)
    space = Space(conditions, schema, dtypes)
    tried: dict[int | None, list[Mapping[Fact, Value]]] = {}
    for assignment, read in space:
        try:
            row = chosen(conditions, read)
        except Unknown:
            continue
        found = tried.setdefault(row, [])
        if len(found) < _TRIED:
            found.append(assignment)
    examples: dict[int | None, Example] = {}
    for row, assignments in tried.items():
        example = _first_example(space, conditions, assignments, row)
        if example is not None:
            examples[row] = example
    rows = range(len(conditions))
    dead = tuple([row for row in rows if row not in tried]) if space.is_whole else ()
    reached = {row: example for row, example in examples.items() if row is not None}
    return Cover(reached, dead, examples.get(None), space.is_whole and None not in tried)


def difference(
    before: Conditions,
    after: Conditions,
    kernels: tuple[Sequence[str], Sequence[str]],
    schema: FunctionSchema,
    dtypes: Sequence[str] = (),
) -> Iterator[tuple[str, str, Example]]:
    """The pairs of kernels between which inputs change, each with an example; an empty name stands for none."""
    before, after = _canonical(before), _canonical(after)
    space = Space([*before, *after], schema, dtypes)
    seen = set()
    for assignment, _ in space:
        values = space.input_of(assignment)
        if values is None:
            continue
        read = reading(values)
        try:
            rows = chosen(before, read), chosen(after, read)
        except Unknown:
            continue
        was, now = ("" if row is None else own[row] for row, own in zip(rows, kernels))
        if was != now and (was, now) not in seen:
            seen.add((was, now))
            yield was, now, space.example(values)


def _canonical(conditions: Conditions) -> Conditions:
    return [None if one is None else canonical(one) for one in conditions]


class Space:
    """Every assignment of values to facts, and of truth to undecided atoms, that may differ for some conditions."""

    def __init__(
        self, conditions: Conditions, schema: FunctionSchema, dtypes: Sequence[str]
    ) -> None:
        self.schema = schema
        self.dtypes = dtypes or usual_dtypes()
        atoms: dict[str, Atom] = {}
        for condition in conditions:
            for atom in () if condition is None else atoms_of(condition, schema):
                atoms.setdefault(atom.text, atom)
        every = [*atoms.values()]
        facts = dict.fromkeys([fact for atom in every for fact in atom.facts])
        self.values = {fact: values_of(fact, every, schema, dtypes) for fact in facts}
        self.undecided = [atom.text for atom in every if not atom.is_decided]
        count = prod(map(len, self.values.values())) * 2 ** len(self.undecided)
        self.is_whole = count <= _MOST

    def __iter__(self) -> Iterator[tuple[Mapping[Fact, Value], Read]]:
        truths = product((True, False), repeat=len(self.undecided))
        every = product(product(*self.values.values()), truths)
        for values, flags in islice(every, _MOST):
            facts = dict(zip(self.values, values))
            yield facts, assigned(facts, dict(zip(self.undecided, flags)), self.schema)

    def example(self, values: Mapping[str, Value]) -> Example:
        """The input without the arguments that no condition asks for."""
        asked = {fact.argument for fact in self.values}
        return Example({name: value for name, value in values.items() if name in asked})

    def input_of(self, facts: Mapping[Fact, Value]) -> dict[str, Value] | None:
        """An input with these facts; None if none was found."""
        made: dict[str, Value] = {}
        for name, kind in kinds_of(self.schema).items():
            value: Value
            own = {(fact.kind, fact.at): facts[fact] for fact in facts if fact.argument == name}
            if kind.present == kinds.TENSOR:
                value = self._tensor(own)
                if value is None and own.get(("defined", None)) is not False:
                    return None
            elif kind.is_list:
                value = _list(own)
            else:
                value = own.get(("value", None), 1)
            made[name] = value
        return made

    def _tensor(self, own: Mapping[tuple[str, int | None], Value]) -> TensorInput | None:
        if own.get(("defined", None)) is False:
            return None
        shape = _shape(own)
        if shape is None:
            return None
        dtype = own.get(("dtype", None))
        if not isinstance(dtype, Dtype):
            dtype = dtype_named(self.dtypes[0])
        tensor = TensorInput(
            dtype,
            shape,
            requires_grad=own.get(("requires_grad", None)) is True,
            address=_integer(own.get(("address", None)), 0),
            capability=_integer(own.get(("capability", None)), 0),
        )
        steps = [*contiguous_strides(shape)]
        for (kind, index), value in own.items():
            if kind == "stride" and index is not None and -len(steps) <= index < len(steps):
                steps[index] = _integer(value, 1)
        if tuple(steps) != tensor.steps:
            return replace(tensor, strides=tuple(steps))
        if own.get(("contiguous", None)) is False:
            return noncontiguous(tensor)
        return tensor


def _first_example(
    space: Space,
    conditions: Conditions,
    assignments: Sequence[Mapping[Fact, Value]],
    row: int | None,
) -> Example | None:
    """The first of the assignments that an input has which is really taken by that row."""
    for assignment in assignments:
        values = space.input_of(assignment)
        if values is None:
            continue
        try:
            if chosen(conditions, reading(values)) == row:
                return space.example(values)
        except Unknown:
            continue
    return None


def _integer(value: Value, default: int) -> int:
    return value if isinstance(value, int) else default


def _list(own: Mapping[tuple[str, int | None], Value]) -> Value:
    length = own.get(("length", None))
    at = [index for kind, index in own if kind == "item" and index is not None]
    least = max([index + 1 if index >= 0 else -index for index in at], default=1)
    items: list[Value] = [1] * _integer(length, least)
    for (kind, index), value in own.items():
        if kind == "item" and index is not None and -len(items) <= index < len(items):
            items[index] = value
    return tuple(items)


def _shape(own: Mapping[tuple[str, int | None], Value]) -> tuple[int, ...] | None:
    """A shape with these sizes, number of dimensions and of elements; None if none was found.

    Sizes counted from the front and from the back are those of different dimensions, if there may be as many.
    """
    at = [index for kind, index in own if kind in ("size", "stride") and index is not None]
    front = max([index + 1 for index in at if index >= 0], default=0)
    back = max([-index for index in at if index < 0], default=0)
    rank = _integer(own.get(("dim", None)), max(front + back, 2))
    sizes: list[int | None] = [None] * rank
    for (kind, index), value in own.items():
        if kind != "size" or index is None:
            continue
        if not -rank <= index < rank:
            continue
        size = _integer(value, _FREE_SIZE)
        if sizes[index] not in (None, size):
            return None
        sizes[index] = size
    numel = own.get(("numel", None))
    if not isinstance(numel, int):
        return tuple([_FREE_SIZE if size is None else size for size in sizes])
    return _with_elements(sizes, numel)


def _with_elements(sizes: Sequence[int | None], numel: int) -> tuple[int, ...] | None:
    """The shape where the first free size makes up for the number of elements."""
    known = prod(size for size in sizes if size is not None)
    if None not in sizes:
        return tuple([size for size in sizes if size is not None]) if known == numel else None
    left, rest = (0, numel) if known == 0 else divmod(numel, known)
    if rest:
        return None
    filled = list(sizes)
    filled[filled.index(None)] = left
    return tuple([1 if size is None else size for size in filled])
