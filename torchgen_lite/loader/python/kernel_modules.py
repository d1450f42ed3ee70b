"""Where kernels are defined: the top-level names of Python modules and the signatures of their functions.

Modules are read but not imported.
"""

from __future__ import annotations

import ast
import os
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from pathlib import Path, PurePosixPath
from typing import Any, NamedTuple

from torchgen_lite.diagnostics import (
    Diagnostic,
    Diagnostics,
    Label,
    Source,
    Span,
    Suggestion,
    write_instead,
)
from torchgen_lite.loader.config.project import SOURCE_ROOTS
from torchgen_lite.loader.python.annotations import meanings, plain
from torchgen_lite.loader.sources import read_or_take, read_source

# What has statements of its own.
_SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


class PythonSignature(NamedTuple):
    """The parameters of a Python function, and its line, read from its source.

    `defaults` counts the positional parameters that have a default. `by_keyword` has each
    keyword-only parameter and whether it has a default. `positional_only` counts the first
    parameters that keywords can't name. `annotations` and `values` have the text of each annotation,
    of which `return` is the result's, and of each default.
    """

    name: str
    line: int
    positional: tuple[str, ...]
    defaults: int = 0
    by_keyword: tuple[tuple[str, bool], ...] = ()
    takes_more: bool = False
    takes_keywords: bool = False
    positional_only: int = 0
    annotations: Mapping[str, str] = {}
    values: Mapping[str, str] = {}

    @property
    def required(self) -> tuple[str, ...]:
        """Positional parameters without a default."""
        return self.positional[: len(self.positional) - self.defaults]


@dataclass(frozen=True, slots=True)
class KernelModule:
    """A module, and the line of each name that it defines at its top level.

    `signatures` has only functions without a decorator, because a decorator may change how a
    function is called. `others` are what gives no result when it is called, each with what it is.
    `imported` has the names that the module imports. A module that `is_open` may have other names: it
    imports `*`, or has `__getattr__`.
    """

    name: str
    source: Source
    names: Mapping[str, int]
    signatures: Mapping[str, PythonSignature] = field(default_factory=dict)
    imported: frozenset[str] = frozenset()
    others: Mapping[str, str] = field(default_factory=dict)

    @property
    def is_open(self) -> bool:
        return "*" in self.imported or "__getattr__" in self.names


@dataclass(frozen=True, slots=True)
class KernelIndex:
    """The modules that kernels come from, in the order of the configuration."""

    modules: tuple[KernelModule, ...]
    _found: dict[str, list[KernelModule]]

    def find(self, name: str) -> tuple[str, int] | None:
        """Module and line of a kernel; the first one if several modules define it."""
        module = self.module_of(name)
        return (module.name, module.names[name.rpartition(".")[2]]) if module else None

    def defines(self, name: str) -> bool:
        """Whether a module has a function of its own, not one that it imports."""
        module = self.module_of(name)
        return module is not None and name not in module.imported

    def signature(self, name: str) -> PythonSignature | None:
        """The signature of a kernel, if its source shows it."""
        module = self.module_of(name)
        return module.signatures.get(name.rpartition(".")[2]) if module else None

    def other(self, name: str) -> str:
        """What a name is that is no function with a result: "a class"; empty for a function."""
        module = self.module_of(name)
        return module.others.get(name.rpartition(".")[2], "") if module else ""

    def place(self, name: str) -> Span | None:
        """The line that defines a kernel, without surrounding white space."""
        module = self.module_of(name)
        return line_span(module.source, module.names[name.rpartition(".")[2]]) if module else None

    def module_of(self, name: str) -> KernelModule | None:
        """The module that defines a kernel; the first one if several do."""
        module, _, base = name.rpartition(".")
        return next((m for m in self._found.get(base, ()) if module in ("", m.name)), None)

    def find_all(self, name: str) -> tuple[tuple[str, int], ...]:
        """Every module that defines a name, with the line."""
        return tuple((module.name, module.names[name]) for module in self._found.get(name, ()))

    def importer(self, name: str) -> KernelModule | None:
        """The first module that imports a name that none defines."""
        if self.find(name) is not None:
            return None
        home, _, base = name.rpartition(".")
        for module in self.modules:
            if base in module.imported and home in ("", module.name):
                return module
        return None

    def names(self) -> Iterator[str]:
        """Every name that some module defines."""
        return iter(self._found)


# Where an option names no modules.
NO_FUNCTIONS = KernelIndex((), {})


