"""The calls of a Python file that register through `torch.library`: which they are, and what each is given.

Note [Nothing of Python is passed over]
Every call that registers, or may do so, is read or reported (TG614), with the reason. What stands in a function, a loop
or a class is reported: whether it runs, and with what names, is known only once it has run. So are the calls of such a
function.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple, TypeAlias, TypeGuard

from torchgen_lite.diagnostics import Span
from torchgen_lite.loader.python.kernel_modules import line_span
from torchgen_lite_tools.importing.python_modules import (
    FUNCTIONS,
    Function,
    Module,
    alternatives,
    attribute_of,
)

# The parameters of each function of `torch.library`; those of an operator's methods lack the name.
_FUNCTIONS: dict[str, Sequence[str]] = {
    "custom_op": ("name", "fn"),
    "triton_op": ("name", "fn"),
    "define": ("name", "schema"),
    "impl": ("name", "types", "fn"),
    "register_kernel": ("name", "types", "fn"),
    "register_fake": ("name", "fn"),
    "impl_abstract": ("name", "fn"),
    "register_vmap": ("name", "fn"),
    "register_autograd": ("name", "fn"),
    "register_autocast": ("name", "types", "cast_inputs"),
}
# Those of the methods of `Library`, and of functions that are given one.
_OF_LIBRARY: dict[str, Sequence[str]] = {
    "define": ("schema",),
    "impl": ("name", "fn", "types"),
    "_register_fake": ("name", "fn"),
}
_GIVEN_LIBRARY = {"define": ("", "schema"), "impl": ("", "name", "types")}
_RENAMED = {"func": "fn", "qualname": "name", "op": "name", "op_name": "name", "backward": "fn"}
_RENAMED |= {"device_types": "types", "device_type": "types", "dispatch_key": "types"}
# Others that register.
_OTHERS = frozenset({"fallback", "register_torch_dispatch", "_register_torch_dispatch_rule"})
_TORCH = ("torch.library.", "torch._library.", "torch._custom_op")
_LATER = (ast.ClassDef, ast.For, ast.AsyncFor, ast.While, ast.Match)
_METHODS = frozenset({"define", "impl", "_register_fake", "fallback"})
_PARTIAL = frozenset({"functools.partial", "partial"})
_REGISTERING = frozenset({*_FUNCTIONS, *_OTHERS, "_register_fake"})
# What runs a text.
_RUN = frozenset({"eval", "exec"})
# What is asked about a function without calling it.
_ASKS = frozenset({"hasattr", "callable", "isinstance", "signature", "getsource"})
# How many names may stand for each other.
_MAX_MEANINGS = 16
# How many functions of these files may call each other.
_MAX_DEPTH = 8
Given: TypeAlias = "ast.expr | Function"


class Unread(Exception):
    """Why a registration is not read."""


class Suspect(Unread):
    """Why a call is not read that only looks like a registration; whether it looks so in any file."""

    def __init__(self, why: str, is_certain: bool) -> None:
        super().__init__(why)
        self.is_certain = is_certain


class Call(NamedTuple):
    """A call, and the function that it decorates or is then called with. If it `is_inside`, it does not run at once."""

    node: ast.Call
    passed: Given | None = None
    is_inside: bool = False

    def __str__(self) -> str:
        given = [one.value for one in self.node.args[:2] if isinstance(one, ast.Constant)]
        texts = [str(one).partition("(")[0] for one in given]
        if isinstance(self.passed, FUNCTIONS) and not given:
            decorated = [self.passed.name]
        else:
            decorated = []
        # A name is whole, whatever its length: people search for it.
        name = next(filter(None, [*texts, *decorated]), None)
        if name is None or any(map(str.isspace, name)):
            text = name or ast.unparse(self.node)
            name = text if len(text) < 60 else f"{text[:56]}..."
        return f"`{name}`"


@dataclass(frozen=True, slots=True)
class Registration:
    """A call by what it does (`Library.define` for a method), what it is given by name, the namespace and the key of its
    library, and the conditions around it."""

    module: Module
    node: ast.Call
    kind: str
    given: Mapping[str, Given]
    owner: tuple[str, str]
    conditions: tuple[str, ...]

    @property
    def span(self) -> Span:
        return line_span(self.module.source, self.node.lineno)

    @property
    def asks(self) -> tuple[str, ...]:
        """A question where it is not registered always."""
        listed = ", and ".join(f"`{condition}`" for condition in self.conditions)
        if listed:
            return (f"registered only if {listed}: an entry is there always",)
        return ()

    def path(self, name: str) -> str:
        """The whole name of what is given; "" for no name."""
        one = self.given.get(name)
        if isinstance(one, ast.expr):
            return self.module.path(one)
        return ""

    def text(self, name: str) -> str:
        value = self.constant(name, "")
        if not isinstance(value, str):
            raise Unread(f"`{name}` is not a text")
        return value

    def constant(self, name: str, default: object) -> object:
        one = self.given.get(name)
        if one is None:
            return default
        return _constant(self.module, one)

    def function(self) -> tuple[Module, Function] | None:
        """The function that is registered, and where it is, if these files have it."""
        given = self.given.get("fn")
        if isinstance(given, FUNCTIONS):
            return self.module, given
        home, found = self.module.value(given) or (self.module, None)
        if isinstance(found, FUNCTIONS):
            return (home, found)
        return None


def _constant(module: Module, node: Given) -> object:
    try:
        if isinstance(node, ast.expr):
            return module.constant(node)
        return None
    except (ValueError, TypeError):
        raise Unread(f"`{ast.unparse(node)}` is computed") from None


def calls_of(statement: ast.stmt) -> Iterator[Call]:
    """The calls of a statement, without those of statements in it that run at once, too."""
    if isinstance(statement, FUNCTIONS):
        for one in reversed(statement.decorator_list):
            bare = ast.copy_location(ast.Call(one, [], []), one)
            yield Call(one if isinstance(one, ast.Call) else bare, statement)
    is_inside = isinstance(statement, (*FUNCTIONS, *_LATER))
    parts: Sequence[ast.AST] = statement.body if isinstance(statement, FUNCTIONS) else [statement]
    if isinstance(statement, (ast.If, ast.Try)):
        parts = [statement.test] if isinstance(statement, ast.If) else []
    elif isinstance(statement, ast.With):
        parts = [one.context_expr for one in statement.items]
    calls = [call for part in parts for call in ast.walk(part) if isinstance(call, ast.Call)]
    called = {id(call.func) for call in calls}
    for call in calls:
        if isinstance(call.func, ast.Call) and len(call.args) == 1:
            yield Call(call.func, call.args[0], is_inside)
        if id(call) not in called and _gives_a_function(call.func):
            yield Call(call, None, is_inside)


def _gives_a_function(func: ast.expr) -> bool:
    """Whether what is called may have a name, or be `getattr(...)` or `partial(...)`."""
    return not isinstance(func, ast.Call) or bool(func.args)


class Scan(NamedTuple):
    """What is known of a function by itself: its whole name, whether it registers, and the whole names that it calls."""

    path: str
    registers: bool
    calls: frozenset[str]


def scanned(module: Module) -> Iterator[Scan]:
    """The functions of a module."""
    for node in (one for named in module.functions.values() for one in named):
        calls = set[str]()
        registers = False
        for call in (one for one in calls_of(node) if one.is_inside):
            try:
                registers |= understood(module, call, (), ()) is not None
            except Unread:
                registers = True
            calls.update(_made_path(one) for one in meanings(module, call.node.func))
        yield Scan(f"{module.name}.{node.name}", registers, frozenset(calls - {""}))


def registering(scans: Sequence[Scan]) -> set[str]:
    """The whole names of functions that register what they are given, and of those that call them."""
    found = {one.path for one in scans if one.registers}
    for _ in range(_MAX_DEPTH):
        more = {one.path for one in scans if not found.isdisjoint(one.calls)}
        if more <= found:
            break
        found |= more
    return found


def understood(
    module: Module, call: Call, conditions: tuple[str, ...], registering: Collection[str]
) -> Registration | None:
    """A call as a registration; None if it is none. Raises Unread if it may be one that cannot be read: a call of a
    function that is `registering`, too."""
    node = call.node
    possible = list(meanings(module, call.node.func))
    found = next(filter(None, (_registrar(one, node) for one in possible)), None)
    # What a call gives is told with the function that it is then called with.
    made = node.func if isinstance(node.func, ast.Call) else None
    if found is None:
        if _runs_text(node):
            raise Unread("this text is run, and registers")
        if any(_made_path(one) in registering for one in possible if one.node is not made):
            raise Unread(f"`{ast.unparse(node.func)}` registers it")
        suspect = next((one for one in possible if _is_suspect(one, node)), None)
        if suspect is not None:
            unknown = getattr(suspect.node, "value", suspect.node)
            why = f"`{ast.unparse(unknown)}` is not known here"
            raise Suspect(why, _looks_like_one(suspect, node))
        return None
    names = found.names
    word = found.kind.rpartition(".")[2]
    if names is None and word not in _OTHERS:
        return None
    if call.is_inside:
        raise Unread("this is in a function, a loop or a class")
    if names is None:
        raise Unread("this remains handwritten")
    before = found.meaning
    positional = [*before.args, *node.args]
    keywords = [*before.keywords, *node.keywords]
    starred = [one for one in positional if isinstance(one, ast.Starred)]
    if starred or None in [one.arg for one in keywords]:
        raise Unread("its arguments are computed")
    elsewhere = [*before.args, *(one.value for one in before.keywords)]
    if before.module is not module and not all(map(_is_literal, elsewhere)):
        raise Unread(f"`{before.module.name}` gives a part of its arguments")
    given = {**found.given, **dict(zip(names, positional))}
    given |= {_RENAMED.get(one.arg or "", one.arg or ""): one.value for one in keywords}
    given |= {"fn": call.passed} if call.passed else {}
    return Registration(module, node, found.kind, given, found.owner, conditions)


def _runs_text(node: ast.Call) -> bool:
    """Whether a call runs a text that is written there and names what registers."""
    if not isinstance(node.func, ast.Name) or node.func.id not in _RUN:
        return False
    parts = [part.value for part in ast.walk(node) if isinstance(part, ast.Constant)]
    words = set(re.findall(r"\w+", " ".join(map(str, parts))))
    return not words.isdisjoint(_REGISTERING)


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
    for one in _next_meanings(module, node):
        for inner in meanings(one.module, one.node, seen, depth + 1):
            args = (*inner.args, *one.args)
            keywords = (*inner.keywords, *one.keywords)
            yield Meaning(inner.module, inner.node, args, keywords)


def _next_meanings(module: Module, node: ast.expr) -> Iterator[Meaning]:
    if isinstance(node, (ast.Name, ast.Attribute)):
        yield from (Meaning(home, value) for home, value in module.assignments(node))
    elif attribute := attribute_of(node):
        yield Meaning(module, attribute)
    elif isinstance(node, ast.Call) and node.args and module.path(node.func) in _PARTIAL:
        yield Meaning(module, node.args[0], tuple(node.args[1:]), tuple(node.keywords))
    for one in alternatives(node):
        yield Meaning(module, one)


def _is_literal(node: ast.expr) -> bool:
    try:
        ast.literal_eval(node)
    except (ValueError, TypeError, MemoryError, RecursionError):
        return False
    return True


class _Registrar(NamedTuple):
    """A function that registers: what it does, the names of its parameters (None if it remains handwritten, or does
    something else), and the library and the operator that it belongs to."""

    meaning: Meaning
    kind: str
    names: Sequence[str] | None
    owner: tuple[str, str] = ("", "")
    given: Mapping[str, Given] = {}


def _registrar(one: Meaning, call: ast.Call) -> _Registrar | None:
    """What is called if that is a function of PyTorch, or a method of a library or of an operator that was made."""
    module = one.module
    path = one.module.path(one.node)
    if isinstance(one.node, ast.Attribute):
        receiver = one.node.value
    else:
        receiver = None
    word = receiver and isinstance(one.node, ast.Attribute) and one.node.attr or ""
    if path.startswith(_TORCH):
        word = path.rpartition(".")[2]
        first = next(((module, arg) for arg in one.args), None)
        first = first or next(((module, arg) for arg in call.args), None)
        if word in _GIVEN_LIBRARY and first and (owner := _library(*first)):
            return _Registrar(one, f"Library.{word}", _GIVEN_LIBRARY[word], owner)
        return _Registrar(one, word, _FUNCTIONS.get(word))
    if is_computed_function(one):
        raise Unread("which function of PyTorch this is, is computed")
    if owner := _library(module, receiver):
        return _Registrar(one, f"Library.{word}", _OF_LIBRARY.get(word), owner)
    if name := made_operator(module, receiver):
        names = _FUNCTIONS.get(word, ("",))[1:] or None
        return _Registrar(one, word, names, ("", ""), {"name": ast.Constant(name)})
    return None


def is_computed_function(one: Meaning) -> bool:
    """Whether this is `getattr(torch.library, name)`, or of a library, with a name that is computed."""
    node = one.node
    is_getattr = isinstance(node, ast.Call) and one.module.path(node.func) == "getattr"
    if not is_getattr or not isinstance(node, ast.Call) or not node.args or attribute_of(node):
        return False
    whole = f"{one.module.path(node.args[0])}."
    return whole in _TORCH or _is_library(one.module, node.args[0])


def _made_path(one: Meaning) -> str:
    """The whole name of what is meant, or of the function that gave it."""
    return one.module.path(one.node.func if isinstance(one.node, ast.Call) else one.node)


def registers_itself(module: Module, node: ast.expr) -> bool:
    """Whether a name may stand for a library, or for what registers."""
    if _is_function(module, node):
        return True
    return any(
        is_computed_function(one) or _is_library(one.module, one.node)
        for one in meanings(module, node)
    )


def is_registering_name(path: str) -> bool:
    """Whether a whole name is that of a function of PyTorch that registers.

    >>> is_registering_name("torch.library.define"), is_registering_name("torch.library.opcheck")
    (True, False)
    """
    return path.startswith(_TORCH) and path.rpartition(".")[2] in _REGISTERING


def passed_on(module: Module) -> Iterator[ast.expr]:
    """Where a function that registers is neither called nor gets a name: what happens to it is not known."""
    given = {*module.imported, *module.assigned}
    words = set()
    for word in given:
        if _is_function(module, ast.Name(word, ast.Load())):
            words.add(word)
    possible = []
    for one in module.nodes:
        if _is_named(one, words) and _is_function(module, one):
            possible.append(one)
    if not possible:
        return
    fine = set()
    for values in module.assigned.values():
        for part in values:
            fine.add(id(part))
    # In this order, a node comes before its parts.
    for node in module.nodes:
        fine |= set(map(id, _harmless_parts(module, node, id(node) in fine)))
    yield from (name for name in possible if id(name) not in fine)


def given_away(module: Module) -> Iterator[ast.expr]:
    """Where a library is given to a function that is imported from a file which is not given."""
    libraries = {word for word in module.assigned if _is_library(module, ast.Name(word))}
    libraries |= {word for word in module.imported if _is_library(module, ast.Name(word))}
    if libraries:
        for node in module.nodes:
            if isinstance(node, ast.Call) and _is_foreign(module, node.func):
                given = [*node.args, *(one.value for one in node.keywords)]
                yield from (
                    one for one in given if isinstance(one, ast.Name) and one.id in libraries
                )


def _is_foreign(module: Module, function: ast.expr) -> bool:
    """Whether a function is imported, neither of PyTorch nor of these files."""
    path = module.path(function)
    first = function
    while isinstance(first, ast.Attribute):
        first = first.value
    is_imported = isinstance(first, ast.Name) and first.id in module.imported
    return is_imported and not path.startswith("torch.") and _home_of(module, path) is None


def _home_of(module: Module, path: str) -> Module | None:
    """The given module of a name, or of the class that the name is in."""
    before = path.rpartition(".")[0]
    return module.home(before) or module.home(before.rpartition(".")[0])


def _is_named(node: ast.AST, words: Collection[str]) -> TypeGuard[ast.Name | ast.Attribute]:
    """Whether a node is a name that is read, and may be that of a function that registers by its last word."""
    if isinstance(node, ast.Attribute):
        return isinstance(node.ctx, ast.Load) and node.attr in _REGISTERING
    return isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load) and node.id in words


def _is_function(module: Module, node: ast.expr) -> bool:
    """Whether a name may stand for a function of PyTorch that registers, or for a method of a library."""
    for one in meanings(module, node):
        if isinstance(one.node, ast.Attribute):
            receiver = one.node.value
        else:
            receiver = None
        is_method = isinstance(one.node, ast.Attribute) and one.node.attr in _METHODS
        if is_registering_name(one.module.path(one.node)):
            return True
        if is_method and _is_library(one.module, receiver):
            return True
    return False


def _is_library(module: Module, node: ast.expr | None) -> bool:
    try:
        return _library(module, node) is not None
    except Unread:
        return True  # One whose namespace is computed.


def _harmless_parts(module: Module, node: ast.AST, is_fine: bool) -> Iterator[ast.AST]:
    """The parts of a node that are called, compared or asked about, and those that are the value of a part that is fine."""
    if isinstance(node, ast.Call):
        yield node.func
        name = module.path(node.func)
        if name.rpartition(".")[2] in _ASKS or (is_fine and name in {*_PARTIAL, "getattr"}):
            yield from node.args
    elif isinstance(node, (*FUNCTIONS, ast.ClassDef)):
        yield from node.decorator_list
    elif isinstance(node, ast.Attribute):
        yield node.value
    elif isinstance(node, ast.Compare):
        yield node.left
        yield from node.comparators
    elif isinstance(node, (ast.If, ast.While, ast.Assert, ast.IfExp)):
        yield node.test
    if is_fine and isinstance(node, ast.expr):
        yield from alternatives(node)


def _is_suspect(one: Meaning, call: ast.Call) -> bool:
    """Whether a call of something that is not known here looks like a registration."""
    if isinstance(one.node, ast.Attribute):
        receiver = one.node.value
    else:
        receiver = None
    path = one.module.path(one.node)
    if isinstance(one.node, ast.Attribute):
        word = one.node.attr
    else:
        word = path.rpartition(".")[2]
    given = (*one.args, *call.args)
    first = given[0] if given else None
    if word not in ("define", "impl"):
        is_known = word in _FUNCTIONS or word in _OF_LIBRARY
        return is_known and (first is not None or bool(call.keywords))
    text = first.value if isinstance(first, ast.Constant) else "("
    is_named = isinstance(text, str) and ("(" in text if word == "define" else len(given) > 1)
    return first is not None and receiver is not None and is_named


def _looks_like_one(one: Meaning, call: ast.Call) -> bool:
    """Whether a suspect call is none of another project's: it is given a schema, or a kernel of an operator."""
    word = one.node.attr if isinstance(one.node, ast.Attribute) else ""
    texts = []
    for arg in (*one.args, *call.args):
        if isinstance(arg, ast.Constant):
            texts.append(arg.value)
    named = [text for text in texts if isinstance(text, str)]
    if word == "impl":
        return bool(named)
    return any("->" in text or "::" in text for text in named)


