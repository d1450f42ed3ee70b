"""Reads the keys and kernels of a registration."""

from __future__ import annotations

import re
from typing import NamedTuple

from tree_sitter import Node

from torchgen_lite.loader.entry.dispatch_table import key_names
from torchgen_lite_tools.importing.cpp_tree import CppTree, arguments, called

# Calls whose one argument is the kernel.
_WRAPPERS = frozenset({"TORCH_FN", "TORCH_BOX", "CppFunction", "makeUnboxedOnly", "static_cast"})
# And those of C++, of an argument that a function passes on.
_WRAPPERS |= {"forward", "move"}
# And those of pybind11.
_WRAPPERS |= {"overload_cast", "wrap_pybind_function", "wrap_pybind_function_no_gil"}
_NAMES = frozenset({"identifier", "qualified_identifier", "template_function", "field_expression"})
_FUNCTIONS = frozenset({"identifier", "qualified_identifier"})
_AROUND = frozenset({"parenthesized_expression", "pointer_expression"})
BOXED = "a boxed kernel does not take the operator's arguments"


class Kernel(NamedTuple):
    """The function's name, and the key if the expression has one; or why they can't be read, such as that it is a
    `function` without a name."""

    name: str = ""
    key: str = ""
    problem: str = ""
    function: Node | None = None


def read_key(text: str) -> str | None:
    """The dispatch key that an expression names, or None.

    `CPU`, `torch::kCUDA`, `c10::DispatchKey::Meta` and `at::DeviceType::XPU` name keys.

    >>> read_key("torch::kCUDA"), read_key("c10::DispatchKey::AutogradCPU"), read_key("key")
    ('CUDA', 'AutogradCPU', None)
    """
    word = text.strip().rpartition("::")[2]
    names = key_names("")
    return names.get(word) or (names.get(word[1:]) if word.startswith("k") else None)


def read_kernel(tree: CppTree, node: Node) -> Kernel:
    """The kernel that an expression gives."""
    key = problem = ""
    while not problem:
        node = _only_call(tree, node) or node
        if node.type in _NAMES:
            return Kernel(re.sub(r"\s+", "", tree.of(node)), key)
        name = called(tree, node)
        given = arguments(node)
        if node.type in _AROUND and node.named_children:
            node = node.named_children[-1]
        elif name in _WRAPPERS and len(given) == 1:
            node = given[0]
        elif name == "dispatch" and len(given) == 2:
            dispatch_key = read_key(tree.of(given[0]))
            if dispatch_key:
                problem = ""
            else:
                problem = f"`{tree.of(given[0])}` is not a dispatch key"
            key = key or dispatch_key or ""
            node = given[1]
        else:
            problem = _problem(node, name)
    function = node if node.type == "lambda_expression" else None
    return Kernel("", key, problem, function)


def _only_call(tree: CppTree, node: Node) -> Node | None:
    """The name of the function that a lambda `[] { return f(); }` stands for; None for anything else."""
    body = node.child_by_field_name("body")
    if node.type != "lambda_expression" or body is None or node.child_by_field_name("declarator"):
        return None
    is_plain = tree.of(node).startswith("[]") and body.named_child_count == 1
    returned = body.named_children[0].named_children if is_plain else []
    if len(returned) != 1 or body.named_children[0].type != "return_statement":
        return None
    name = returned[0].child_by_field_name("function")
    if name is None or arguments(returned[0]) or name.type not in _FUNCTIONS:
        return None
    return name


def _problem(node: Node, name: str) -> str:
    if node.type == "lambda_expression":
        return "a lambda has no name"
    if name == "makeFallthrough":
        return "a fallthrough is not a kernel"
    if name.startswith("makeFromBoxed"):
        return BOXED
    return "this is not the name of a function"
