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
# How often one name may stand for another.
_MAX_DEPTH = 16
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
        several = self.functions[function.name]
        around = {one.node: one.conditions for one in self.statements}
        mine = around[function]
        later = several[several.index(function) + 1 :]
        return all(
            any(f"not ({one})" in around[other] for one in mine)
            or any(f"not ({one})" in mine for one in around[other])
            for other in later
        )

    def path(self, node: ast.expr | None, seen: set[str] | None = None) -> str:
        """The whole name of `tl.custom_op`, such as `torch.library.custom_op`; "" for no name. A name that has several
        values means that of PyTorch, which other branches replace."""
        seen = set() if seen is None else seen
        node = attribute_of(node) or node
        if isinstance(node, ast.Attribute):
            before = self.path(node.value, seen)
            return before and self._origin(f"{before}.{node.attr}")
        if isinstance(node, (ast.IfExp, ast.BoolOp, ast.NamedExpr)):
            return self._theirs(alternatives(node), seen)
        if not isinstance(node, ast.Name) or node.id in seen:
            return ""
        if node.id in self.imported:
            return self._origin(self.imported[node.id])
        seen.add(node.id)
        theirs = self._theirs(self.assigned.get(node.id, ()), seen)
        is_own = node.id in self.functions or node.id in self.assigned
        return theirs or (f"{self.name}.{node.id}" if is_own else self._starred(node.id))

    def _theirs(self, values: Sequence[ast.expr], seen: set[str]) -> str:
        """The name of PyTorch among several values; "" for none."""
        paths = (self.path(one, seen) for one in values)
        return next((one for one in paths if one.startswith("torch.")), "")

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
        one = self.others.get(parts[-1])
        if one:
            path = PurePath(one.source.path).with_suffix("").parts
        else:
            path = ()
        return one if path[-len(parts) :] == parts else None

    def assignments(self, node: ast.Name | ast.Attribute) -> Iterator[tuple[Module, ast.expr]]:
        """What is assigned to a name, each with the module where that is written."""
        module, _, word = self.path(node).rpartition(".")
        home = self if module == self.name else self.home(module)
        if home is not None:
            yield from ((home, value) for value in home.assigned.get(word, ()))

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
        one = values[0]
        if isinstance(one, ast.expr):
            return home.value(one, depth + 1)
        return (home, one)

    def constant(self, node: ast.expr | None) -> object:
        """The value of a literal, of a name for one, or of a text that is put together from them; raises ValueError."""
        home, one = self.value(node) or (self, node)
        if id(one) not in home.constants:
            # A text that contains itself has no value. The node is kept, as its number may be used again.
            home.constants[id(one)] = one, self
            home.constants[id(one)] = one, home._evaluated(one)
        known = home.constants[id(one)][1]
        if isinstance(known, Module) or len(str(known)) > _MAX_LENGTH:
            raise ValueError
        return known

    def _evaluated(self, one: ast.expr | Function | None) -> object:
        if isinstance(one, ast.JoinedStr):
            return "".join(str(self.constant(part)) for part in one.values)
        if isinstance(one, ast.FormattedValue) and one.conversion < 0 and one.format_spec is None:
            return self.constant(one.value)
        if isinstance(one, ast.BinOp) and isinstance(one.op, ast.Add):
            left = self.constant(one.left)
            right = self.constant(one.right)
            if isinstance(left, str) and isinstance(right, str):
                return left + right
        if isinstance(one, (ast.Tuple, ast.List, ast.Set)):
            return tuple(self.constant(part) for part in one.elts)
        if isinstance(one, ast.expr):
            return ast.literal_eval(one)
        raise ValueError


def parse_module(source: Source, others: dict[str, Module]) -> Module:
    """The module of a file, which is added to the others by its name; raises what `ast.parse` raises."""
    name, is_package = _module_name(Path(source.path))
    tree = ast.parse(source.text)
    statements = tuple(_placed(tree.body, ()))
    imported = dict[str, str]()
    assigned = dict[str, list[ast.expr]]()
    functions = dict[str, list[Function]]()
    around = name.split(".") if is_package else name.split(".")[:-1]
    for node in (placed.node for placed in statements):
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            imported |= _imported(node, around)
        elif isinstance(node, FUNCTIONS):
            functions.setdefault(node.name, []).append(node)
        for target, value in _assignments(node):
            if isinstance(target, ast.Name) and value is not None:
                assigned.setdefault(target.id, []).append(value)
    nodes = list(ast.walk(tree))
    inside = _imported_inside(nodes, around)
    own = {*imported, *assigned, *functions}
    imported |= {word: path for word, path in inside.items() if word not in own}
    stars = [path.removesuffix(".*") for word, path in imported.items() if word.startswith("*")]
    one = Module(name, source, statements, imported, assigned, functions, others, nodes, stars)
    others[name] = one
    return one


def _module_name(path: Path) -> tuple[str, bool]:
    """The name under which a file is imported, as far as its packages say it, and whether it is a package."""
    parts = [] if path.stem == "__init__" else [path.stem]
    folder = path.absolute().parent
    while (folder / "__init__.py").is_file():
        parts.insert(0, folder.name)
        folder = folder.parent
    return ".".join(parts), path.stem == "__init__"


def _placed(body: Sequence[ast.stmt], conditions: tuple[str, ...]) -> Iterator[Placed]:
    for one in body:
        yield Placed(one, conditions)
        if isinstance(one, ast.If):
            test = " ".join(ast.unparse(one.test).split())
            yield from _placed(one.body, (*conditions, test))
            yield from _placed(one.orelse, (*conditions, f"not ({test})"))
        elif isinstance(one, ast.With):
            yield from _placed(one.body, conditions)
        elif isinstance(one, ast.Try):
            yield from _placed([*one.body, *one.orelse, *one.finalbody], conditions)
            for handler in one.handlers:
                yield from _placed(handler.body, (*conditions, "an exception is raised"))


def _imported(
    node: ast.Import | ast.ImportFrom, package: Sequence[str]
) -> Iterator[tuple[str, str]]:
    if isinstance(node, ast.Import):
        for one in node.names:
            first = one.name.partition(".")[0]
            yield (one.asname, one.name) if one.asname else (first, first)
        return
    around = package[: len(package) - node.level + 1] if node.level else []
    start = ".".join([*around, *([node.module] if node.module else [])])
    for one in node.names:
        # Several modules may bring all of their names.
        name = f"*{start}" if one.name == "*" else one.asname or one.name
        yield name, f"{start}.{one.name}" if start else one.name


def _imported_inside(nodes: Sequence[ast.AST], around: Sequence[str]) -> dict[str, str]:
    """What functions import of PyTorch: these names are known in the whole module unless it gives them itself."""
    found = dict[str, str]()
    for node in nodes:
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            named = dict(_imported(node, around))
            found |= {name: path for name, path in named.items() if path.startswith("torch")}
    return found


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
    name = node.args[1]
    is_getattr = isinstance(node.func, ast.Name) and node.func.id == "getattr"
    if not is_getattr or not isinstance(name, ast.Constant) or not isinstance(name.value, str):
        return None
    return ast.copy_location(ast.Attribute(node.args[0], name.value, ast.Load()), node)


def _assignments(node: ast.stmt) -> Iterator[tuple[ast.expr, ast.expr | None]]:
    if isinstance(node, ast.Assign):
        yield from ((target, node.value) for target in node.targets)
    elif isinstance(node, ast.AnnAssign):
        yield node.target, node.value
    elif isinstance(node, ast.With):
        yield from (
            (one.optional_vars, one.context_expr) for one in node.items if one.optional_vars
        )
