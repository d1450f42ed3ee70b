"""Python modules as text: what their names and constants mean. Nothing is imported, so nothing has to be installed."""

from __future__ import annotations

import ast
import builtins
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePath
from typing import NamedTuple, TypeAlias

from torchgen_lite.diagnostics import Source

Function: TypeAlias = "ast.FunctionDef | ast.AsyncFunctionDef"
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
# What gives a function some of its arguments.
PARTIAL = frozenset({"functools.partial", "partial"})
# How often one name may stand for another.
_MAX_DEPTH = 16
# How many names may stand for each other.
_MAX_MEANINGS = 16
# The number of characters of a constant.
_MAX_LENGTH = 20_000


class Placed(NamedTuple):
    """A statement that runs when the module is imported, and what has to hold for that."""

    node: ast.stmt
    conditions: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Module:
    """A module: what its names stand for, as whole names or as the expressions that are assigned to them, and its
    functions, several of which may have one name."""

    name: str
    source: Source
    statements: tuple[Placed, ...]
    imported: Mapping[str, str]
    assigned: Mapping[str, Sequence[ast.expr]]
    functions: Mapping[str, Sequence[Function]]
    others: Mapping[str, Module] = field(repr=False)
    nodes: Sequence[ast.AST] = field(repr=False)
    stars: Sequence[str] = ()
    constants: dict[int, tuple[object, object]] = field(default_factory=dict, repr=False)

    def has(self, function: Function) -> bool:
        """Whether a function keeps its name: no later one takes it, except in another branch of an `if`."""
        conditions_of = {placed.node: placed.conditions for placed in self.statements}
        conditions = conditions_of[function]
        of_this_name = self.functions[function.name]
        later = of_this_name[of_this_name.index(function) + 1 :]
        return all(_exclude_each_other(conditions, conditions_of[other]) for other in later)

    def path(self, node: ast.expr | None, seen: set[str] | None = None) -> str:
        """The whole name of `tl.custom_op`, such as `torch.library.custom_op`; "" for no name. A name that has several
        values means that of PyTorch, which other branches replace."""
        seen = set() if seen is None else seen
        node = attribute_of(node) or node
        if isinstance(node, ast.Attribute):
            before = self.path(node.value, seen)
            return before and self._origin(f"{before}.{node.attr}")
        if isinstance(node, (ast.IfExp, ast.BoolOp, ast.NamedExpr)):
            return self._path_of_pytorch(alternatives(node), seen)
        if not isinstance(node, ast.Name) or node.id in seen:
            return ""
        word = node.id
        if word in self.imported:
            return self._origin(self.imported[word])
        seen.add(word)
        of_pytorch = self._path_of_pytorch(self.assigned.get(word, ()), seen)
        if of_pytorch:
            return of_pytorch
        is_of_module = word in self.functions or word in self.assigned
        return f"{self.name}.{word}" if is_of_module else self._starred(word)

    def _path_of_pytorch(self, values: Sequence[ast.expr], seen: set[str]) -> str:
        """The name of PyTorch among several values; "" for none."""
        for value in values:
            path = self.path(value, seen)
            if path.startswith("torch."):
                return path
        return ""

    def _starred(self, word: str) -> str:
        """The whole name of one that `import *` may bring."""
        for module in self.stars:
            home = self.home(module)
            if home and word in {*home.assigned, *home.functions, *home.imported}:
                return self._origin(f"{module}.{word}")
            if module == "torch.library" and not hasattr(builtins, word):
                return f"{module}.{word}"
        return word

    def home(self, name: str) -> Module | None:
        """The given module of a whole name; one in folders without `__init__.py` is told by its path."""
        if name in self.others:
            return self.others[name]
        parts = tuple(name.split("."))
        module = self.others.get(parts[-1])
        if module is None:
            return None
        path = PurePath(module.source.path).with_suffix("")
        is_there = path.parts[-len(parts) :] == parts
        return module if is_there else None

    def assignments(self, node: ast.Name | ast.Attribute) -> Iterator[tuple[Module, ast.expr]]:
        """What is assigned to a name, each with the module where that is written."""
        module, _, word = self.path(node).rpartition(".")
        home = self if module == self.name else self.home(module)
        if home is None:
            return
        for value in home.assigned.get(word, ()):
            yield home, value

    def _origin(self, path: str) -> str:
        """The whole name of what a module passes on that imports it itself."""
        for _ in range(_MAX_DEPTH):
            module, _, word = path.rpartition(".")
            home = self.home(module)
            if home is None or word not in home.imported:
                break
            path = home.imported[word]
        return path

    def value(
        self, node: ast.expr | None, depth: int = 0
    ) -> tuple[Module, ast.expr | Function] | None:
        """What a name stands for, and the module where that is written; None if it may be several things."""
        if not isinstance(node, (ast.Name, ast.Attribute)):
            return (self, node) if node else None
        module, _, word = self.path(node).rpartition(".")
        home = self if module == self.name else self.home(module)
        if home is None or depth == _MAX_DEPTH:
            return None
        values = [*home.assigned.get(word, ()), *home.functions.get(word, ())]
        if len(values) != 1:
            return None
        value = values[0]
        if isinstance(value, ast.expr):
            return home.value(value, depth + 1)
        return (home, value)

    def constant(self, node: ast.expr | None) -> object:
        """The value of a literal, of a name for one, or of a text that is put together from them; raises ValueError."""
        home, meant = self.value(node) or (self, node)
        if id(meant) not in home.constants:
            # A text that contains itself has no value. The node is kept, as its number may be used again.
            home.constants[id(meant)] = meant, self
            home.constants[id(meant)] = meant, home._evaluated(meant)
        _, value = home.constants[id(meant)]
        if isinstance(value, Module) or len(str(value)) > _MAX_LENGTH:
            raise ValueError
        return value

    def _evaluated(self, node: ast.expr | Function | None) -> object:
        if isinstance(node, ast.JoinedStr):
            parts = [str(self.constant(part)) for part in node.values]
            return "".join(parts)
        if isinstance(node, ast.FormattedValue):
            is_plain = node.conversion < 0 and node.format_spec is None
            if is_plain:
                return self.constant(node.value)
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
            left = self.constant(node.left)
            right = self.constant(node.right)
            if isinstance(left, str) and isinstance(right, str):
                return left + right
        if isinstance(node, (ast.Tuple, ast.List, ast.Set)):
            return tuple(self.constant(part) for part in node.elts)
        if isinstance(node, ast.expr):
            return ast.literal_eval(node)
        raise ValueError


