"""Forward mode in `_operators.py`: the tangents of results, where the entry has formulas for them.

def forward_muladd(inputs: tuple[Any, ...], output: Any, tangents: Sequence[Any]) -> tuple[Any, ...]:
    a_p = inputs[0]
    b_p = inputs[1]
    a_t = _zeros.tangent(inputs[0], tangents[0])
    b_t = _zeros.tangent(inputs[1], tangents[1])
    return (a_t * b_p + b_t * a_p,)

Other operators need none: see Note [Forward mode is transposed] in `copied/torch_python/_transposed.py`. An argument times
numbers is the exception: the formula of its gradient is that of its tangent, too.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

from torchgen_lite.analysis.differentiability.linear import refuses_forward
from torchgen_lite.analysis.differentiability.model import DifferentiabilityInfo, Tangent
from torchgen_lite.analysis.differentiability.nodes import reads_of
from torchgen_lite.formulas.model import Binary, Name, Unary
from torchgen_lite.formulas.tree import Typed
from torchgen_lite.languages.python.formula import FormulaNames, in_python, write
from torchgen_lite.languages.python.names import identifier
from torchgen_lite.loader.entry.derivatives import AUTO_LINEAR
from torchgen_lite.schema import SchemaKind, return_names
from torchgen_lite.schema.grouped import names_of
from torchgen_lite.targets.output import Named
from torchgen_lite.targets.torch_python.model import PackagedOperator
from torchgen_lite.targets.torch_python.saved import local, values_of


def tangents_of(
    operator: PackagedOperator, info: DifferentiabilityInfo, words: FormulaNames
) -> tuple[Sequence[Named], Sequence[str]]:
    """The locals of the function, and the tangent of each result; nothing if they are derived."""
    if refuses_forward(info) or not has_tangents(operator, info):
        return (), ()
    words = words._replace(saved=lambda s: Name(local(s.source)) if s.is_whole else None)
    if not info.forward:
        value, used = _like_gradient(info, words)
        return tuple(_locals(operator, info, used)), [value]
    values = {}
    used = frozenset[str]()
    for tangent in info.forward:
        values[tangent.name], names = _value(operator, info, tangent, words)
        used |= names
    results = [values.get(name, "None") for name in return_names(operator.schema)]
    return tuple(_locals(operator, info, used)), results


def has_tangents(operator: PackagedOperator, info: DifferentiabilityInfo) -> bool:
    """Whether the package has a function for the tangents."""
    return bool(info.forward and info.outputs) or _multiplies(operator, info)


def _multiplies(operator: PackagedOperator, info: DifferentiabilityInfo) -> bool:
    """Whether the result is an argument times numbers: of its shape and dtype, with a gradient that is multiplied."""
    if operator.kind is not SchemaKind.functional or len(info.derivatives) != 1:
        return False
    (derivative,) = info.derivatives
    fake = operator.function.fake
    rules = fake.rules if fake is not None else ()
    is_like = [rule.fields for rule in rules] == [(("like", Name(derivative.names[0])),)]
    return is_like and info.outputs == (0,) and _is_multiple(derivative.tree)


def _is_multiple(tree: Typed) -> bool:
    """Whether a formula is the gradient times numbers."""
    match tree.node:
        case Name("grad"):
            return True
        case Unary("-"):
            return _is_multiple(tree.parts[0])
        case Binary("*"):
            left, right = tree.parts
            return _is_multiple(right if left.kind.is_number else left) and (
                left.kind.is_number or right.kind.is_number
            )
        case Binary("/"):
            left, right = tree.parts
            return right.kind.is_number and _is_multiple(left)
    return False


def _value(
    operator: PackagedOperator, info: DifferentiabilityInfo, tangent: Tangent, words: FormulaNames
) -> tuple[str, frozenset[str]]:
    """The tangent of a result, and the names in it."""
    if tangent.tree is not None:
        return write(in_python(tangent.tree, words)), tangent.mentioned
    if tangent.formula.word == AUTO_LINEAR:
        # The operator itself, of the tangents.
        items = []
        used = []
        for argument in operator.schema.arguments:
            name = argument.name
            value = local(name)
            if name in info.arguments:
                name = f"{name}_t"
                value = identifier(name)
            used.append(name)
            items.append(f"{argument.name}={value}" if argument.kwarg_only else value)
        return f"{operator.handle}({', '.join(items)})", frozenset(used)
    return _like_gradient(info, words)


def _like_gradient(info: DifferentiabilityInfo, words: FormulaNames) -> tuple[str, frozenset[str]]:
    """Each element depends on one alone: the derivative is its own transpose, but for the conjugate."""
    (derivative,) = info.derivatives
    return f"({write(in_python(derivative.tree, words))}).conj()", derivative.mentioned


def _locals(
    operator: PackagedOperator, info: DifferentiabilityInfo, used: Collection[str]
) -> Iterator[Named]:
    """What formulas of tangents use, each with its value."""
    positions = names_of(operator.schema.positional)
    values = dict(values_of(operator.schema))
    for name, source, is_tangent in reads_of(info, operator.schema, used):
        if name == "grad":
            yield name, f"tangents[{positions.index(source)}].conj()"
        elif is_tangent:
            tangent = f"tangents[{positions.index(source)}]"
            yield identifier(name), f"_zeros.tangent({values[source]}, {tangent})"
        else:
            yield local(name) if name == source else identifier(name), values[source]
