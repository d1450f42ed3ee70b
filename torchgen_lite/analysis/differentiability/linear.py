"""Whether a formula is linear in the gradients that it is given, as every gradient is.

Forward mode relies on it: a formula that is not linear has no transpose.

Note [What is linear]
`linear.txt` has the functions of PyTorch that are linear, and in which operands, and those that are not. A formula that
is linear by this table is transposed. One that is not is reported, and refused in forward mode. Of a function that is
not in the table, an operator of the project or a helper, nothing is known: the formula is tried in each call, where the
values are (Note [Formulas are tried] in `copied/torch_python/_linear.py`).
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from enum import Enum

from torchgen_lite.analysis.differentiability.model import DifferentiabilityInfo, tensor_arguments
from torchgen_lite.formulas import model as nodes
from torchgen_lite.formulas.facts import Fact
from torchgen_lite.formulas.kinds import STRING, Sort
from torchgen_lite.formulas.language import GRADIENTS
from torchgen_lite.formulas.operands import is_nonzero
from torchgen_lite.formulas.tree import Typed, every_part
from torchgen_lite.loader.sources import words_beside
from torchgen_lite.loader.torch.functions import functions_of_torch
from torchgen_lite.schema import return_names
from torchgen_lite.schema.grouped import names_of, without_none

_RULES = {name: rule for rule, names in words_beside(__file__).items() for name in names}
# What a tensor has that does not depend on its elements.
_FACTS = frozenset({*GRADIENTS.methods, *GRADIENTS.attributes}) - {"item"}
# Keyword arguments that leave a linear function linear.
_HARMLESS = frozenset(
    "alpha device dim dims dtype keepdim layout memory_format non_blocking".split()
)


class _Degree(Enum):
    """How a value depends on the gradients: `free` does not and may be zero, of `unknown` nothing is known."""

    zero = 0
    constant = 1
    free = 2
    linear = 3
    unknown = 4


_INDEPENDENT = frozenset({_Degree.zero, _Degree.constant, _Degree.free})


def nonlinear(tree: Typed, gradients: Collection[str]) -> Typed | None:
    """The part of a formula that makes it something else than linear in `gradients`; None if there is none."""
    degree = _degree(tree, gradients)
    if isinstance(degree, Typed):
        return degree
    if degree is _Degree.constant and tree.kind.sort is Sort.tensor:
        return tree
    return None


def is_unknown(tree: Typed, gradients: Collection[str]) -> bool:
    """Whether nothing says that a formula is linear, and nothing that it is not."""
    return _degree(tree, gradients) is _Degree.unknown


def is_tried(info: DifferentiabilityInfo, helpers: Collection[str]) -> bool:
    """Whether forward mode has to find out that a formula is linear. `helpers` are functions of the author's, which may
    have the names of PyTorch's."""
    for derivative in info.derivatives:
        if is_unknown(derivative.tree, info.gradients):
            return True
        if any(nodes.called_name(part.node) in helpers for part in every_part(derivative.tree)):
            return True
    return False


def refuses_forward(info: DifferentiabilityInfo) -> str:
    """Why forward mode is refused, in spite of formulas; empty if it is not."""
    schema = info.schema
    names = return_names(schema)
    written = set(names_of(info.forward))
    missing = [names[index] for index in info.outputs if written and names[index] not in written]
    # The tensors of lists are not asked whether they need a gradient.
    answered = {*info.arguments, *info.not_differentiable, *names_of(info.without_formula)}
    tensors = names_of(tensor_arguments(schema.inputs))
    missing += [name for name in tensors if info.slots and name not in answered]
    if missing:
        return f"there is none for `{missing[0]}`"
    curved = [d for d in info.derivatives if nonlinear(d.tree, info.gradients) is not None]
    if written or not curved:
        return ""
    return f"the formula of `{', '.join(curved[0].names)}` is not linear in the gradient"


def _degree(tree: Typed, gradients: Collection[str]) -> _Degree | Typed:
    """The degree of a value, or the part of it that is not linear."""
    node = tree.node
    if isinstance(node, nodes.Name):
        named = _Degree.zero if tree.is_none else _Degree.constant
        if node.text in gradients:
            return _Degree.linear
        return named
    if isinstance(node, nodes.Literal):
        is_zero = node.text[0] not in "\"'" and not is_nonzero(node)
        if is_zero:
            return _Degree.zero
        return _Degree.constant
    if tree.saved is not None:
        if tree.saved.fact is Fact.info:
            return _Degree.zero
        return _Degree.constant
    name = node.name if isinstance(node, nodes.Member) else nodes.name_called(node)
    if name in _FACTS:
        return _Degree.constant
    degrees = []
    for part in _operands(tree, name):
        degree = _degree(part, gradients)
        if isinstance(degree, Typed):
            return degree
        degrees.append(degree)
    return _of_operands(tree, name, degrees) or tree