def _exclude_each_other(conditions: Sequence[str], others: Sequence[str]) -> bool:
    """Whether one of some conditions is the opposite of one of others, as in two branches of an `if`."""
    opposites = [f"not ({condition})" for condition in conditions]
    opposites_of_others = [f"not ({condition})" for condition in others]
    return any(opposite in others for opposite in opposites) or any(
        opposite in conditions for opposite in opposites_of_others
    )


def parse_module(source: Source, others: dict[str, Module]) -> Module:
    """The module of a file, which is added to the others by its name; raises what `ast.parse` raises."""
    name, is_package = _module_name(Path(source.path))
    tree = ast.parse(source.text)
    statements = tuple(_placed(tree.body, ()))
    imported = dict[str, str]()
    assigned = dict[str, list[ast.expr]]()
    functions = dict[str, list[Function]]()
    package = name.split(".")
    if not is_package:
        package.pop()
    for node, _ in statements:
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            imported |= _imported(node, package)
        elif isinstance(node, FUNCTIONS):
            functions.setdefault(node.name, []).append(node)
        for target, value in _assignments(node):
            if isinstance(target, ast.Name) and value is not None:
                assigned.setdefault(target.id, []).append(value)
    nodes = list(ast.walk(tree))
    given_by_module = {*imported, *assigned, *functions}
    for word, path in _imported_inside(nodes, package).items():
        if word not in given_by_module:
            imported[word] = path
    stars = []
    for word, path in imported.items():
        if word.startswith("*"):
            stars.append(path.removesuffix(".*"))
    module = Module(name, source, statements, imported, assigned, functions, others, nodes, stars)
    others[name] = module
    return module


def _module_name(path: Path) -> tuple[str, bool]:
    """The name under which a file is imported, as far as its packages say it, and whether it is a package."""
    is_package = path.stem == "__init__"
    parts = [] if is_package else [path.stem]
    folder = path.absolute().parent
    while (folder / "__init__.py").is_file():
        parts.insert(0, folder.name)
        folder = folder.parent
    return ".".join(parts), is_package


def _placed(body: Sequence[ast.stmt], conditions: tuple[str, ...]) -> Iterator[Placed]:
    for statement in body:
        yield Placed(statement, conditions)
        if isinstance(statement, ast.If):
            words = ast.unparse(statement.test).split()
            test = " ".join(words)
            yield from _placed(statement.body, (*conditions, test))
            yield from _placed(statement.orelse, (*conditions, f"not ({test})"))
        elif isinstance(statement, ast.With):
            yield from _placed(statement.body, conditions)
        elif isinstance(statement, ast.Try):
            yield from _placed(statement.body, conditions)
            yield from _placed(statement.orelse, conditions)
            yield from _placed(statement.finalbody, conditions)
            for handler in statement.handlers:
                yield from _placed(handler.body, (*conditions, "an exception is raised"))


