"""What a function of a module does, as text that two versions can be compared by.

It is the code of the function and of what it names at the top level of its module. Docstrings, comments and annotations
change nothing, so they are left out. What comes from other modules is compared by the import alone.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any

from torchgen_lite.loader.python.kernel_modules import KernelModule, is_compound, statements_of

_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_WITH_DOC = (*_FUNCTIONS, ast.ClassDef)


def code_of(module: KernelModule, name: str) -> str:
    """The code of a function and of what it needs, in an order that does not depend on that of the module."""
    defined = _read(module.source.text)
    reached = {}
    waiting = [name]
    while waiting:
        needed = waiting.pop()
        if needed in reached or needed not in defined:
            continue
        reached[needed] = defined[needed]
        for statement in defined[needed]:
            waiting += _names(statement)
    code: list[str] = []
    for key in sorted(reached):
        code += map(ast.unparse, reached[key])
    return "\n".join(code)


@lru_cache(maxsize=256)
def _read(text: str) -> Mapping[str, list[ast.stmt]]:
    """The statements that define each name at the top level; none if the module cannot be read."""
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return {}
    defined: dict[str, list[ast.stmt]] = {}
    for statement in statements_of(tree.body):
        if is_compound(statement):
            continue  # What is in it follows.
        plain: ast.stmt = _Plain().visit(statement)
        for name in defined_by(plain):
            defined.setdefault(name, []).append(plain)
    return defined


class _Plain(ast.NodeTransformer):
    """Leaves out what changes nothing."""

    def visit(self, node: ast.AST) -> Any:
        node = super().visit(node)
        if isinstance(node, _WITH_DOC):
            node.body = _without_doc(node.body)
        if isinstance(node, _FUNCTIONS):
            node.returns = None
        if isinstance(node, ast.arg):
            node.annotation = None
        return node


def _without_doc(body: Sequence[ast.stmt]) -> list[ast.stmt]:
    first = body[0]
    value = first.value if isinstance(first, ast.Expr) else None
    has_doc = isinstance(value, ast.Constant) and isinstance(value.value, str)
    return [*body[1:]] or [ast.Pass()] if has_doc else [*body]


def defined_by(statement: ast.stmt) -> Iterator[str]:
    """The names that a statement binds."""
    if isinstance(statement, _WITH_DOC):
        yield statement.name
        return
    if isinstance(statement, (ast.Import, ast.ImportFrom)):
        for alias in statement.names:
            yield alias.asname or alias.name.partition(".")[0]
        return
    for part in ast.walk(statement):
        if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store):
            yield part.id


def _names(statement: ast.stmt) -> list[str]:
    return [part.id for part in ast.walk(statement) if isinstance(part, ast.Name)]
