"""What the operators of `derivatives:` take, so that one formula has one meaning in C++ and in Python.

Note [One formula, one gradient]
A formula is C++ text: PyTorch's own are. Where Python means something else by the same text, its printer writes what
gives the same (`%` of integers, a quotient by zero), and what has no common meaning is a mistake here, before anything
is generated. Nothing is said about operands of unknown kind. docs/autograd.md has the meaning of each node.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from torchgen_lite.formulas import model as nodes
from torchgen_lite.formulas.kinds import NUMBER_SORTS, Kind, Sort
from torchgen_lite.formulas.tree import Typed

COMPARISONS = frozenset({"==", "!=", "<", ">", "<=", ">="})
BITWISE = frozenset("|^&")
_CONCRETE = frozenset({Sort.int, Sort.bool})
INTEGERS = _CONCRETE | {Sort.symint}


Misfit = tuple[Typed, str]
"""An operand that a node does not take, and what it takes instead."""


def misfits(tree: Typed) -> Iterator[Misfit]:
    """The operands that a node does not take."""
    match tree.node:
        case nodes.Unary(operator):
            yield from _unary(operator, tree.parts[0])
        case nodes.Binary("&&" | "||" as operator):
            yield from _all(tree.parts, _is_truth, f"`{operator}` takes booleans and numbers")
        case nodes.Binary(operator):
            yield from _binary(operator, *tree.parts)
        case nodes.Conditional():
            yield from _all(tree.parts[:1], _is_truth, "a condition is a boolean or a number")
            yield from _sides(*tree.parts[1:])
        case nodes.Subscript():
            yield from _all(tree.parts[:1], _has_items, "only lists and tensors have items")
            yield from _all(tree.parts[1:], _is_index, "an index is an integer")
        case nodes.ListDisplay():
            yield from _items(tree.parts)


def joint(left: Kind, right: Kind) -> Kind:
    """The kind of a value that is one of two, as in C++: the number that both convert to."""
    if not (left.present.is_number and right.present.is_number):
        return left
    sorts = {left.sort, right.sort}
    order = (Sort.scalar, Sort.symfloat, Sort.float, Sort.symint, Sort.int, Sort.bool)
    common = next(sort for sort in order if sort in sorts)
    # C++ converts what is there, so two sorts have a value in common, and no absence.
    may_be_absent = left.is_optional or right.is_optional
    return Kind(common, is_optional=may_be_absent and len(sorts) == 1)


def is_nonzero(node: nodes.Expression) -> bool:
    """Whether a divisor is a number that is not zero, as it stands."""
    is_number = isinstance(node, nodes.Literal) and node.text[0] not in "\"'"
    return is_number and float(str(node)) != 0


def _all(operands: Sequence[Typed], fits: Callable[[Kind], bool], takes: str) -> Iterator[Misfit]:
    for operand in operands:
        is_other = operand.kind.is_known and not fits(operand.kind)
        if operand.is_none or is_other:
            yield operand, takes
            return


def _is_truth(kind: Kind) -> bool:
    """Whether both languages can test it. An absent number is false in Python and an error in C++."""
    return kind.is_number


def _is_index(kind: Kind) -> bool:
    return kind.is_number and kind.sort in INTEGERS


def _has_items(kind: Kind) -> bool:
    return kind.is_list or kind.sort is Sort.tensor


def _is_int(kind: Kind) -> bool:
    return kind.sort is Sort.int


def _one_of(sorts: frozenset[Sort]) -> Callable[[Kind], bool]:
    """Whether a kind is that of one value, and not of a list, of these sorts."""
    return lambda kind: kind.sort in sorts and not kind.is_list


_is_tensor = _one_of(frozenset({Sort.tensor}))
_is_value = _one_of(NUMBER_SORTS | {Sort.tensor})
_is_integral = _one_of(INTEGERS)
_is_concrete = _one_of(_CONCRETE)


def _unary(operator: str, operand: Typed) -> Iterator[Misfit]:
    if operator == "!":
        yield from _all([operand], _is_truth, "`!` takes a boolean or a number")
    elif operator == "~" and not _is_tensor(operand.kind):
        yield from _all([operand], _is_int, "`~` takes tensors and integers")
    elif operator == "+" and _is_tensor(operand.kind):
        yield operand, "C++ has no `+` before a tensor"
    elif operator in "+-":
        yield from _all([operand], _is_value, f"`{operator}` takes tensors and numbers")


def _binary(operator: str, left: Typed, right: Typed) -> Iterator[Misfit]:
    sides = (left, right)
    kinds = (left.kind, right.kind)
    if operator in ("==", "!=") and not any(map(_is_value, kinds)):
        yield from _equality(operator, left, right)
        return
    values = list(_all(sides, _is_value, f"`{operator}` takes tensors and numbers"))
    yield from values
    if values or any(_is_tensor(kind) or not kind.is_known for kind in kinds):
        return
    if operator == "%":
        yield from _all(sides, _is_integral, "`%` of numbers takes integers")
    elif operator in BITWISE:
        yield from _all(sides, _is_concrete, f"`{operator}` of numbers takes integers, no sizes")


def _equality(operator: str, left: Typed, right: Typed) -> Iterator[Misfit]:
    """Values that are neither tensors nor numbers equal those of their own kind. Brackets have no type in C++, and no
    tuple equals a list in Python."""
    for side in (left, right):
        if side.is_none:
            yield side, "ask for None by `.defined()`"
            return
        if side.kind.is_list or isinstance(side.node, nodes.ListDisplay):
            yield side, "not compared"
            return
    are_known = left.kind.is_known and right.kind.is_known
    if are_known and left.kind.present != right.kind.present:
        yield right, f"`{operator}` takes two values of a kind"


def _sides(yes: Typed, no: Typed) -> Iterator[Misfit]:
    """The branches of a condition: two tensors, two numbers, two lists of a kind."""
    for branch, other in ((yes, no), (no, yes)):
        kind = other.kind
        if branch.is_none and kind.is_known and not _is_tensor(kind):
            yield branch, f"the other branch is {kind.words}"
    if yes.is_none or no.is_none:
        return
    if not yes.kind.is_known or not no.kind.is_known:
        return
    kind = yes.kind.present
    other_kind = no.kind.present
    are_numbers = kind.is_number and other_kind.is_number
    # C++ would cut a float off to make it a symbolic integer.
    is_cut = {kind.sort, other_kind.sort} == {Sort.float, Sort.symint}
    is_other = kind != other_kind and not are_numbers
    if is_cut or is_other:
        yield no, f"the other branch is {yes.kind.words}"


def _items(items: Sequence[Typed]) -> Iterator[Misfit]:
    if any(_is_tensor(item.kind) for item in items):
        given = [item for item in items if not item.is_none]
        yield from _all(given, _is_tensor, "a list has items of one kind")
