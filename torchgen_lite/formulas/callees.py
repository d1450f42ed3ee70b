"""The operators that formulas call, and the overload that a call means."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import NamedTuple

from torchgen_lite.formulas.kinds import NUMBER_SORTS, TENSOR, Kind, Sort, kind_of_type
from torchgen_lite.formulas.model import Call, Member, Name, name_called
from torchgen_lite.schema import Argument, FunctionSchema
from torchgen_lite.schema.dispatch_kind import dispatch_kind
from torchgen_lite.schema.grouped import names_of, without_none


class Callee(NamedTuple):
    """An operator as formulas call it: `is_own` if it is not PyTorch's, `is_function` if it is not a method alone,
    `is_repeatable` if two equal calls give the same and do nothing else.

    `positions` are the arguments that are given by position, as in C++: keyword-only ones too. None
    stands for the tensor options of a PyTorch operator, which are one argument; if as many values are
    given as `whole` has arguments, they are separate ones.
    """

    name: str
    func: FunctionSchema
    positions: tuple[Argument | None, ...]
    whole: tuple[Argument, ...]
    is_own: bool
    is_function: bool
    is_repeatable: bool

    def by_position(self, count: int) -> tuple[Argument | None, ...]:
        """The arguments that `count` values are given for."""
        if count == len(self.whole):
            return self.whole
        return self.positions

    def bound(self, count: int, keywords: Collection[str]) -> set[str] | None:
        """The arguments that get a value or a keyword; None if a keyword is for none of the rest."""
        by_position = without_none(self.by_position(count)[:count])
        given = set(names_of(by_position))
        free = set(names_of(self.func.arguments)) - given
        if free.issuperset(keywords):
            return given.union(keywords)
        return None

    def binds(self, count: int, keywords: Collection[str]) -> bool:
        """Whether these give a value to each argument that needs one, and to no other."""
        bound = self.bound(count, keywords)
        return bound is not None and bound.issuperset(names_of(self.func.required))


Operators = Callable[[str], Sequence[Callee]]
"""The overloads of a base name."""


def no_operators(name: str) -> Sequence[Callee]:
    """Nothing is declared."""
    return ()


def chosen(node: Call, parts: Sequence[Kind], operators: Operators) -> Callee | None:
    """The overload that fits the argument count, the keywords and most kinds; else the first.

    `parts` are the kinds of the call's operands, in the order of `children`.
    """
    overloads = operators(name_called(node))
    if not overloads:
        return None
    first = overloads[0]
    if first.is_own and not _may_be_own(node, parts, first):
        return None
    return nearest(node, parts, overloads) or first


def _may_be_own(node: Call, parts: Sequence[Kind], operator: Callee) -> bool:
    """Whether a call with the name of an operator that is not PyTorch's may mean it."""
    function = node.function
    if isinstance(function, Name):
        written = function.text.removeprefix("::")
        # In another namespace there is a function of C++.
        is_other = "::" in written and written != operator.name.partition(".")[0]
        return not is_other
    is_method = isinstance(function, Member)
    return not is_method or parts[0] == TENSOR


def nearest(node: Call, parts: Sequence[Kind], overloads: Sequence[Callee]) -> Callee | None:
    """The overload that takes as many arguments and these keywords, and fits most kinds."""
    keywords = node.keyword_names
    given = parts[: len(parts) - len(keywords)]
    count = len(given)
    fitting = []
    for overload in overloads:
        takes_as_many = count <= len(overload.by_position(count))
        if takes_as_many and overload.bound(count, keywords) is not None:
            fitting.append(overload)
    return min(fitting, key=lambda overload: _misfits(overload, given), default=None)


def _misfits(operator: Callee, given: Sequence[Kind]) -> tuple[int, int]:
    """How many arguments are tensors where none is expected, or vice versa, as far as is known; and how many are of
    another kind in some other way."""
    places = operator.by_position(len(given))
    wrong_tensors = 0
    wrong_kinds = 0
    for kind, place in zip(given, places):
        if not kind.is_known:
            continue
        if place is not None:
            is_tensor = kind.sort is Sort.tensor
            wrong_tensors += is_tensor != dispatch_kind(place.type).has_tensors
        wrong_kinds += not takes(place, kind)
    return wrong_tensors, wrong_kinds


# The sorts of numbers that an argument accepts; other number arguments accept all.
_WHOLE = NUMBER_SORTS - {Sort.float, Sort.symfloat}
_TAKEN = {
    Sort.int: _WHOLE,
    Sort.symint: _WHOLE,
    Sort.bool: frozenset({Sort.bool, Sort.scalar}),
}


def takes(argument: Argument | None, kind: Kind) -> bool:
    """Whether an argument may accept a value, as far as known; one value may stand for a list. None is tensor
    options."""
    if argument is None:
        return kind.sort in (Sort.unknown, Sort.dtype, Sort.layout, Sort.device)
    wanted = kind_of_type(argument.type)
    if not (kind.is_known and wanted.is_known):
        return True
    if kind.is_list and not wanted.is_list:
        return False
    taken = _TAKEN.get(wanted.sort, NUMBER_SORTS)
    is_number = wanted.sort in NUMBER_SORTS and kind.sort in taken
    return kind.sort is wanted.sort or is_number