def index_kernel_modules(
    modules: Iterable[str],
    root: Path,
    source_roots: Sequence[str] = SOURCE_ROOTS,
    locate: Callable[[str], Label | None] = lambda name: None,
    texts: Mapping[Path, str] = {},
) -> tuple[KernelIndex, Diagnostics]:
    """Read the named modules from the source roots, or from where Python finds their package.

    Source roots are relative to `root`. `locate` says where a module is named, for diagnostics. `texts`, by resolved
    path, replace what is on disk.
    """
    indexed = []
    diagnostics = []
    for name in modules:
        path = _module_path(name, root, source_roots)
        if path is None:
            diagnostics.append(replace(_not_found(name, source_roots), label=locate(name)))
            continue
        imported = _imported_name(name, root, source_roots)
        if imported != name:
            diagnostics.append(
                Diagnostic(
                    "TG311",
                    f"module `{name}` is imported as `{imported}`",
                    locate(name),
                    help=write_instead(name, imported),
                )
            )
            continue
        source, unread = read_or_take(path, root, texts)
        diagnostics += unread
        if source is not None:
            module, wrong = _read_module(name, source.path, source.text)
            diagnostics += wrong
            indexed.append(module)
    index: dict[str, list[KernelModule]] = {}
    for module in indexed:
        for name in module.names:
            index.setdefault(name, []).append(module)
    return KernelIndex(tuple(indexed), index), tuple(diagnostics)


def _not_found(name: str, source_roots: Sequence[str]) -> Diagnostic:
    """TG311 with the places that were searched."""
    message = f"module `{name}` was not found"
    if "/" in name or name.endswith(".py"):
        dotted = name.removeprefix("./").removesuffix(".py").strip("/").replace("/", ".")
        return Diagnostic(
            "TG311",
            message,
            help=Suggestion(f"a module, not a file: write `{dotted}`", name, dotted),
        )
    parts = name.split(".")
    if not all(part.isidentifier() for part in parts):
        message = f"`{name}` is not the name of a module"
        return Diagnostic("TG311", message, help="write it as in `import mylib.kernels`")
    path = name.replace(".", "/")
    folders = ", ".join(f"`{PurePosixPath(folder, path)}.py`" for folder in source_roots)
    return Diagnostic(
        "TG311",
        message,
        help=f"looked for {folders} and an installed package; `source-roots` names other folders",
    )


def _imported_name(name: str, root: Path, source_roots: Sequence[str]) -> str:
    """`tinyarr.kernels` for `src.tinyarr.kernels`, if `src` holds packages but is not a package."""
    for folder in source_roots:
        prefix = ".".join(PurePosixPath(folder).parts)
        is_below = prefix and name.startswith(f"{prefix}.")
        if is_below and not (root / folder / "__init__.py").exists():
            return name[len(prefix) + 1 :]
    return name


def read_constants(
    module: str, root: Path, source_roots: Sequence[str], names: Collection[str]
) -> dict[str, Any]:
    """The literals that a module assigns to `names` in annotated assignments.

    The module is not imported. Names that it does not assign are left out.
    """
    path = _module_path(module, root, source_roots)
    source = None if path is None else read_source(path, root)[0]
    assigned = ast.parse(source.text).body if source else ()
    return {
        statement.target.id: ast.literal_eval(statement.value)
        for statement in assigned
        if isinstance(statement, ast.AnnAssign) and isinstance(statement.target, ast.Name)
        if statement.value is not None and statement.target.id in names
    }


def _module_path(name: str, root: Path, source_roots: Sequence[str]) -> Path | None:
    parts = name.split(".")
    if not all(part.isidentifier() for part in parts):
        return None
    for folder in _folders(parts[0], root, source_roots):
        base = folder.joinpath(*parts)
        for candidate in (base.with_suffix(".py"), base / "__init__.py"):
            if os.path.isfile(candidate):  # A path raises if the name is too long.
                return candidate
    return None


def _folders(package: str, root: Path, source_roots: Sequence[str]) -> Iterator[Path]:
    """Where a module may be: in the project, or else where Python finds its package.

    The search imports nothing.
    """
    import importlib.util

    yield from (root / source_root for source_root in source_roots)
    try:
        spec = importlib.util.find_spec(package)
    except (ImportError, ValueError):
        return
    if spec is not None:
        places = spec.submodule_search_locations or ([spec.origin] if spec.origin else [])
        yield from (Path(place).parent for place in places)