def _imported(
    node: ast.Import | ast.ImportFrom, package: Sequence[str]
) -> Iterator[tuple[str, str]]:
    """What an import in a package brings: the names here, and the whole names of what they are."""
    if isinstance(node, ast.Import):
        for alias in node.names:
            first = alias.name.partition(".")[0]
            yield (alias.asname, alias.name) if alias.asname else (first, first)
        return
    parts: list[str] = []
    if node.level:
        # One dot is this package, and each more is the one around.
        parts += package[: len(package) - node.level + 1]
    if node.module:
        parts.append(node.module)
    home = ".".join(parts)
    for alias in node.names:
        # Several modules may bring all of their names.
        name = f"*{home}" if alias.name == "*" else alias.asname or alias.name
        yield name, f"{home}.{alias.name}" if home else alias.name


def _imported_inside(nodes: Sequence[ast.AST], package: Sequence[str]) -> dict[str, str]:
    """What functions import of PyTorch: these names are known in the whole module unless it gives them itself."""
    of_pytorch = dict[str, str]()
    for node in nodes:
        if not isinstance(node, (ast.Import, ast.ImportFrom)):
            continue
        path_of = dict(_imported(node, package))
        for name, path in path_of.items():
            if path.startswith("torch"):
                of_pytorch[name] = path
    return of_pytorch


def alternatives(node: ast.expr) -> Sequence[ast.expr]:
    """The expressions one of which is the value of `a if c else b`, `a or b` and `(n := a)`."""
    if isinstance(node, ast.IfExp):
        return node.body, node.orelse
    if isinstance(node, ast.BoolOp):
        return node.values
    if isinstance(node, ast.NamedExpr):
        return (node.value,)
    return ()


def attribute_of(node: ast.expr | None) -> ast.Attribute | None:
    """`a.b` for `getattr(a, "b")`."""
    if not isinstance(node, ast.Call) or len(node.args) < 2:
        return None
    is_getattr = isinstance(node.func, ast.Name) and node.func.id == "getattr"
    value, name = node.args[:2]
    if not is_getattr or not isinstance(name, ast.Constant):
        return None
    if not isinstance(name.value, str):
        return None
    attribute = ast.Attribute(value, name.value, ast.Load())
    return ast.copy_location(attribute, node)


def _assignments(node: ast.stmt) -> Iterator[tuple[ast.expr, ast.expr | None]]:
    """What a statement assigns to, and the values."""
    if isinstance(node, ast.Assign):
        for target in node.targets:
            yield target, node.value
    elif isinstance(node, ast.AnnAssign):
        yield node.target, node.value
    elif isinstance(node, ast.With):
        for item in node.items:
            if item.optional_vars:
                yield item.optional_vars, item.context_expr


class Meaning(NamedTuple):
    """What a name may stand for, where that is written, and what `functools.partial` gives it before its call."""

    module: Module
    node: ast.expr
    args: tuple[ast.expr, ...] = ()
    keywords: tuple[ast.keyword, ...] = ()


def meanings(
    module: Module, node: ast.expr, seen: set[int] | None = None, depth: int = 0
) -> Iterator[Meaning]:
    """All that an expression may stand for by names, `getattr`, `functools.partial` and conditions; itself first."""
    seen = set() if seen is None else seen
    yield Meaning(module, node)
    if id(node) in seen or depth == _MAX_MEANINGS:
        return
    seen.add(id(node))
    for outer in _next_meanings(module, node):
        for inner in meanings(outer.module, outer.node, seen, depth + 1):
            args = (*inner.args, *outer.args)
            keywords = (*inner.keywords, *outer.keywords)
            yield Meaning(inner.module, inner.node, args, keywords)


def _next_meanings(module: Module, node: ast.expr) -> Iterator[Meaning]:
    attribute = attribute_of(node)
    if isinstance(node, (ast.Name, ast.Attribute)):
        for home, value in module.assignments(node):
            yield Meaning(home, value)
    elif attribute is not None:
        yield Meaning(module, attribute)
    elif isinstance(node, ast.Call) and node.args and module.path(node.func) in PARTIAL:
        function, *args = node.args
        yield Meaning(module, function, tuple(args), tuple(node.keywords))
    for alternative in alternatives(node):
        yield Meaning(module, alternative)


def is_literal(node: ast.expr) -> bool:
    try:
        ast.literal_eval(node)
    except (ValueError, TypeError, MemoryError, RecursionError):
        return False
    return True


def is_foreign(module: Module, function: ast.expr) -> bool:
    """Whether a function is imported, neither of PyTorch nor of these files."""
    path = module.path(function)
    first = function
    while isinstance(first, ast.Attribute):
        first = first.value
    is_imported = isinstance(first, ast.Name) and first.id in module.imported
    return is_imported and not path.startswith("torch.") and _home_of(module, path) is None


def _home_of(module: Module, path: str) -> Module | None:
    """The given module of a name, or of the class that the name is in."""
    of_name, _, _ = path.rpartition(".")
    of_class, _, _ = of_name.rpartition(".")
    return module.home(of_name) or module.home(of_class)
