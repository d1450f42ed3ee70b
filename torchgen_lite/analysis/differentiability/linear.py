"""Whether a formula is linear in the gradients that it is given, as every gradient is.

Forward mode relies on it: a formula that is not linear has no transpose. What a function does that is not known
here counts as linear.
"""

from __future__ import annotations

from collections.abc import Collection
from enum import Enum

from torchgen_lite.analysis.differentiability.model import DifferentiabilityInfo, tensor_arguments
from torchgen_lite.formulas import model as nodes
from torchgen_lite.formulas.facts import Fact
from torchgen_lite.formulas.kinds import Sort
from torchgen_lite.formulas.language import GRADIENTS
from torchgen_lite.formulas.tree import Typed
from torchgen_lite.schema import return_names

# Functions and methods of one tensor that are not linear in it.
_CURVED = frozenset(
    "abs acos acosh amax amin asin asinh atan atanh ceil clamp cos cosh digamma erf erfc erfinv exp exp2 expm1 floor "
    "lgamma log log10 log1p log2 log_softmax max min norm pow reciprocal relu round rsqrt sgn sigmoid sign silu sin "
    "sinh softmax sqrt square tan tanh trunc".split()
)


class _Degree(Enum):
    """In the gradients: `any` may be zero, or is not known."""

    constant = 0
    linear = 1
    any = 2


def nonlinear(tree: Typed, gradients: Collection[str]) -> Typed | None:
    """The part of a formula that makes it something else than linear in `gradients`; None if it is linear."""
    degree = _degree(tree, gradients)
    if isinstance(degree, Typed):
        return degree
    return tree if degree is _Degree.constant and tree.kind.sort is Sort.tensor else None


def refuses_forward(info: DifferentiabilityInfo) -> str:
    """Why forward mode is refused, in spite of formulas; empty if it is not."""
    schema = info.function.func
    names, written = return_names(schema), {one.name for one in info.forward}
    missing = [names[index] for index in info.outputs if written and names[index] not in written]
    # The tensors of lists are not asked whether they need a gradient.
    answered = {*info.arguments, *info.not_differentiable, *(t.name for t in info.without_formula)}
    tensors = [tensor.name for tensor in tensor_arguments(schema.inputs)]
    missing += [name for name in tensors if info.slots and name not in answered]
    if missing:
        return f"there is none for `{missing[0]}`"
    curved = [d for d in info.derivatives if nonlinear(d.tree, info.gradients) is not None]
    if written or not curved:
        return ""
    return f"the formula of `{', '.join(curved[0].names)}` is not linear in the gradient"


def _degree(tree: Typed, gradients: Collection[str]) -> _Degree | Typed:
    node, kind = tree.node, tree.kind
    if isinstance(node, nodes.Name):
        named = _Degree.any if tree.is_none else _Degree.constant
        return _Degree.linear if node.text in gradients else named
    if tree.saved is not None and tree.saved.fact is Fact.info:
        return _Degree.any
    if tree.saved is not None or isinstance(node, nodes.Literal):
        return _Degree.constant
    if kind.is_known and kind.sort is not Sort.tensor:
        # A fact about a tensor: a shape, a dtype, whether it is there.
        return _Degree.constant
    if nodes.name_called(node) in GRADIENTS.attributes:
        return _Degree.constant
    degrees = []
    for part in tree.parts:
        degree = _degree(part, gradients)
        if isinstance(degree, Typed):
            return degree
        degrees.append(degree)
    is_linear = [degree is _Degree.linear for degree in degrees]
    match node:
        case nodes.Binary("+" | "-") | nodes.ListDisplay():
            return _joint(degrees) or tree
        case nodes.Conditional():
            return tree if is_linear[0] else _joint(degrees[1:]) or tree
        case nodes.Unary("+" | "-"):
            return degrees[0]
        case nodes.Binary("*"):
            order = (_Degree.linear, _Degree.any, _Degree.constant)
            return tree if all(is_linear) else next(d for d in order if d in degrees)
        case nodes.Binary("/") | nodes.Subscript():
            return tree if is_linear[1] else degrees[0]
        case nodes.Binary() | nodes.Unary():
            return tree if any(is_linear) else _Degree.constant
    if is_linear[:1] == [True] and nodes.name_called(node) in _CURVED:
        return tree
    return _Degree.linear if any(is_linear) else _Degree.any


def _joint(degrees: Collection[_Degree]) -> _Degree | None:
    """The degree of a sum, or of one of several values; None if there is none."""
    found = set(degrees) - {_Degree.any}
    return (found.pop() if found else _Degree.any) if len(found) < 2 else None
