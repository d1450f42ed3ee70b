"""The values of facts that tests try: both sides of every bound of the conditions, each dtype that they name and another.

x.size(-1) <= 8192                8191, 8192, 8193
x.dtype in {half, bfloat16}       float16, bfloat16, float32
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from math import ceil, floor, inf

from torchgen_lite.analysis.selection.atoms import (
    TRUTHS,
    Atom,
    Fact,
    atoms_of,
    facts_of,
    kind_of,
    values_of,
)
from torchgen_lite.analysis.selection.inputs import Dtype, Value, dtype_named
from torchgen_lite.formulas import kinds
from torchgen_lite.formulas import model as nodes
from torchgen_lite.formulas.language import DTYPES
from torchgen_lite.formulas.model import Expression, walk
from torchgen_lite.schema import FunctionSchema

# What is tried beside the dtypes that conditions name: the first that they don't.
_OTHERS = ("float32", "float64", "float16")
# A test cannot choose its device.
_FIXED = frozenset({"capability"})


def bounds_of(
    conditions: Sequence[Expression], schema: FunctionSchema, dtypes: Sequence[str]
) -> dict[Fact, list[Value]]:
    """The values to try for each fact that conditions read; `dtypes` are those of the entry, if it has any."""
    atoms: list[Atom] = []
    for condition in conditions:
        atoms += atoms_of(condition, schema)
    bounds: dict[Fact, list[Value]] = {}
    for fact in facts_of(atoms):
        kind = kind_of(fact, schema)
        is_whole = kind.is_list or kind.present == kinds.TENSOR
        if fact.kind in _FIXED or (fact.kind == "value" and is_whole):
            continue
        relevant = [atom for atom in atoms if fact in atom.facts]
        bounds[fact] = _values(fact, relevant, schema, dtypes)
    return bounds


def _values(
    fact: Fact, atoms: Sequence[Atom], schema: FunctionSchema, dtypes: Sequence[str]
) -> list[Value]:
    # Of an address: whether the first element is where a new tensor has it, or behind that.
    if fact.kind in TRUTHS or fact.kind == "address":
        return [True, False]
    if fact.kind == "dtype":
        return list(_dtypes(atoms, dtypes))
    numbers: set[int | float] = set(_at_cuts(atoms))
    others: dict[Value, None] = {}
    for value in values_of(fact, atoms, schema, dtypes):
        if isinstance(value, int | float) and not isinstance(value, bool):
            numbers.add(value)
        else:
            others[value] = None
    least = -inf if fact.kind in ("value", "item") else 0
    return [*sorted(number for number in numbers if number >= least), *others]


def _at_cuts(atoms: Sequence[Atom]) -> Iterator[int]:
    """The integers at each bound and beside it; where several facts decide, those at the numbers that are written."""
    for atom in atoms:
        for cut in atom.cuts:
            yield from range(ceil(cut) - 1, floor(cut) + 2)
        if not atom.is_decided:
            for part in walk(atom.node):
                if isinstance(part, nodes.Literal) and part.text.isdigit():
                    yield from range(int(part.text) - 1, int(part.text) + 2)


def _dtypes(atoms: Sequence[Atom], declared: Sequence[str]) -> Iterator[Dtype]:
    allowed = list(map(dtype_named, declared))
    asked = list(_dtypes_in(atoms))
    for dtype in asked:
        if not allowed or dtype in allowed:
            yield dtype
    others = allowed or map(dtype_named, _OTHERS)
    yield from [dtype for dtype in others if dtype not in asked][:1]


def _dtypes_in(atoms: Sequence[Atom]) -> dict[Dtype, None]:
    """The dtypes that conditions name, and one of each kind that they ask for."""
    dtypes: dict[Dtype, None] = {}
    for atom in atoms:
        for part in walk(atom.node):
            match part:
                case nodes.Name(text) if text in DTYPES:
                    dtypes[dtype_named(text)] = None
                case nodes.Call(nodes.Member(_, name)) if name in _OF_KIND:
                    dtypes[dtype_named(_OF_KIND[name])] = None
    return dtypes


_OF_KIND: Mapping[str, str] = {"is_complex": "complex64", "is_floating_point": "int64"}
