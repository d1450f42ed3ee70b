"""Which of several overloads a call finds first: `torch.ops.my.o(x, 1.0)` tries them in the order of their definition.

    - func: my::o.a(Tensor self, Scalar x) -> Tensor       - func: my::o.b(Tensor self, float x) -> Tensor
    - func: my::o.b(Tensor self, float x) -> Tensor        - func: my::o.a(Tensor self, Scalar x) -> Tensor

Calls with a number found `o.a`, and find `o.b`: TG382. Overloads that no call fits both of may stand in any order.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from torchgen_lite.analysis.comparison.values import kinds_of, shared_value
from torchgen_lite.analysis.finding import Change, Changes, Witness
from torchgen_lite.analysis.operators import Operator
from torchgen_lite.loader.entry.entry import NativeFunction
from torchgen_lite.schema import Argument, FunctionSchema, ListType, OptionalType, Type
from torchgen_lite.schema.grouped import names_of


def compare_order(old: Operator, new: Operator) -> Changes:
    """TG382 for an overload that is tried first now, and takes calls that this one took."""
    tried = list(_tried_first(old))
    names = set(names_of(tried))
    # One of the same arguments took these calls already, under another name.
    taken = {other.func.arguments for other in tried}
    for other in _tried_first(new):
        if other.name in names or other.func.arguments in taken:
            continue
        if _share_a_call(old.schema, other.func):
            message = f"`{other.func.full_name}` is tried first, and takes some of its calls"
            place = other.func.name_span
            there = old.function.func.name_span
            shown = _witness(old.schema, other.func)
            yield Change("TG382", message, place, "tried first", there, shown)


def _tried_first(operator: Operator) -> Iterator[NativeFunction]:
    """The overloads before this one."""
    function = operator.function
    for other in operator.others.overloads.get(function.packet, ()):
        if other.name == function.name:
            return
        yield other


def _share_a_call(one: FunctionSchema, other: FunctionSchema) -> bool:
    """Whether some call fits both schemas, by position as far as that goes."""
    first = one.positional
    second = other.positional
    count = max(_required(first), _required(second))
    if count > min(len(first), len(second)):
        return False
    pairs = zip(first[:count], second[:count])
    if not all(_share_a_value(a.type, b.type) for a, b in pairs):
        return False
    return _keywords_fit(one, other) and _keywords_fit(other, one)


def _required(arguments: Sequence[Argument]) -> int:
    return sum(argument.default is None for argument in arguments)


def _keywords_fit(one: FunctionSchema, other: FunctionSchema) -> bool:
    """Whether the other schema takes the keywords that the first one asks for."""
    taken = {argument.name: argument for argument in other.arguments if argument.kwarg_only}
    for argument in one.arguments:
        if argument.kwarg_only and argument.default is None:
            same = taken.get(argument.name)
            if same is None or not _share_a_value(argument.type, same.type):
                return False
    return True


def _share_a_value(one: Type, other: Type) -> bool:
    if isinstance(one, OptionalType) and isinstance(other, OptionalType):
        return True  # None is a value of both.
    first = _without_optional(one)
    second = _without_optional(other)
    if isinstance(first, ListType) and isinstance(second, ListType):
        return _share_a_value(first.elem, second.elem)
    for some, single in ((first, second), (second, first)):
        if isinstance(some, ListType):
            # A number may be given for a list of a known size.
            return some.size is not None and _share_a_value(some.elem, single)
    return not kinds_of(first).isdisjoint(kinds_of(second))


def _without_optional(type_: Type) -> Type:
    if isinstance(type_, OptionalType):
        return type_.elem
    return type_


def _witness(one: FunctionSchema, other: FunctionSchema) -> Witness:
    """A call that fits both: the usual one of the first, or with another value for one argument."""
    for argument, beside in zip(one.positional, other.positional):
        value = shared_value(argument.type, beside.type)
        if value and argument.default is None:
            return Witness("packet", argument.name, by_position=True, value=value)
    return Witness("packet")
