"""Where Python calls an operator or its kernels with an argument by keyword, and where strings name a function."""

from __future__ import annotations

import ast
import re
from collections.abc import Collection, Iterator

from torchgen_lite.diagnostics import Source, Span
from torchgen_lite_tools.lsp.analysis import Analysis, find_operator
from torchgen_lite_tools.lsp.names import Named, Scope
from torchgen_lite_tools.lsp.python_names import module_of, span_of
from torchgen_lite_tools.lsp.sources import PYTHON, written_sources


def scopes_of_keyword(
    analysis: Analysis, named: Named, functions: Collection[str]
) -> Iterator[Scope]:
    """`s=` in `mylib.muladd(a, b, s=2.0)`, where `mylib` is a package of the project, or `torch.ops.mylib`."""
    operator = find_operator(analysis, named.operator, named.operator)
    if operator is None:
        return
    base = operator.schema.base_name
    called = {base, *(function.rpartition(".")[2] for function in functions)}
    in_torch = f"torch.ops.{operator.function.namespace}.{base}"
    packages = _packages(analysis)
    for source in written_sources(analysis, PYTHON):
        if named.name not in source.text:
            continue
        tree = _parsed(source)
        known = _known_names(tree)
        for function in functions:
            module = module_of(analysis, function)
            if module is not None and module.source.path == source.path:
                last = function.rpartition(".")[2]
                known[last] = f".{last}"
        for call in ast.walk(tree):
            if not isinstance(call, ast.Call):
                continue
            path = _path(call.func, known)
            package, _, rest = path.partition(".")
            is_ours = package in packages and rest.rpartition(".")[2] in called
            is_torchs = f"{path}.".startswith(f"{in_torch}.")
            if is_ours or is_torchs:
                for keyword in call.keywords:
                    if keyword.arg == named.name:
                        span = span_of(source, keyword, len(named.name))
                        yield Scope(span, (span,))


def strings_that_name(analysis: Analysis, name: str) -> Iterator[Span]:
    """`"muladd"` in files that import the module which defines the function, and `"mylib.kernels.muladd"` in any."""
    module = module_of(analysis, name)
    if module is None:
        return
    last = name.rpartition(".")[2]
    whole = (f"{module.name}.{last}", f"{module.name}:{last}")
    for source in written_sources(analysis, PYTHON):
        if last not in source.text:
            continue
        tree = _parsed(source)
        is_near = source.path == module.source.path or _imports(tree, module.name)
        for node in ast.walk(tree):
            is_whole = isinstance(node, ast.Constant) and node.value in whole
            is_word = isinstance(node, ast.Constant) and node.value == last
            if is_whole or (is_word and is_near):
                yield span_of(source, node, 1)


def _packages(analysis: Analysis) -> set[str]:
    """The packages of the project, of which one is without a name: that of `from . import kernels`."""
    names = {""}
    for index in analysis.program.indexes:
        names.update(module.name.partition(".")[0] for module in index.modules)
    for options in analysis.program.config.target_options.values():
        names.add(str(options.get("package", "")).partition(".")[0])
    return names


def _parsed(source: Source) -> ast.Module:
    """The tree of a file; of one that is no Python, an empty one."""
    try:
        return ast.parse(source.text)
    except (SyntaxError, ValueError):
        return ast.Module([], [])


def _imports(tree: ast.Module, module: str) -> bool:
    """Whether a file imports a module, or something from it."""
    last = re.compile(rf"\b{module.rpartition('.')[2]}\b")
    for node in ast.walk(tree):
        if isinstance(node, (ast.Import, ast.ImportFrom)) and last.search(ast.unparse(node)):
            return True
    return False


def _known_names(tree: ast.Module) -> dict[str, str]:
    """What the names mean that a file imports: `k` is `mylib.kernels`; a relative import begins with a dot."""
    known = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                first = alias.name.partition(".")[0]
                known[alias.asname or first] = alias.name if alias.asname else first
        elif isinstance(node, ast.ImportFrom):
            module = "." if node.level else f"{node.module}."
            for alias in node.names:
                known[alias.asname or alias.name] = f"{module}{alias.name}"
    return known


def _path(node: ast.expr, known: dict[str, str]) -> str:
    """`mylib.kernels.muladd` for `k.muladd`; empty for what is no imported name."""
    first, dot, rest = ast.unparse(node).partition(".")
    if first not in known:
        return ""
    return f"{known[first]}{dot}{rest}"
