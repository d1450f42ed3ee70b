"""What stands for a key, and what for a kernel, in a registration."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from torchgen_lite.loader.dispatch_table import key_names
from torchgen_lite.loader.importing.cpp_tree import CppTree, arguments

if TYPE_CHECKING:
    from tree_sitter import Node

# Calls whose one argument is the kernel.
_WRAPPERS = frozenset({"TORCH_FN", "TORCH_BOX", "CppFunction", "makeUnboxedOnly", "static_cast"})
_NAMES = frozenset({"identifier", "qualified_identifier", "template_function", "field_expression"})


class Kernel(NamedTuple):
    """The function as it is named, the key if the expression has one; or why it cannot be said."""

    name: str = ""
    key: str = ""
    problem: str = ""


def read_key(text: str) -> str | None:
    """The dispatch key of `CPU`, `torch::kCUDA`, `c10::DispatchKey::Meta`, `at::DeviceType::XPU`; None for others.

    >>> read_key("torch::kCUDA"), read_key("c10::DispatchKey::AutogradCPU"), read_key("key")
    ('CUDA', 'AutogradCPU', None)
    """
    word = text.strip().rpartition("::")[2]
    names = key_names("")
    return names.get(word) or (names.get(word[1:]) if word.startswith("k") else None)


def read_kernel(tree: CppTree, node: Node) -> Kernel:
    """The kernel that an expression gives."""
    if node.type == "parenthesized_expression" and node.named_child_count == 1:
        return read_kernel(tree, node.named_children[0])
    if node.type == "pointer_expression":
        return read_kernel(tree, node.named_children[-1])
    if node.type == "lambda_expression":
        return Kernel(problem="a lambda has no name")
    if node.type == "call_expression":
        return _read_call(tree, node)
    if node.type in _NAMES:
        return Kernel(re.sub(r"\s+", "", tree.of(node)))
    return Kernel(problem="this is not the name of a function")


def _read_call(tree: CppTree, node: Node) -> Kernel:
    function = re.sub(r"\s+", "", tree.of(node.child_by_field_name("function")))
    last = re.sub(r"<.*>", "", function).rpartition("::")[2]
    given = arguments(node)
    if last in _WRAPPERS and len(given) == 1:
        return read_kernel(tree, given[0])
    if last == "dispatch" and len(given) == 2:
        key = read_key(tree.of(given[0]))
        if key is None:
            return Kernel(problem=f"`{tree.of(given[0])}` is no dispatch key")
        return read_kernel(tree, given[1])._replace(key=key)
    if last == "makeFallthrough":
        return Kernel(problem="a fallthrough is no kernel")
    if last.startswith("makeFromBoxed"):
        return Kernel(problem="a boxed kernel has not the operator's arguments")
    return Kernel(problem="this is not the name of a function")
