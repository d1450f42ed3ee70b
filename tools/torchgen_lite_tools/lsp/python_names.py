"""Where Python modules name a function that entries name, and its parameters."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TypeGuard

from torchgen_lite.diagnostics import Source, Span
from torchgen_lite.loader.python.kernel_modules import KernelModule, statements_of
from torchgen_lite_tools.lsp.analysis import Analysis
from torchgen_lite_tools.lsp.names import Scope
from torchgen_lite_tools.lsp.sources import PYTHON, written_sources

_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
_DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


def scopes_of_function(analysis: Analysis, name: str) -> Iterator[Scope]:
    """The module that defines a function, and the project's files that import it from there."""
    module = module_of(analysis, name)
    if module is None:
        return
    last = name.rpartition(".")[2]
    yield _whole(module.source, _in_own_module(module.source, last))
    for source in written_sources(analysis, PYTHON):
        if source.path != module.source.path and last in source.text:
            names = tuple(_where_imported(source, module.name, last))
            if names:
                yield _whole(source, names)


def scopes_of_parameter(analysis: Analysis, function: str, name: str) -> Iterator[Scope]:
    """The function, if it has the parameter."""
    module = module_of(analysis, function)
    if module is None:
        return
    source = module.source
    for node in _definitions(source, function.rpartition(".")[2]):
        if isinstance(node, ast.ClassDef):
            continue
        nodes: list[ast.AST] = [arg for arg in ast.walk(node.args) if _is_parameter(arg, name)]
        if not nodes:
            continue
        nodes += _uses(ast.Module(node.body, []), name)
        names = [span_of(source, named, len(name)) for named in nodes]
        begin = span_of(source, node, 0).start
        whole = Span(source, begin, _end(source, node))
        yield Scope(whole, tuple(names))


def module_of(analysis: Analysis, name: str) -> KernelModule | None:
    for index in analysis.program.indexes:
        module = index.module_of(name)
        if module:
            return module
    return None


def _whole(source: Source, names: Iterator[Span] | tuple[Span, ...]) -> Scope:
    return Scope(Span(source, 0, len(source.text)), tuple(names))


def _in_own_module(source: Source, name: str) -> Iterator[Span]:
    for definition in _definitions(source, name):
        definition_start = span_of(source, definition, 0).start
        # Behind `def` or `class`; a name has no other place there.
        after_word = source.text.index(" ", definition_start)
        start = source.text.index(name, after_word)
        yield Span(source, start, start + len(name))
    for use in _uses(ast.parse(source.text), name):
        yield span_of(source, use, len(name))


def _definitions(
    source: Source, name: str
) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef]:
    """The functions and classes of this name that a module defines."""
    for statement in statements_of(ast.parse(source.text).body):
        if isinstance(statement, _DEFINITIONS) and statement.name == name:
            yield statement


def _where_imported(source: Source, module: str, name: str) -> Iterator[Span]:
    """`from module import name` and its uses, and `module.name`, whatever the file calls the module."""
    try:
        tree = ast.parse(source.text)
    except SyntaxError:
        return
    called = set(_names_of_module(tree, module))
    is_imported = False
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and _is_from(node, module):
            for alias in node.names:
                if alias.name == "*":
                    is_imported = True
                elif alias.name == name:
                    keeps_name = alias.asname is None
                    is_imported |= keeps_name
                    yield span_of(source, alias, len(name))
        elif _is_member(node, name) and ast.unparse(node.value) in called:
            end = _end(source, node)
            yield Span(source, end - len(name), end)
    if is_imported:
        for use in _uses(tree, name):
            yield span_of(source, use, len(name))


def _is_from(node: ast.ImportFrom, module: str) -> bool:
    if node.level:
        return f".{module}".endswith(f".{node.module}")
    return node.module == module


def _is_member(node: ast.AST, name: str) -> TypeGuard[ast.Attribute]:
    return isinstance(node, ast.Attribute) and node.attr == name


def _names_of_module(tree: ast.AST, module: str) -> Iterator[str]:
    """What a file calls a module that it imports: `mylib.kernels`, `kernels`, or another name."""
    package, _, last = module.rpartition(".")
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from _names_of(node.names, module)
        elif isinstance(node, ast.ImportFrom):
            # `from . import kernels` names no package.
            is_package = node.module is None or _is_from(node, package)
            if is_package:
                yield from _names_of(node.names, last)


def _names_of(aliases: list[ast.alias], module: str) -> Iterator[str]:
    for alias in aliases:
        if alias.name == module:
            yield alias.asname or module


def _uses(tree: ast.AST, name: str) -> Iterator[ast.Name]:
    """Where a name is used, but for functions inside that have a parameter or a variable called so."""
    for child in ast.iter_child_nodes(tree):
        if isinstance(child, ast.Name) and child.id == name:
            yield child
        has_its_own = isinstance(child, _FUNCTIONS) and _binds(child, name)
        if not has_its_own:
            yield from _uses(child, name)


def _is_parameter(node: ast.AST, name: str) -> bool:
    return isinstance(node, ast.arg) and node.arg == name


def _binds(function: ast.AST, name: str) -> bool:
    for node in ast.walk(function):
        if _is_parameter(node, name):
            return True
        if isinstance(node, ast.Name) and node.id == name and isinstance(node.ctx, ast.Store):
            return True
    return False


def span_of(source: Source, node: ast.AST, length: int) -> Span:
    start = _offset(source, node.lineno, node.col_offset)  # type: ignore[attr-defined]
    return Span(source, start, start + length)


def _end(source: Source, node: ast.AST) -> int:
    return _offset(source, node.end_lineno, node.end_col_offset)  # type: ignore[attr-defined]


def _offset(source: Source, line: int, column: int) -> int:
    """The offset of a line and a column in bytes of UTF-8, which Python counts."""
    before = source.line_text(line).encode("utf-8")[:column]
    return source.line_start(line) + len(before.decode("utf-8"))
