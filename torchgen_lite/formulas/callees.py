"""The operators that formulas call, and the overload that a call means."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import NamedTuple

from torchgen_lite.formulas.kinds import TENSOR, Kind, Sort
from torchgen_lite.formulas.model import Call, Member, Name, name_called
from torchgen_lite.schema import Argument, FunctionSchema
from torchgen_lite.schema.dispatch_kind import dispatch_kind


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
        return self.whole if count == len(self.whole) else self.positions

    def bound(self, count: int, keywords: Collection[str]) -> set[str] | None:
        """The arguments that get a value or a keyword; None if a keyword is for none of the rest."""
        given = {one.name for one in self.by_position(count)[:count] if one is not None}
        free = {argument.name for argument in self.func.arguments} - given
        return given.union(keywords) if free.issuperset(keywords) else None


Operators = Callable[[str], Sequence[Callee]]
"""The overloads of a base name."""


def no_operators(name: str) -> Sequence[Callee]:
    """Nothing is declared."""
    return ()


def chosen(node: Call, parts: Sequence[Kind], operators: Operators) -> Callee | None:
    """The overload that fits the argument count, the keywords and most kinds; else the first.

    `parts` are the kinds of the call's operands, in the order of `children`.
    """
    is_method = isinstance(node.function, Member)
    overloads = operators(name_called(node))
    if overloads and overloads[0].is_own:
        is_qualified = isinstance(node.function, Name) and "::" in node.function.text
        if is_qualified or (is_method and parts[0] != TENSOR):
            return None
    keywords = [key for key, _ in node.keywords]
    given = parts[: len(parts) - len(keywords)]
    few = [one for one in overloads if len(given) <= len(one.by_position(len(given)))]
    fitting = [one for one in few if one.bound(len(given), keywords) is not None]
    if not fitting:
        return overloads[0] if overloads else None
    return min(fitting, key=lambda one: _misfits(one, given))


def _misfits(operator: Callee, given: Sequence[Kind]) -> int:
    """How many arguments are tensors where none is expected, or vice versa, as far as is known."""
    return sum(
        (kind.sort is Sort.tensor) != dispatch_kind(argument.type).has_tensors
        for kind, argument in zip(given, operator.by_position(len(given)))
        if argument is not None and kind.is_known
    )
