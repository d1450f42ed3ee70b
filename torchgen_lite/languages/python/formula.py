"""A derivative formula in Python.

    grads[0].defined() ? where(self >= 0, grads[0], weight) : zeros_like(self)

is `_functions.where(self >= 0, grads[0], weight) if grads[0] is not None else zeros_like(self)`, where the
functions of the package and the helpers come from modules. First `in_python` puts Python's names into the tree,
then the tree is written.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import replace
from keyword import iskeyword
from typing import NamedTuple

from torchgen_lite.analysis.differentiability.calls import Missing, Speech
from torchgen_lite.formulas import model as nodes
from torchgen_lite.formulas.callees import Callee
from torchgen_lite.formulas.facts import Fact, Saved
from torchgen_lite.formulas.kinds import SCALAR, Kind, Sort
from torchgen_lite.formulas.model import called_name, children, rebuild
from torchgen_lite.formulas.operands import is_nonzero
from torchgen_lite.formulas.tree import Typed
from torchgen_lite.languages.python.names import identifier
from torchgen_lite.loader.torch.functions import functions_of_torch

_CONSTANTS = {text: text.capitalize() for text in nodes.CONSTANTS}
_OPERATORS = {"&&": "and", "||": "or"}
# Python's levels: comparisons bind looser than `|`, unlike in C++.
_LEVELS = {
    "or": 2,
    "and": 3,
    **dict.fromkeys(("==", "!=", "<", ">", "<=", ">=", "is not"), 5),
    "|": 6,
    "^": 7,
    "&": 8,
    **dict.fromkeys("+-", 9),
    **dict.fromkeys(("*", "/", "//", "%"), 10),
}
METHODS = {
    **dict.fromkeys(("sizes", "sym_sizes", "sym_size"), "size"),
    **dict.fromkeys(("strides", "sym_strides"), "stride"),
    "sym_numel": "numel",
}
"""Methods of a tensor that have another name than in C++."""
ATTRIBUTES = {"layout": "layout", "scalar_type": "dtype"}
"""Those that are attributes."""
# Functions for arithmetic of numbers that Python's operators do in another way.
ARITHMETIC = {"%": "remainder", "/": "quotient"}
# The tensor options, of which C++ makes one argument.
_OPTIONS = {Sort.dtype: "dtype", Sort.layout: "layout", Sort.device: "device"}
_SYNTAX = nodes.Syntax(
    _LEVELS,
    {"not ": 4, **dict.fromkeys("-+~*", 11)},
    "{1} if {0} else {2}",
    arrow=".",
    brackets=("[", "]"),
    # Python chains comparisons.
    is_unclear=lambda outer, inner: _LEVELS[outer] == _LEVELS[inner] == _LEVELS["is not"],
)


def readings(*, prefix: str, ndim: str) -> dict[Fact, str]:
    """How facts about a tensor are read when a call is recorded, where its attributes have that `prefix`."""
    dtypes, shapes = (f"[_t.{prefix}{name} for _t in {{0}}]" for name in ("dtype", "shape"))
    dtype = f"{{0}}.{prefix}dtype"
    shape = f"{{0}}.{prefix}shape"
    return {
        Fact.args_scalartypes: dtypes,
        **dict.fromkeys((Fact.args_sizes, Fact.args_sizes_symint), shapes),
        Fact.device: f"{{0}}.{prefix}device",
        **dict.fromkeys((Fact.dim, Fact.ndim), ndim),
        **dict.fromkeys((Fact.dtype, Fact.scalar_type), dtype),
        Fact.layout: "{0}.layout",
        **dict.fromkeys((Fact.numel, Fact.sym_numel), "{0}.numel()"),
        **dict.fromkeys((Fact.shape, Fact.sym_sizes), shape),
        Fact.size: f"{shape}[{{1}}]",
    }


class FormulaNames(NamedTuple):
    """A target's names for formula functions, for the `arithmetic` of numbers, and for saved values (None
    where the formula is computed), its conjugate of a value, the operator that a call means, and what it calls `len`.
    """

    function: Callable[[str], str]
    arithmetic: Callable[[str], str]
    saved: Callable[[Saved], nodes.Expression | None]
    conjugate: Callable[[nodes.Expression, Kind], nodes.Expression]
    callee: Callable[[Typed], Callee | None] = lambda call: call.operator
    length: str = "len"


def in_python(tree: Typed, words: FormulaNames) -> nodes.Expression:
    local = None
    if tree.saved is not None:
        local = words.saved(tree.saved)
    if local is not None:
        return local
    node = tree.node
    if isinstance(node, nodes.Name):
        return nodes.Name(_CONSTANTS.get(node.text) or identifier(node.text))
    parts = [in_python(part, words) for part in tree.parts]
    for at in _floats(node, tree.parts):
        parts[at] = nodes.Call(nodes.Name(words.arithmetic("real_number")), (parts[at],))
    if isinstance(node, nodes.Binary) and node.operator in _OPERATORS:
        parts = [_truth(written, part.kind) for written, part in zip(parts, tree.parts)]
    if isinstance(node, nodes.Binary) and _is_cpps(node, tree.parts):
        return nodes.Call(nodes.Name(words.arithmetic(ARITHMETIC[node.operator])), tuple(parts))
    if not isinstance(node, nodes.Call):
        return rebuild(node, parts)
    if is_method(node, "conj"):
        return words.conjugate(parts[0], tree.parts[0].kind)
    if is_method(node, "size") and tree.parts[0].kind.is_list:
        return nodes.Call(nodes.Name(words.length), (parts[0],))
    if isinstance(node.function, nodes.Member) and tree.operator is None and not node.keywords:
        name = node.function.name
        if name in ATTRIBUTES and not node.arguments:
            return nodes.Member(parts[0], ATTRIBUTES[name])
        node = replace(node, function=replace(node.function, name=METHODS.get(name, name)))
    called = called_name(node)
    node = _with_keywords(node, words.callee(tree), tree.kinds)
    node = replace(node, keywords=tuple([(identifier(n), value) for n, value in node.keywords]))
    if called is not None:
        node = replace(node, function=nodes.Name(words.function(called)))
    return rebuild(node, parts)


def speech(known: Collection[str]) -> Speech:
    """What formulas may call in Python: functions that are `known`, and those of PyTorch."""
    torch = functions_of_torch()

    def missing(written: str, call: nodes.Call) -> Missing:
        who = "neither a module of `formulas` nor PyTorch has"
        advice = f"define it in a module of `formulas`: `{_definition(written, call)}`"
        return Missing(who, "torch.", advice, (lambda: known, lambda: torch.torch))

    return Speech(
        ("Python",),
        torch.python_methods.union(METHODS, ATTRIBUTES, ["defined"]),
        torch.torch.__contains__,
        known,
        # `check_formulas` reports these.
        skips=lambda name: iskeyword(name) or is_of_cpp(name, is_called=True),
        missing=missing,
    )


def _definition(name: str, call: nodes.Call) -> str:
    """The first line of a function that this call fits: `def f(grad, arg1, *, eps): ...`."""
    parameters: list[str] = []
    for number, value in enumerate(call.arguments):
        shown = identifier(value.text) if isinstance(value, nodes.Name) else ""
        is_free = shown.isidentifier() and shown not in parameters
        parameters.append(shown if is_free else f"arg{number}")
    if call.keywords:
        parameters.append("*")
    parameters += [identifier(key) for key, _ in call.keywords]
    return f"def {name}({', '.join(parameters)}): ..."


def is_of_cpp(name: str, *, is_called: bool) -> bool:
    """Whether a name has no meaning outside of C++. `at::sin(x)` is PyTorch's function in both languages; in any other
    namespace there is a function of C++, which is no operator.
    """
    return "<" in name or ("::" in name and not (is_called and name.startswith("at::")))


def _truth(operand: nodes.Expression, kind: Kind) -> nodes.Expression:
    """An operand of `and` or `or`, which give one of their operands in Python, as the boolean that C++ makes of it."""
    if not kind.is_number or kind.sort is Sort.bool:
        return operand
    return nodes.Binary("!=", operand, nodes.Literal("0"))


def _floats(node: nodes.Expression, parts: Sequence[Typed]) -> Iterator[int]:
    """The operands that are a `Scalar`, of which C++ takes the float."""
    sides = [part.kind.present for part in parts]
    is_test = isinstance(node, nodes.Conditional) or getattr(node, "operator", "") == "!"
    if is_test:
        sides = sides[:1]
    elif not isinstance(node, nodes.Binary) or not all(kind.is_number for kind in sides):
        return
    for at, kind in enumerate(sides):
        if kind == SCALAR:
            yield at


def _is_cpps(node: nodes.Binary, sides: Sequence[Typed]) -> bool:
    """Whether C++ computes numbers in another way: with infinity instead of an exception, or
    rounded toward zero. A divisor that is written out is not zero."""
    if node.operator not in ARITHMETIC or not all(side.kind.present.is_number for side in sides):
        return False
    return node.operator == "%" or not is_nonzero(node.right)


def _with_keywords(
    node: nodes.Call,
    operator: Callee | None,
    kinds: Sequence[Kind],
) -> nodes.Call:
    """The call with names for keyword-only arguments, which C++ takes by position."""
    if operator is None:
        return node
    count = len(operator.func.positional)
    written = count - isinstance(node.function, nodes.Member)
    given = node.arguments[:written]
    behind = node.arguments[written:]
    end = count + len(behind)
    places = operator.by_position(end)[count:end]
    # Behind sizes, which may be spread, no place is known, and the kind of a value tells its name.
    places += (None,) * (len(behind) - len(places))
    names = []
    for place, kind in zip(places, kinds[count:end]):
        names.append(_OPTIONS.get(kind.sort, "") if place is None else place.name)
    if "" in names:
        return node
    return replace(node, arguments=given, keywords=(*zip(names, behind), *node.keywords))


def is_method(node: nodes.Call, name: str) -> bool:
    """Whether this is `x.name()`."""
    function = node.function
    return isinstance(function, nodes.Member) and function.name == name and not node.arguments


def write(node: nodes.Expression) -> str:
    """An expression with Python's names."""
    return nodes.write(_with_operators(node), _SYNTAX)


def _with_operators(node: nodes.Expression) -> nodes.Expression:
    """The expression with Python's operators, one of which asks whether something is defined."""
    parts = [_with_operators(child) for child in children(node)]
    node = rebuild(node, parts)
    match node:
        case nodes.Binary(operator):
            return replace(node, operator=_OPERATORS.get(operator, operator))
        case nodes.Unary("!"):
            return replace(node, operator="not ")
        case nodes.ListDisplay():
            return replace(node, type="")
        case nodes.Call() if is_method(node, "defined"):
            return nodes.Binary("is not", parts[0], nodes.Name("None"))
    return node
