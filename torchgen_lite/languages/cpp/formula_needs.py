"""What C++ lacks of a formula, and what it needs: functions and headers."""

from __future__ import annotations

from collections.abc import Iterator

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


def unsayable(tree: Typed, functions: Functions) -> Iterator[tuple[nodes.Expression, str, str]]:
    """The parts of a formula without a C++ equivalent, each with the problem and a remedy."""
    node = tree.node
    operator = tree.operator
    if tree.saved is not None:
        return
    if isinstance(node, nodes.Member) and not node.arrow and node.name not in ATTRIBUTES:
        yield node, f"C++ has no attribute `{node.name}` of a tensor", ""
    if isinstance(node, nodes.Call):
        is_own = tree.calls_own
        name = ""
        if isinstance(node.function, nodes.Name):
            name = node.function.text
        if name in functions.python and not is_own and not functions.has_headers:
            yield node, f"`{name}` is a function of Python", ""
        known = set(names_of(operator.func.arguments)) if operator is not None else set()
        for key, value in node.keywords:
            if key in known or (not is_own and key in OPTIONS):
                continue
            if operator is None:
                hint = "pass arguments by position, or declare the operator in the schema file"
                hint = "write it by position" if isinstance(node.function, nodes.Member) else hint
                yield value, f"C++ has no keyword arguments, such as `{key}`", hint
            else:
                yield value, f"no overload of `{operator.func.full_name}` takes this", ""
    if isinstance(node, (nodes.Conditional, nodes.Subscript)):
        sides = (node.value,) if isinstance(node, nodes.Subscript) else (node.yes, node.no)
        for side in sides:
            if isinstance(side, nodes.ListDisplay) and not side.type:
                yield side, "C++ gives a list in brackets no type here", "choose between its items"
    for part in tree.parts:
        yield from unsayable(part, functions)
