"""Formulas for operators on lists of tensors, made from those for one tensor (torchgen
`gen_foreach_derivativeinfo`).

    _foreach_mul.List(Tensor[] self, Tensor[] other) -> Tensor[]

does for each pair what `mul.Tensor` does, so `self: grad * other` becomes `self: grads[i] * other[i]`, to
be run for each `i`. Lists are kept whole. An in-place variant uses the formulas for one tensor as they
are, element by element.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from torchgen_lite.analysis.differentiability.info import input_arguments, names_in
from torchgen_lite.analysis.differentiability.model import (
    Derivative,
    DifferentiabilityInfo,
    ForwardDerivative,
    SavedAttribute,
)
from torchgen_lite.loader.derivatives import DEFAULT, Formula
from torchgen_lite.loader.entry import NativeFunction
from torchgen_lite.schema import Argument, ListType, OptionalType, SchemaKind
from torchgen_lite.schema.formula import (
    Expression,
    Lambda,
    Name,
    Subscript,
    replace_names,
    walk,
)
from torchgen_lite.schema.model import bare_type

PREFIX = "_foreach_"
# The number of the element, and the gradients of all results, in a derived formula.
_INDEX = Name("i")
_GRADIENT = Subscript(Name("grads"), _INDEX)
_RESULT = Subscript(Name("result"), _INDEX)


@dataclass(frozen=True, slots=True)
class Reference:
    """An operator on one tensor and its formulas: what `_foreach_` operators may be derived from."""

    function: NativeFunction
    kind: SchemaKind
    info: DifferentiabilityInfo


def is_foreach(function: NativeFunction) -> bool:
    """Whether the name says that the operator does the same to each tensor of a list."""
    return function.func.base_name.startswith(PREFIX)


def derive_foreach(
    function: NativeFunction, kind: SchemaKind, references: Mapping[str, Sequence[Reference]]
) -> dict[str, DifferentiabilityInfo] | None:
    """The facts of a `_foreach_` operator by key, or None where nothing has formulas for one element.

    `references` holds the candidates by namespace and base name: `aten::mul`.
    """
    base = f"{function.namespace}::{function.func.base_name.removeprefix(PREFIX)}"
    if kind is SchemaKind.inplace:
        # `zero_` has formulas of its own, and no functional variant has.
        for name in (base.removesuffix("_"), base):
            for reference in references.get(name, ()):
                if _fits(function, reference):
                    return {DEFAULT: reference.info}
        return None
    if kind is not SchemaKind.functional:
        return None
    for reference in references.get(base, ()):
        functional = reference.kind is SchemaKind.functional
        if functional and _fits(function, reference) and not _is_opaque(reference.info):
            return {DEFAULT: _lifted(function, reference)}
    return None


def _is_opaque(info: DifferentiabilityInfo) -> bool:
    """Whether a formula holds C++ text that nothing here can rewrite."""
    formulas = [derivative.formula for derivative in info.derivatives]
    formulas += [derivative.formula for derivative in info.forward_derivatives]
    trees = [formula.expression for formula in formulas if formula.expression is not None]
    return any(isinstance(node, Lambda) for tree in trees for node in walk(tree))


def _fits(function: NativeFunction, reference: Reference) -> bool:
    """Whether each argument is that of the reference, or a list of it.

    What the reference has further has to be of no concern to its formulas, as `alpha` of `add.Scalar`.
    """
    mine = input_arguments(function.func)
    its = input_arguments(reference.function.func)
    rest = {argument.name for argument in its[len(mine) :]}
    used: set[str] = set()
    for derivative in reference.info.derivatives:
        if derivative.formula.expression is not None:
            used |= names_in(derivative.formula.expression)
    return (
        len(mine) <= len(its)
        and all(argument.default is not None for argument in its[len(mine) :])
        and not rest & used
        and all(_is_or_lists(a, b) for a, b in zip(mine, its))
    )


def _is_or_lists(argument: Argument, reference: Argument) -> bool:
    wanted = bare_type(reference.type)
    if bare_type(argument.type) == wanted:
        return True
    inner = argument.type
    return isinstance(inner, (ListType, OptionalType)) and bare_type(inner.elem) == wanted


def _lifted(function: NativeFunction, reference: Reference) -> DifferentiabilityInfo:
    """The facts for lists."""
    arguments = input_arguments(function.func)
    pairs = list(zip(arguments, input_arguments(reference.function.func)))
    names = {its.name: mine.name for mine, its in pairs}
    values: dict[str, Expression] = {"grad": _GRADIENT, "result": _RESULT}
    tangents: dict[str, Expression] = {"result": _RESULT}
    for mine, its in pairs:
        is_list = isinstance(mine.type, ListType)
        values[its.name] = Subscript(Name(mine.name), _INDEX) if is_list else Name(mine.name)
        # A forward formula is for one element, and so are the values and tangents that it names.
        tangents[its.name] = values[its.name]
        for suffix in ("_p", "_t"):
            tangents[its.name + suffix] = Name(mine.name + suffix)
    info = reference.info
    derivatives = tuple(_backward(d, names, values) for d in info.derivatives)
    named = {name for derivative in derivatives for name in derivative.names}
    node = f"Foreach{info.node_name}{function.func.overload_name}" if info.node_name else ""
    return DifferentiabilityInfo(
        function,
        DEFAULT,
        node,
        derivatives,
        tuple(_forward(f, names, tangents) for f in info.forward_derivatives),
        tuple(argument.name for argument in arguments if argument.name in named),
        not_differentiable=(),
        available_gradients=(),
        output_differentiability=None,
    )


def _rewritten(
    formula: Formula, names: tuple[str, ...], values: Mapping[str, Expression]
) -> Formula:
    if formula.expression is None:
        return replace(formula, names=names)
    expression = replace_names(formula.expression, values)
    return replace(formula, names=names, text=str(expression), expression=expression)


def _backward(
    derivative: Derivative, names: Mapping[str, str], values: Mapping[str, Expression]
) -> Derivative:
    saved = dict.fromkeys(names[attribute.source] for attribute in derivative.saved_inputs)
    results = dict.fromkeys(attribute.source for attribute in derivative.saved_outputs)
    lifted = tuple(names[name] for name in derivative.names)
    return Derivative(
        lifted,
        _rewritten(derivative.formula, lifted, values),
        tuple(SavedAttribute(name, name, name) for name in saved),
        tuple(SavedAttribute(name, name, name) for name in results),
        frozenset(),
    )


def _forward(
    derivative: ForwardDerivative, names: Mapping[str, str], values: Mapping[str, Expression]
) -> ForwardDerivative:
    return ForwardDerivative(
        derivative.names,
        _rewritten(derivative.formula, derivative.names, values),
        frozenset(names.get(name, name) for name in derivative.required_tangents),
        frozenset(names.get(name, name) for name in derivative.required_primals),
    )
