"""The fakes in `_operators.py`: what each operator returns when only shapes are known.

def fake_muladd(a: Tensor, b: Tensor, s: float) -> Tensor:
    return a.new_empty(_support.broadcast(a, b))
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from torchgen_lite.analysis.fakes.results import (
    Result,
    new_results,
    numbers_of,
    results_of,
    rules_by_result,
    uses_axes,
)
from torchgen_lite.analysis.policy import Origin
from torchgen_lite.formulas.kinds import TENSOR, TENSORS, Kind
from torchgen_lite.formulas.language import value_kind
from torchgen_lite.formulas.model import Expression, Literal, Member, Name
from torchgen_lite.languages.python.formula import write
from torchgen_lite.languages.python.names import free_name
from torchgen_lite.languages.python.torch_expressions import TORCH, in_rule, method_call
from torchgen_lite.languages.text import quote, tuple_display
from torchgen_lite.loader.entry.fakes import FakeRule
from torchgen_lite.schema.dispatch_kind import dispatch_kind
from torchgen_lite.schema.grouped import names_of
from torchgen_lite.targets.output import Named
from torchgen_lite.targets.torch_python.model import Package, PackagedOperator

# The fake of one operator that a rule or its axes describe: conditions with messages, a statement that checks axes, and
# the expression that it returns.
Fake = tuple[PackagedOperator, tuple[Named, ...], str, str]
# The expressions of a rule by field, in Python.
Fields = Mapping[str, Expression]


def fakes_of(package: Package) -> Iterator[Fake]:
    """The fakes derived from a rule, from axes, or from the arguments that an operator returns."""
    for operator in package.operators:
        fake = operator.function.fake
        is_written = fake is not None and bool(fake.function)
        if package.registration(operator, Origin.fake) is not None and not is_written:
            yield operator, tuple(_checks(operator)), _checked_axes(operator), _returned(operator)


def computes(package: Package, operator: PackagedOperator) -> bool:
    """Whether the rules for fakes and flops may call what `_support` has: they have more than names of arguments."""
    function = operator.function
    if function.flops is not None:
        return True
    fake = function.fake
    if fake is None or package.registration(operator, Origin.fake) is None:
        return False
    trees = [tree for rule in fake.rules for _, tree in rule.fields]
    return bool(fake.checks) or not all(isinstance(tree, Name) for tree in trees)


def _checks(operator: PackagedOperator) -> Iterator[Named]:
    fake = operator.function.fake
    if fake is None:
        return
    for check in fake.checks:
        message = quote(f"{operator.name}: {check.message}")
        yield write(in_rule(check.condition, operator.names)), message


def _checked_axes(operator: PackagedOperator) -> str:
    """`_given = axes_muladd({"a": a, "b": b, "s": s})`, which results that no rule describes are made of.

    Numbers count for the dtype.
    """
    line = operator.facts.axes
    if line is None or not uses_axes(operator.facts):
        return ""
    names = [*names_of(line.tensors), *numbers_of(operator.schema)]
    items = ", ".join(f"{quote(name)}: {operator.names[name]}" for name in names)
    call = f"{operator.named('axes')}({{{items}}})"
    if new_results(operator.schema):
        return f"{_given(operator)} = {call}"
    return call


def _given(operator: PackagedOperator) -> str:
    return free_name("_given", operator.names)


def _returned(operator: PackagedOperator) -> str:
    rules = rules_by_result(operator.function)
    values = []
    for result in results_of(operator.schema):
        if result.argument is not None:
            values.append(operator.names[result.argument.name])
        else:
            values.append(_result(operator, result, rules.get(result.index, FakeRule(()))))
    if len(values) == 1:
        return values[0]
    return tuple_display(values) if values else "None"


def _result(operator: PackagedOperator, result: Result, rule: FakeRule) -> str:
    """The value of one result; for a list, as many tensors as the rule counts, or one per item of a
    list."""
    fields = {name: in_rule(tree, operator.names) for name, tree in rule.fields}
    like = fields.get("like")
    each = free_name("_each", operator.names)
    if value_kind(result.value.type) != TENSORS:
        return write(_value(operator, result, fields))
    if "count" in fields:
        tensor = write(_value(operator, result, fields))
        return f"[{tensor} for {each} in _support.times({write(fields['count'])})]"
    items = like
    if items is None:
        lists = [a.name for a in operator.schema.arguments if dispatch_kind(a.type).is_list]
        items = Name(operator.names[lists[0]])
    item = Name(each) if like is not None else None
    return f"[{write(_tensor(operator, result, fields, item))} for {each} in {write(items)}]"


def _first_of(kind: Kind, operator: PackagedOperator) -> Name | None:
    """The first argument of a kind."""
    for argument in operator.schema.arguments:
        if value_kind(argument.type) == kind:
            return Name(operator.names[argument.name])
    return None


def _value(operator: PackagedOperator, result: Result, fields: Fields) -> Expression:
    if "value" in fields:
        return fields["value"]
    if "view" in fields:
        return _view_of(fields["view"], fields)
    return _tensor(operator, result, fields, fields.get("like"))


def _view_of(base: Expression, fields: Fields) -> Expression:
    shape = fields.get("shape") or Member(base, "shape")
    if "stride" not in fields and "offset" not in fields:
        return method_call(base, "view", shape)
    stride = fields.get("stride") or method_call(base, "stride")
    offset = fields.get("offset") or method_call(base, "storage_offset")
    return method_call(base, "as_strided", shape, stride, offset)


def _tensor(
    operator: PackagedOperator, result: Result, fields: Fields, like: Expression | None
) -> Expression:
    """The call that makes a tensor of the rule's shape, dtype and device."""
    shape = fields.get("shape")
    dtype = fields.get("dtype")
    device = fields.get("device")
    stride = fields.get("stride")
    memory_format = fields.get("memory_format")
    if like is None and shape is None:
        given = _given(operator)
        index = Literal(str(result.index))
        if memory_format is None:
            return method_call(Name(given), "new", index, dtype=dtype, device=device)
        like = Name(f"{given}.like")
        shape = Name(f"{given}.shapes[{result.index}]")
        dtype = dtype or Name(f"{given}.dtype({result.index})")
    if shape is None:
        assert like is not None
        return method_call(
            TORCH, "empty_like", like, dtype=dtype, device=device, memory_format=memory_format
        )
    base = like or _first_of(TENSOR, operator)
    if stride is None and memory_format is None and base is not None:
        return method_call(base, "new_empty", shape, dtype=dtype, device=device)
    if base is not None:
        dtype = dtype or Member(base, "dtype")
        device = device or Member(base, "device")
    if stride is not None:
        return method_call(TORCH, "empty_strided", shape, stride, dtype=dtype, device=device)
    return method_call(
        TORCH, "empty", shape, dtype=dtype, device=device, memory_format=memory_format
    )
