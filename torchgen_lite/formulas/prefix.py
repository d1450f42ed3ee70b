"""The prefix `torch.` of functions and dtypes, which every expression may have and leave out.

    torch.where(m, grad, torch.zeros_like(grad))     where(m, grad, zeros_like(grad))
    torch.randn(3, dtype=torch.float64)              randn(3, dtype=float64)

Both are one tree, so that everything that is made of it is the same: without the prefix in formulas, fakes and samples,
and with it in references, which are Python. What calls PyTorch's function by the prefix knows
that it does (`Name.is_torchs`): a function of the author's with this name is not meant.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Collection
from dataclasses import replace

from torchgen_lite.formulas import model as nodes
from torchgen_lite.formulas.language import DTYPES
from torchgen_lite.formulas.model import Expression
from torchgen_lite.schema.defaults import ENUMERATORS

TORCH = "torch"
WORDS = DTYPES | frozenset(ENUMERATORS["MemoryFormat"])
"""What the module `torch` has besides functions that expressions may name."""

# The prefix at the beginning of a name. A string has none.
_PREFIX = re.compile(
    rf"""(?P<string>"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*')|(?<![\w.>:]){TORCH}\s*\.\s*(?=\w)"""
)


def without_prefix(tree: Expression, taken: Collection[str] = ()) -> Expression:
    """The tree in which functions and dtypes have their plain names. `taken` are names with a meaning of their own."""
    if TORCH in taken:
        return tree
    match tree:
        case nodes.Call(nodes.Member(nodes.Name("torch"), name, False) as function):
            arguments = [without_prefix(argument, taken) for argument in tree.arguments]
            keywords = [(key, without_prefix(value, taken)) for key, value in tree.keywords]
            plain = nodes.Name(name, span=function.span, is_torchs=True)
            return replace(
                tree, function=plain, arguments=tuple(arguments), keywords=tuple(keywords)
            )
        case nodes.Member(nodes.Name("torch"), name, False) if name in WORDS and name not in taken:
            return nodes.Name(name, span=tree.span)
    return nodes.mapped(tree, lambda child: without_prefix(child, taken))


def text_without_prefix(text: str) -> str:
    """The text of a formula whose prefixes are left out.

    >>> text_without_prefix("grad * torch.where(m, x, y)")
    'grad * where(m, x, y)'
    """
    return _PREFIX.sub(lambda match: match["string"] or "", text)


def with_prefix(tree: ast.expr, functions: Collection[str], taken: Collection[str]) -> ast.expr:
    """The expression of Python in which these functions of PyTorch, and its dtypes, have the prefix. `taken` are names
    with a meaning of their own."""
    changed: ast.expr = _WithPrefix(functions, taken).visit(tree)
    return changed


class _WithPrefix(ast.NodeTransformer):
    def __init__(self, functions: Collection[str], taken: Collection[str]) -> None:
        self.functions = functions
        self.taken = taken

    def visit_Call(self, node: ast.Call) -> ast.Call:
        function = node.func
        self.generic_visit(node)
        if isinstance(function, ast.Name) and function.id in self.functions:
            node.func = self._prefixed(function)
        return node

    def visit_Name(self, node: ast.Name) -> ast.expr:
        return self._prefixed(node) if node.id in WORDS else node

    def _prefixed(self, name: ast.Name) -> ast.expr:
        if name.id in self.taken:
            return name
        torch = ast.copy_location(ast.Name(TORCH, ast.Load()), name)
        return ast.copy_location(ast.Attribute(torch, name.id, ast.Load()), name)