def _operands(tree: Typed, name: str) -> Iterator[Typed]:
    """The operands of a node. A list of factors stands for its items; if it is not written out, for two of them."""
    for part in tree.parts:
        if _RULES.get(name) != "factors":
            yield part
        elif isinstance(part.node, nodes.ListDisplay):
            yield from part.parts
        else:
            yield part
            yield part


def _of_operands(tree: Typed, name: str, degrees: Sequence[_Degree]) -> _Degree | None:
    """The degree of a node, given those of its operands; None if it is not linear."""
    match tree.node:
        case nodes.Binary("+" | "-") | nodes.ListDisplay():
            return _sum(degrees)
        case nodes.Binary("*"):
            return _product(degrees)
        case nodes.Binary("/") | nodes.Subscript():
            return _by_rule("0", degrees)
        case nodes.Unary("+" | "-"):
            return degrees[0]
        case nodes.Conditional():
            return _by_rule("1+2", degrees)
        case nodes.Binary() | nodes.Unary():
            return _by_rule("curved", degrees)
        case nodes.Member():
            return _by_rule(_rule(name), degrees)
        case nodes.Call() as call if _is_torchs(tree, call, name) and _is_plain(tree, call):
            is_method = isinstance(call.function, nodes.Member)
            key = f".{name}" if is_method and f".{name}" in _RULES else name
            return _by_rule(_rule(key), degrees)
    if _INDEPENDENT.issuperset(degrees):
        return _Degree.free
    return _Degree.unknown


def _is_torchs(tree: Typed, call: nodes.Call, name: str) -> bool:
    """Whether a call is one of PyTorch's functions or methods."""
    if tree.calls_own:
        return False
    if isinstance(call.function, nodes.Member):
        # An object of the author's may do anything.
        return tree.parts[0].kind.is_known
    if not isinstance(call.function, nodes.Name):
        return False
    scope = call.function.text.rpartition("::")[0]
    return scope in ("", "at") and (bool(_rule(name)) or name in functions_of_torch().torch)


def _is_plain(tree: Typed, call: nodes.Call) -> bool:
    """Whether a call has no option that may make it another function: `div(y, "floor")`, `scatter(..., reduce="add")`."""
    return _HARMLESS.issuperset(dict(call.keywords)) and not any(
        part.kind == STRING for part in tree.parts[1:]
    )


def _rule(name: str) -> str:
    """The line of the table that a function is on; empty if there is none."""
    name = name.removesuffix("_symint")
    rule = _RULES.get(name) or _RULES.get(name.rstrip("_"), "")
    is_backward = name.endswith("_backward") and name in functions_of_torch().at
    if is_backward and not rule:
        return "backward"
    return rule


def _by_rule(rule: str, degrees: Sequence[_Degree]) -> _Degree | None:
    """The degree of a call by its line of the table; None if it is not linear."""
    match rule:
        case "nothing":
            return _Degree.zero
        case "something":
            return _Degree.constant
        case "factors":
            return _product(degrees)
        case "curved":
            return _curved(degrees)
        case "" | "backward":
            if _INDEPENDENT.issuperset(degrees):
                return _Degree.constant
            # What PyTorch's own formulas call is linear in the gradient, as a rule the first argument.
            is_known = rule != "" and _INDEPENDENT.issuperset(degrees[1:])
            if is_known:
                return degrees[0]
            return _Degree.unknown
    numbered = dict(enumerate(degrees))
    terms = []
    for term in rule.split("+"):
        factors = []
        for digit in re.findall(r"\d", term):
            factors.append(numbered.pop(int(digit), _Degree.zero))
        if not term.startswith("~"):
            terms.append(_product(factors))
    others = _curved([*numbered.values()])
    if others is not _Degree.constant:
        return others
    products = without_none(terms)
    if len(products) == len(terms):
        return _sum(products)
    return None


def _sum(degrees: Sequence[_Degree]) -> _Degree | None:
    """The degree of a sum, of a list, or of one of several values."""
    present = set(degrees) - {_Degree.zero}
    if not present:
        return _Degree.zero
    if _Degree.unknown in present or present == {_Degree.linear, _Degree.free}:
        return _Degree.unknown
    if _Degree.linear not in present:
        if _Degree.constant in present:
            return _Degree.constant
        return _Degree.free
    if _Degree.constant in present:
        return None
    return _Degree.linear


def _product(degrees: Sequence[_Degree]) -> _Degree | None:
    if _Degree.zero in degrees:
        return _Degree.zero
    if _Degree.unknown in degrees:
        return _Degree.unknown
    count = degrees.count(_Degree.linear)
    if count == 0:
        if _Degree.free in degrees:
            return _Degree.free
        return _Degree.constant
    return _Degree.linear if count == 1 else None


def _curved(degrees: Sequence[_Degree]) -> _Degree | None:
    """The degree of what is not linear in these operands."""
    if _Degree.linear in degrees:
        return None
    if _Degree.unknown in degrees:
        return _Degree.unknown
    return _Degree.constant
