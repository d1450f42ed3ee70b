"""What C++ lacks of a formula, and what it needs: functions and headers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from torchgen_lite.analysis.differentiability.calls import Missing, Speech
from torchgen_lite.analysis.differentiability.vocabulary import TENSOR_METHODS
from torchgen_lite.formulas import model as nodes
from torchgen_lite.formulas.facts import BROUGHT
from torchgen_lite.formulas.tree import Typed, every_part
from torchgen_lite.languages.cpp.formula import (
    ATTRIBUTES,
    OPTIONS,
    REFLECTED,
    Functions,
    is_before_tensor,
)
from torchgen_lite.loader.torch.functions import EVERYTHING, at_header, functions_of_torch, in_at
from torchgen_lite.schema.grouped import names_of


def speech(functions: Functions) -> Speech:
    """What formulas may call in C++. What the author's headers define, only a compiler knows."""
    torch = functions_of_torch()

    def missing(written: str, call: nodes.Call) -> Missing | None:
        if "::" in written:
            return None
        who = "neither the file nor PyTorch has"
        others = torch.at
        if written in torch.torch:
            who = "PyTorch has only in Python"
            others = frozenset()
        advice = ""
        if functions.namespace:
            advice = "name a header that declares it with `formula-headers`"
        return Missing(who, "at::", advice, (functions.names, lambda: others))

    return Speech(
        ("C++",),
        torch.cpp_methods | TENSOR_METHODS,
        in_at,
        functions.python,
        functions.has_headers,
        missing=missing,
    )


def called_headers(tree: Typed, functions: Functions) -> Iterator[str]:
    """The headers of PyTorch that declare the functions which a formula calls."""
    for part in every_part(tree):
        node = part.node
        if isinstance(node, nodes.Lambda):
            yield EVERYTHING
        if isinstance(node, nodes.Binary) and is_before_tensor(node, part.kinds):
            yield at_header(REFLECTED[node.operator])
        if not isinstance(node, nodes.Call) or not isinstance(node.function, nodes.Name):
            continue
        is_ours = part.saved is not None or part.calls_own
        name = node.function.text.removeprefix("at::")
        if is_ours or name in BROUGHT or name[0].isupper():
            continue
        # Unless known to be PyTorch's, a function is the author's if they have headers.
        if in_at(name) or not functions.has_headers:
            yield at_header(name)


Unsaid = tuple[nodes.Expression, str, str]
"""A part of a formula without a C++ equivalent, the problem, and a remedy, or an empty one."""


def unsayable(tree: Typed, functions: Functions) -> Iterator[Unsaid]:
    """Those of a formula and of its parts."""
    if tree.saved is not None:
        return
    match tree.node:
        case nodes.Member(_, name, arrow) as node if not arrow and name not in ATTRIBUTES:
            yield node, f"C++ has no attribute `{name}` of a tensor", ""
        case nodes.Call() as node:
            yield from _unsayable_call(tree, node, functions)
        case nodes.Subscript(value):
            yield from _untyped([value])
        case nodes.Conditional(_, yes, no):
            yield from _untyped([yes, no])
    for part in tree.parts:
        yield from unsayable(part, functions)


def _unsayable_call(tree: Typed, node: nodes.Call, functions: Functions) -> Iterator[Unsaid]:
    function = node.function
    is_own = tree.calls_own
    may_be_pythons = not (is_own or functions.has_headers)
    if may_be_pythons and isinstance(function, nodes.Name) and function.text in functions.python:
        yield node, f"`{function.text}` is a function of Python", ""
    known = set[str]() if is_own else set(OPTIONS)
    if tree.operator is not None:
        known.update(names_of(tree.operator.func.arguments))
    for key, value in node.keywords:
        if key in known:
            continue
        if tree.operator is not None:
            yield value, f"no overload of `{tree.operator.func.full_name}` takes this", ""
            continue
        hint = "pass arguments by position, or declare the operator in the schema file"
        if isinstance(function, nodes.Member):
            hint = "write it by position"
        yield value, f"C++ has no keyword arguments, such as `{key}`", hint


def _untyped(sides: Sequence[nodes.Expression]) -> Iterator[Unsaid]:
    for side in sides:
        if isinstance(side, nodes.ListDisplay) and not side.type:
            yield side, "C++ gives a list in brackets no type here", "choose between its items"
