"""Rules about what `torch.compile` makes of an operator: numbers that it takes from the fake, and what it refuses."""

from __future__ import annotations

from collections.abc import Sequence

from torchgen_lite.analysis.derive.layout import has_tensors_by_name, is_tensor_like
from torchgen_lite.analysis.fakes.results import Result, new_results, rules_by_result
from torchgen_lite.analysis.finding import Reported, finding
from torchgen_lite.analysis.operators import Operator
from torchgen_lite.analysis.policy import Policy
from torchgen_lite.analysis.program import Program
from torchgen_lite.analysis.registrations import FUNCTIONALIZE
from torchgen_lite.analysis.torch_library import returns_what_it_writes
from torchgen_lite.diagnostics import Suggestion
from torchgen_lite.formulas.model import Expression, Name, texts_in, walk
from torchgen_lite.schema import Argument, BaseType, walk_type
from torchgen_lite.schema.model import bare_type

_NUMBERS = frozenset({"bool", "float", "int"})
_SYMBOLIC = frozenset({"SymBool", "SymFloat", "SymInt"})
_CONSTANTS = frozenset({"False", "None", "True"})


def traced_rules(program: Program, policies: Sequence[Policy] | None) -> Reported:
    """What these rules find in operators of a library for PyTorch; with None, of any."""
    if policies is not None and not any(policy.in_pytorch for policy in policies):
        return
    for operator in program.resolved.declared:
        is_own = not operator.function.is_pytorchs
        # What is composed of other operators is not in a trace.
        if is_own and operator.own_kernels and not operator.is_composed:
            yield from numbers_of_the_fake(operator)
            yield from sizes_of_fixed_integers(operator)
            yield from written_results(operator)
            yield from tensors_by_name(operator)


def numbers_of_the_fake(operator: Operator) -> Reported:
    """TG423: a number that is computed from data, and that a compiled program has from the fake."""
    if not any(is_tensor_like(argument.type) for argument in operator.schema.arguments):
        return
    function = operator.function
    rules = rules_by_result(operator.function)
    for result in new_results(operator.schema):
        rule = rules.get(result.index)
        value = rule.get("value") if rule is not None else None
        if not _is_built_in(operator, result, value):
            continue
        type_ = bare_type(result.value.type)
        message = f"a compiled program has the `{type_}` of the fake built in, whatever the kernel returns"
        hint = "return a tensor instead"
        if type_ == "int":
            hint = "return `SymInt`, with `torch.library.get_ctx().new_dynamic_size()` in a fake that is a function"
        elif type_ in _SYMBOLIC:
            hint = "a fake that is a function can give a number that is not known"
        yield finding(
            function,
            "TG423",
            message,
            value.span if value is not None else function.place("fake") or result.value.span,
            "this number",
            hint,
        )


def _is_built_in(operator: Operator, result: Result, value: Expression | None) -> bool:
    """Whether a trace keeps the number that the fake gives for a result.

    Sizes are checked before each run of what was compiled, so what is computed of them is right.
    """
    type_ = bare_type(result.value.type)
    if value is not None:
        return type_ in _NUMBERS | _SYMBOLIC and _CONSTANTS.issuperset(texts_in(value))
    fake = operator.function.fake
    is_function = fake is not None and bool(fake.function)
    return type_ in _NUMBERS and (is_function or "Meta" in operator.keys)


def sizes_of_fixed_integers(operator: Operator) -> Reported:
    """TG424: an `int` that gives a size, for each value of which a program is compiled again."""
    integers = {a.name: a for a in operator.schema.arguments if _is_integer(a)}
    for rule in rules_by_result(operator.function).values():
        shape = rule.get("shape")
        names = [part for part in walk(shape) if isinstance(part, Name)] if shape else []
        for name in names:
            argument = integers.pop(name.text, None)
            if argument is None:
                continue
            text = bare_type(argument.type)
            symbolic = text.replace("int", "SymInt")
            # Callers in C++ give another type.
            yield finding(
                operator.function,
                "TG424",
                f"`{argument.name}` is a size, and a program is compiled for each of its values",
                argument.type_span,
                "not symbolic",
                Suggestion(f"write `{symbolic}`", text, symbolic, is_safe=False),
                (name.span, "a size"),
            )


def _is_integer(argument: Argument) -> bool:
    names = {part.name for part in walk_type(argument.type) if isinstance(part, BaseType)}
    return names == {"int"}


def written_results(operator: Operator) -> Reported:
    """TG428: results that are written arguments, of which PyTorch takes no copies when it compiles."""
    returned = [value for value in operator.schema.returns if value.is_write]
    has_own = FUNCTIONALIZE in operator.keys
    if not returned or has_own or returns_what_it_writes(operator):
        return
    yield finding(
        operator.function,
        "TG428",
        f"`torch.compile` refuses `{operator.schema.full_name}`, which returns a part of what it writes, or more",
        returned[0].span,
        "a written argument",
        "return nothing of what is written, or all of it in its order and nothing else",
    )


def tensors_by_name(operator: Operator) -> Reported:
    """TG429: a dictionary with tensors, which no trace can hold."""
    values = [(argument.type, argument.span) for argument in operator.schema.arguments]
    values += [(result.type, result.span) for result in operator.schema.returns]
    for type_, span in values:
        if has_tensors_by_name(type_):
            yield finding(
                operator.function,
                "TG429",
                f"`torch.compile` refuses a call with `{bare_type(type_)}`",
                span,
                "tensors in a dictionary",
                "take a list of tensors, or each by its name",
            )
