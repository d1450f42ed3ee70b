"""The conditions by which `dispatch` chooses a kernel, in Python.

    x.dtype in {half, bfloat16} and floor_div(x.size(-1), 8) > n

is `(x.dtype == torch.half or x.dtype == torch.bfloat16) and x.size(-1) // 8 > n`, where a target has its own names of
dtypes, and of what a tensor is asked.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from torchgen_lite.formulas import model as nodes
from torchgen_lite.formulas.language import TRUTH
from torchgen_lite.formulas.model import Expression
from torchgen_lite.formulas.tree import Typed
from torchgen_lite.languages.python.formula import write
from torchgen_lite.languages.text import literal
from torchgen_lite.schema.defaults import FIRST_NAMES

# Operators of Python for what conditions write as functions.
_AS_OPERATORS = {"floor_div": "//"}
# Python compares no tuple with a list.
_AS_TUPLE = "tuple"


class ConditionNames(NamedTuple):
    """A target's names: of arguments, of a dtype, and what it asks of a tensor.

    `asked` gets the name of an attribute or a method, the tensor and the arguments, and gives None where Python says it
    as the condition does. The module `builtins` has the functions that arguments hide; `functions` have another
    name than in conditions.
    """

    arguments: Mapping[str, str]
    constant: Callable[[str], str]
    asked: Callable[[str, Expression, Sequence[Expression]], Expression | None]
    builtins: str
    functions: Mapping[str, str] = {}

    def function(self, name: str) -> str:
        """A function of conditions."""
        if name in self.functions:
            return self.functions[name]
        return f"{self.builtins}.{name}" if name in self.arguments.values() else name


def condition(tree: Typed, names: ConditionNames) -> str:
    """A condition, which has no mistakes, as an expression."""
    return write(_in_python(tree, names))


def _in_python(tree: Typed, names: ConditionNames) -> Expression:
    node = tree.node
    if isinstance(node, nodes.Name):
        return _name(node.text, names)
    parts = [_in_python(part, names) for part in tree.parts]
    match node:
        case nodes.Binary("==" | "!=") if any(part.kind.is_list for part in tree.parts):
            as_tuple = nodes.Name(names.function(_AS_TUPLE))
            left, right = (nodes.Call(as_tuple, (part,)) for part in parts)
            return nodes.Binary(node.operator, left, right)
        case nodes.Member(_, name):
            return names.asked(name, parts[0], ()) or nodes.rebuild(node, parts)
        case nodes.Literal(text) if text[0] in "\"'":
            return nodes.Literal(literal(text[1:-1]))
        case nodes.Call(nodes.Member(_, name)):
            return names.asked(name, parts[0], parts[1:]) or nodes.rebuild(node, parts)
        case nodes.Call(nodes.Name(name)):
            return _called(name, parts, names)
    return nodes.rebuild(node, parts)


def _name(text: str, names: ConditionNames) -> Expression:
    if text in names.arguments:
        return nodes.Name(names.arguments[text])
    if text in TRUTH:
        return nodes.Name(text.capitalize())
    return nodes.Name(names.constant(FIRST_NAMES.get(text, text)))


def _called(name: str, parts: Sequence[Expression], names: ConditionNames) -> Expression:
    if name in _AS_OPERATORS:
        return nodes.Binary(_AS_OPERATORS[name], *parts)
    if name == "default":
        is_there = nodes.Call(nodes.Member(parts[0], "defined"), ())
        return nodes.Conditional(is_there, *parts)
    return nodes.Call(nodes.Name(names.function(name)), tuple(parts))
