"""Calls in formulas of operators of the file: the arguments are of the kinds that the schema wants.

What would fail when a gradient is asked for, or when C++ is compiled, is found when it is declared.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from torchgen_lite.analysis.differentiability.typed import Typed, every_part, is_own
from torchgen_lite.analysis.finding import Found, finding
from torchgen_lite.analysis.resolve import Resolved
from torchgen_lite.diagnostics import Diagnostic
from torchgen_lite.loader.entry import NativeFunction
from torchgen_lite.schema import Argument
from torchgen_lite.schema.formula import Call
from torchgen_lite.schema.formula.kinds import Kind, Sort, kind_of_type

_NUMBERS = frozenset({Sort.int, Sort.symint, Sort.float, Sort.bool, Sort.scalar})


def check_arguments(resolved: Resolved) -> Iterator[Diagnostic]:
    """Every argument of the wrong kind, in formulas that are right otherwise."""
    for operator in resolved.declared:
        if operator.function.derivatives is None:
            continue
        for info in resolved.autograd[operator.name].infos.values():
            for derivative in info.derivatives:
                for found in _check(derivative.tree):
                    yield finding(operator.function, *found)


def _check(tree: Typed) -> Iterator[Found]:
    for part in every_part(tree):
        node, operator = part.node, part.operator
        if not isinstance(node, Call) or operator is None or not is_own(operator):
            continue
        for value, argument in _bound(node, part.parts, operator):
            if not _fits(value, argument):
                found = "a list" if value.kind.is_list else _word(value.kind)
                called = f"argument `{argument.name}` of `{operator.func.full_name}`"
                message = f"{called} is `{argument.type}`, and {found} is given"
                hint = f"it is declared as `{operator.func}`"
                yield Found("TG323", message, value.node.span, "in this call", hint)


def _bound(
    node: Call, parts: Sequence[Typed], operator: NativeFunction
) -> Iterator[tuple[Typed, Argument]]:
    """The values with the arguments that they are for."""
    count = len(parts) - len(node.keywords)
    yield from zip(parts[:count], operator.func.positional)
    arguments = {argument.name: argument for argument in operator.func.arguments}
    for (name, _), value in zip(node.keywords, parts[count:]):
        if name in arguments:
            yield value, arguments[name]


def _fits(value: Typed, argument: Argument) -> bool:
    """Whether a value may be for an argument, as far as can be told; one value may stand for a list."""
    kind, wanted = value.kind, kind_of_type(argument.type)
    if value.is_none or not (kind.is_known and wanted.is_known):
        return True
    if kind.is_list and not wanted.is_list:
        return False
    return kind.sort is wanted.sort or {kind.sort, wanted.sort} <= _NUMBERS


def _word(kind: Kind) -> str:
    article = "an" if kind.sort.value[0] in "aeiou" else "a"
    return f"{article} {kind.sort.value}"
