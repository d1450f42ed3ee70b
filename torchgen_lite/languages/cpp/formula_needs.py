"""What C++ lacks of a formula, and what it needs: functions, numbers of arguments, headers."""

from __future__ import annotations

from collections.abc import Iterator

from torchgen_lite.analysis.differentiability.vocabulary import (
    TENSOR_METHODS,
    NoMethod,
    misused,
    not_a_method,
)
from torchgen_lite.analysis.finding import Found
from torchgen_lite.formulas import model as nodes
from torchgen_lite.formulas.facts import BROUGHT
from torchgen_lite.formulas.kinds import TENSOR
from torchgen_lite.formulas.tree import Typed, every_part
from torchgen_lite.languages.cpp.formula import (
    ATTRIBUTES,
    OPTIONS,
    REFLECTED,
    Functions,
    is_before_tensor,
)
from torchgen_lite.loader.torch import functions as torch_functions


def unknown_functions(tree: Typed, functions: Functions) -> Iterator[tuple[nodes.Call, str]]:
    """The calls of functions that neither the library nor PyTorch has, each with the name. Only a
    compiler knows what the author's headers define."""
    for part in every_part(tree) if not functions.has_headers else ():
        node = part.node
        if isinstance(node, nodes.Call) and part.operator is None and part.saved is None:
            name = node.function.text if isinstance(node.function, nodes.Name) else ""
            is_known = name in BROUGHT or name in functions.python or "::" in name
            if name and not is_known and not torch_functions.in_at(name):
                yield node, name


def wrong_calls(tree: Typed, functions: Functions) -> Iterator[Found]:
    """TG323: calls of PyTorch's functions and methods with arguments that no overload takes. What the file declares is
    checked against its schema.
    """
    for part in every_part(tree):
        node = part.node
        if isinstance(node, nodes.Call) and part.operator is None and part.saved is None:
            yield from misused(part, node, _name_in_at(part, node, functions), "C++")


def unknown_methods(tree: Typed) -> Iterator[tuple[Typed, NoMethod]]:
    """The calls of methods that tensors do not have in C++."""
    methods = torch_functions.functions_of_torch().cpp_methods | TENSOR_METHODS
    for part in every_part(tree):
        if problem := not_a_method(part, "C++", methods):
            yield part, problem


def _name_in_at(call: Typed, node: nodes.Call, functions: Functions) -> str:
    """The function or method of PyTorch that is called, if it is one for sure."""
    if isinstance(node.function, nodes.Member):
        return node.function.name if call.parts[0].kind.present == TENSOR else ""
    name = node.function.text if isinstance(node.function, nodes.Name) else ""
    # What the author's headers have by a plain name, only a compiler knows.
    is_theirs = functions.has_headers or name in functions.python
    return name.removeprefix("at::") if name.startswith("at::") or not is_theirs else ""


def called_headers(tree: Typed, functions: Functions) -> Iterator[str]:
    """The headers of PyTorch that declare the functions which a formula calls."""
    for part in every_part(tree):
        node = part.node
        if isinstance(node, nodes.Lambda):
            yield torch_functions.EVERYTHING
        if isinstance(node, nodes.Binary) and is_before_tensor(node, [p.kind for p in part.parts]):
            yield torch_functions.at_header(REFLECTED[node.operator])
        if not isinstance(node, nodes.Call) or not isinstance(node.function, nodes.Name):
            continue
        is_ours = part.saved is not None or (part.operator is not None and part.operator.is_own)
        name = node.function.text.removeprefix("at::")
        if is_ours or name in BROUGHT or name[0].isupper():
            continue
        # Unless known to be PyTorch's, a function is the author's if they have headers.
        if torch_functions.in_at(name) or not functions.has_headers:
            yield torch_functions.at_header(name)


def unsayable(tree: Typed, functions: Functions) -> Iterator[tuple[nodes.Expression, str, str]]:
    """The parts of a formula without a C++ equivalent, each with the problem and a remedy."""
    node, operator = tree.node, tree.operator
    if tree.saved is not None:
        return
    if isinstance(node, nodes.Member) and not node.arrow and node.name not in ATTRIBUTES:
        yield node, f"C++ has no attribute `{node.name}` of a tensor", ""
    if isinstance(node, nodes.Call):
        own = operator is not None and operator.is_own
        name = node.function.text if isinstance(node.function, nodes.Name) else ""
        if name in functions.python and not own and not functions.has_headers:
            yield node, f"`{name}` is a function of Python", ""
        known = {a.name for a in operator.func.arguments} if operator is not None else set()
        for key, value in node.keywords:
            if key in known or (not own and key in OPTIONS):
                continue
            if operator is None:
                hint = "pass arguments by position, or declare the operator in the schema file"
                hint = "write it by position" if isinstance(node.function, nodes.Member) else hint
                yield value, f"C++ has no keyword arguments, such as `{key}`", hint
            else:
                yield value, f"no overload of `{operator.func.full_name}` takes this", ""
    if isinstance(node, (nodes.Conditional, nodes.Subscript)):
        for side in (node.value,) if isinstance(node, nodes.Subscript) else (node.yes, node.no):
            if isinstance(side, nodes.ListDisplay) and not side.type:
                yield side, "C++ gives a list in brackets no type here", "choose between its items"
    for part in tree.parts:
        yield from unsayable(part, functions)
