"""Which results of an operator need a rule: those that are not returned arguments."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from torchgen_lite.analysis.kernels import COMPOSITE_KEYS
from torchgen_lite.analysis.operators import Operator
from torchgen_lite.loader.entry.entry import NativeFunction
from torchgen_lite.loader.entry.fakes import FakeRule
from torchgen_lite.schema import Argument, FunctionSchema, Return, SchemaKind, return_names
from torchgen_lite.schema.grouped import by_name
from torchgen_lite.schema.model import bare_type

_NUMBERS = frozenset("bool complex float int number Scalar SymBool SymFloat SymInt".split())


@dataclass(frozen=True, slots=True)
class Result:
    """One result. `argument` is set if the result is an argument that the operator wrote to;
    `source` is the argument that it is a view of."""

    index: int
    name: str
    value: Return
    argument: Argument | None = None
    source: Argument | None = None


def results_of(schema: FunctionSchema) -> tuple[Result, ...]:
    """The results in order, each with the argument that it shares memory with."""
    results = []
    for index, (name, value) in enumerate(zip(return_names(schema), schema.returns)):
        shared = _aliased(schema, value)
        is_same = shared is not None and shared.is_write and value.is_write
        argument, source = (shared, None) if is_same else (None, shared)
        results.append(Result(index, name, value, argument, source))
    return tuple(results)


def _aliased(schema: FunctionSchema, value: Return) -> Argument | None:
    if value.annotation is None or value.annotation.before == ("*",):
        return None
    sets = set(value.annotation.before)
    for argument in schema.annotated:
        if argument.annotation is not None and not sets.isdisjoint(argument.annotation.before):
            return argument
    return None


def new_results(schema: FunctionSchema) -> list[Result]:
    """The results that are not arguments: a rule can only be for these."""
    return [result for result in results_of(schema) if result.argument is None]


def numbers_of(schema: FunctionSchema) -> list[str]:
    """The arguments that count for the dtype of a result that is derived, as in `torch.result_type`."""
    arguments = schema.arguments
    return [a.name for a in arguments if bare_type(a.type).removesuffix("?") in _NUMBERS]


def lacks_fake(operator: Operator) -> bool:
    """Whether nothing says what the operator returns under `torch.compile`.

    An operator without kernels here gets them from elsewhere, perhaps including a Meta kernel.
    """
    function = operator.function
    keys = operator.keys
    if function.fake is not None or operator.axes is not None or _has_meta(operator):
        return False
    return bool(keys) and keys.isdisjoint(COMPOSITE_KEYS) and bool(new_results(function.func))


def _has_meta(operator: Operator) -> bool:
    """Whether there is a kernel for `Meta`, which is the fake, or a meta function."""
    function = operator.function
    return function.is_structured or "Meta" in operator.keys


def uses_axes(operator: Operator) -> bool:
    """Whether its axes are checked in a fake, and give the shapes that no rule gives.

    An out variant may give what it writes another shape.
    """
    function = operator.function
    if operator.axes is None or operator.kind is SchemaKind.out or _has_meta(operator):
        return False
    if function.fake is None or not function.fake.rules:
        return function.fake is None or not function.fake.function
    rules = rules_by_result(function)
    needing = new_results(function.func)
    return any(r.index not in rules or not rules[r.index].gives_shape for r in needing)


def is_view_rule(function: NativeFunction) -> bool:
    """Whether the fake of each result is a view of an argument, so that it can replace the operator itself."""
    rules = rules_by_result(function)
    count = len(function.func.returns)
    viewed = [index for index, rule in rules.items() if rule.get("view") is not None]
    return count > 0 and len(viewed) == count


def rules_by_result(function: NativeFunction) -> Mapping[int, FakeRule]:
    """The rule for each result that needs one, in a checked entry."""
    if function.fake is None:
        return {}
    needing = new_results(function.func)
    rules = function.fake.rules
    if rules and rules[0].name:
        named = by_name(rules)
        return {r.index: named[r.name] for r in needing if r.name in named}
    return {r.index: rule for r, rule in zip(needing, rules)}
