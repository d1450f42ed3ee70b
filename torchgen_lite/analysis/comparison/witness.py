"""A witness: a call of the old version that shows a change, in no language yet.

    - func: lib::f(Tensor self, int dim=0) -> Tensor        - func: lib::f(Tensor self) -> Tensor

loses `dim`, which `torch.ops.lib.f(torch.ones(2), dim=0)` gives: it works, and then it fails. A comparison says what kind
of call a change is seen in; which arguments it has, and which values they take, follows here from the schema and from
the operator's own samples; a language writes it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from torchgen_lite.analysis.comparison.values import written_value
from torchgen_lite.analysis.finding import Witness
from torchgen_lite.analysis.operators import Operator
from torchgen_lite.formulas import model as nodes
from torchgen_lite.formulas.parser import parse_formula
from torchgen_lite.schema import Argument
from torchgen_lite.schema.grouped import names_of


class Given(NamedTuple):
    """An argument of a call and its value, which is the caller's own where it is None."""

    argument: Argument
    value: nodes.Expression | None
    by_name: bool


def given_in(operator: Operator, witness: Witness) -> list[Given]:
    """The arguments of the call: those that the old version needs, and those that the witness asks for."""
    arguments = operator.schema.arguments
    names = names_of(arguments)
    last = names.index(witness.argument) if witness.argument in names else -1
    sampled = _sampled(operator)
    given = []
    # What comes after an argument that is left out, or given by its name, has a name, too.
    is_named = False
    for number, argument in enumerate(arguments):
        is_asked = number == last and witness.way != "gradient"
        is_before = witness.by_position and number <= last and not argument.kwarg_only
        is_before = is_before or witness.way == "full"
        if argument.default is not None and not is_asked and not is_before:
            is_named = True
            continue
        is_named = is_named or argument.kwarg_only or (is_asked and not witness.by_position)
        if is_asked and witness.value:
            value = _parsed(witness.value)
        else:
            value = sampled.get(argument.name) or _value(argument, number, witness.distinct)
        given.append(Given(argument, value, is_named))
    return given


def _sampled(operator: Operator) -> Mapping[str, nodes.Expression]:
    """What the first of the operator's own samples gives, by argument."""
    samples = operator.function.samples
    if samples is None or not samples.calls:
        return {}
    first = samples.calls[0]
    positional = names_of(operator.schema.positional)
    return {**dict(zip(positional, first.arguments)), **dict(first.keywords)}


def _value(argument: Argument, number: int, is_distinct: bool) -> nodes.Expression | None:
    """Its default, if that is a literal, or else a value of its type."""
    if is_distinct:
        return _parsed(written_value(argument.type, number + 1))
    if argument.default is not None:
        default = _parsed(argument.default)
        if default is not None and all(map(is_literal, nodes.walk(default))):
            return default
    return _parsed(written_value(argument.type))


def is_literal(node: nodes.Expression) -> bool:
    if isinstance(node, nodes.Name):
        return node.text in ("None", "True", "False")
    return isinstance(node, (nodes.Literal, nodes.Unary, nodes.ListDisplay))


def _parsed(text: str) -> nodes.Expression | None:
    if text:
        return parse_formula(text)[0]
    return None