def _library(module: Module, node: ast.expr | None) -> tuple[str, str] | None:
    """The namespace and the key of a `Library` that an expression stands for."""
    home, one = module.value(node) or (module, None)
    made = ("torch.library.Library", "torch.library._scoped_library")
    if not isinstance(one, ast.Call) or home.path(one.func) not in made:
        return None
    given: dict[str | None, ast.expr] = dict(zip(("ns", "kind", "dispatch_key"), one.args))
    given |= {keyword.arg: keyword.value for keyword in one.keywords}
    namespace = given.get("ns", ast.Constant(""))
    key = given.get("dispatch_key", ast.Constant(""))
    return str(_constant(home, namespace)), str(_constant(home, key))


def made_operator(module: Module, node: ast.expr | None) -> str:
    """The name of the operator that `custom_op` makes of what an expression stands for; "" for none."""
    home, one = module.value(node) or (module, None)
    made: list[ast.expr]
    if isinstance(one, FUNCTIONS):
        made = [*one.decorator_list]
    elif one:
        made = [one]
    else:
        made = []
    made += [call.func for call in made if isinstance(call, ast.Call)]
    for call in made:
        if isinstance(call, ast.Call):
            for meaning in meanings(home, call.func):
                path = meaning.module.path(meaning.node)
                if path.startswith(_TORCH) and path.endswith(("custom_op", "triton_op")):
                    return _first_text(home, meaning, call)
    return ""


def _first_text(module: Module, meaning: Meaning, call: ast.expr) -> str:
    """The name that is given to `custom_op`; "" if it is not."""
    if meaning.args:
        return str(_constant(meaning.module, meaning.args[0]))
    given = call.args if isinstance(call, ast.Call) else []
    named = call.keywords if isinstance(call, ast.Call) else []
    texts = [*given[:1], *(one.value for one in named if one.arg == "name")]
    return str(_constant(module, texts[0])) if texts else ""