@lru_cache(maxsize=256)
def _read_module(name: str, path: str, text: str) -> tuple[KernelModule, Diagnostics]:
    """Read a module's text.

    Results are cached, because modules rarely change between runs in one process (`--watch`, the
    language server).
    """
    source = Source(path, text)
    if text.startswith("\ufeff"):
        # Places in its first line would not be those that Python counts.
        problem = Diagnostic(
            "TG311",
            f"module `{source.path}` begins with a byte order mark",
            Label(line_span(source, 1), "here"),
            help="save it as UTF-8 without one",
        )
        return KernelModule(name, source, {}), (problem,)
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        reason = getattr(error, "msg", None) or "not readable"
        problem = Diagnostic(
            "TG311",
            f"module `{source.path}` is not Python: {reason}",
            Label(line_span(source, getattr(error, "lineno", None) or 1), "here"),
            help="correct the Python there",
        )
        return KernelModule(name, source, {}), (problem,)
    statements = list(statements_of(tree.body))
    names = dict(definition for statement in statements for definition in _definitions(statement))
    known = meanings(statements)
    signatures = {
        node.name: signature_of(node, known)
        for node in tree.body
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) and not node.decorator_list
    }
    effective = {n: s for n, s in signatures.items() if names[n] == s.line}
    imports = [node for node in statements if isinstance(node, (ast.Import, ast.ImportFrom))]
    aliases = [alias for node in imports for alias in node.names]
    imported = frozenset(alias.asname or alias.name.partition(".")[0] for alias in aliases)
    may_yield = "yield" in text
    others = {}
    for node in statements:
        if not isinstance(node, _SCOPES) or node.decorator_list:
            continue
        what = _other(node, may_yield)
        if what and names[node.name] == node.lineno:
            others[node.name] = what
    return KernelModule(name, source, names, effective, imported, others), ()


def _other(node: ast.stmt, may_yield: bool) -> str:
    """What is defined, if calling it gives something else than a result."""
    if isinstance(node, ast.ClassDef):
        return "a class"
    if isinstance(node, ast.AsyncFunctionDef):
        return "a coroutine"
    if may_yield and isinstance(node, ast.FunctionDef) and _yields(node):
        return "a generator"
    return ""


def _yields(function: ast.FunctionDef) -> bool:
    """Whether a function yields; functions and classes inside of it are others."""
    left: list[ast.AST] = [*function.body]
    while left:
        node = left.pop()
        if isinstance(node, (ast.Yield, ast.YieldFrom)):
            return True
        if not isinstance(node, (*_SCOPES, ast.Lambda)):
            left += ast.iter_child_nodes(node)
    return False


def signature_of(
    node: ast.FunctionDef | ast.AsyncFunctionDef, names: Mapping[str, str] = {}
) -> PythonSignature:
    """The signature of a function in a module whose names have these meanings in annotations."""
    arguments = node.args
    positional = [*arguments.posonlyargs, *arguments.args]
    by_keyword = list(zip(arguments.kwonlyargs, arguments.kw_defaults))
    annotated = [(a.arg, a.annotation) for a in (*positional, *arguments.kwonlyargs)]
    annotated.append(("return", node.returns))
    preset = [*zip(reversed(positional), reversed(arguments.defaults)), *by_keyword]
    return PythonSignature(
        node.name,
        node.lineno,
        tuple(argument.arg for argument in positional),
        len(arguments.defaults),
        tuple((argument.arg, default is not None) for argument, default in by_keyword),
        arguments.vararg is not None,
        arguments.kwarg is not None,
        len(arguments.posonlyargs),
        {name: plain(_text_of(node), names) for name, node in annotated if node},
        {argument.arg: _text_of(value) for argument, value in preset if value},
    )


def _text_of(node: ast.expr) -> str:
    """The text of an expression, in Python's own form. Nearly all annotations are names, which need no printer."""
    return node.id if isinstance(node, ast.Name) else ast.unparse(node)


def statements_of(body: Sequence[ast.stmt]) -> Iterator[ast.stmt]:
    """The statements outside functions and classes, also inside `if`, `try`, `with` and the like."""
    for statement in body:
        yield statement
        if not is_compound(statement):
            continue
        for block in ("body", "orelse", "finalbody"):
            yield from statements_of(getattr(statement, block, ()))
        for branches in ("handlers", "cases"):
            for branch in getattr(statement, branches, ()):
                yield from statements_of(branch.body)


def is_compound(statement: ast.stmt) -> bool:
    """Whether a statement has others in it, which run in its scope."""
    has_blocks = hasattr(statement, "body") or hasattr(statement, "cases")
    return has_blocks and not isinstance(statement, _SCOPES)


def line_span(source: Source, line: int) -> Span:
    """A line without the white space around it."""
    text = source.line_text(line)
    start = source.line_start(line) + len(text) - len(text.lstrip())
    return Span(source, start, start + max(len(text.strip()), 1))


def _definitions(statement: ast.stmt) -> Iterator[tuple[str, int]]:
    """The names that a function, class or assignment defines; imports don't count."""
    if isinstance(statement, _SCOPES):
        yield statement.name, statement.lineno
    targets: list[ast.expr] = []
    if isinstance(statement, ast.Assign):
        targets = statement.targets
    elif isinstance(statement, ast.AnnAssign) and statement.value is not None:
        targets = [statement.target]
    for target in targets:
        for part in ast.walk(target):
            if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store):
                yield part.id, part.lineno
