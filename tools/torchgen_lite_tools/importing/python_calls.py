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
    PARTIAL,
    Function,
    Meaning,
    Module,
    alternatives,
    attribute_of,
    is_foreign,
    is_literal,
    meanings,
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
_REGISTERING = frozenset({*_FUNCTIONS, *_OTHERS, "_register_fake"})
# What runs a text.
_RUN = frozenset({"eval", "exec"})
# What is asked about a function without calling it.
_ASKS = frozenset({"hasattr", "callable", "isinstance", "signature", "getsource"})
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
        name = self._name()
        # A name is whole, whatever its length: people search for it.
        is_name = bool(name) and not any(map(str.isspace, name))
        if is_name:
            return f"`{name}`"
        text = name or ast.unparse(self.node)
        shown = text if len(text) < 60 else f"{text[:56]}..."
        return f"`{shown}`"

    def _name(self) -> str:
        """The first constant that is given, without the rest of a schema, or the decorated function."""
        constants = [arg.value for arg in self.node.args[:2] if isinstance(arg, ast.Constant)]
        for constant in constants:
            before, _, _ = str(constant).partition("(")
            if before:
                return before
        if isinstance(self.passed, FUNCTIONS) and not constants:
            return self.passed.name
        return ""


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
        node = self.given.get(name)
        if isinstance(node, ast.expr):
            return self.module.path(node)
        return ""

    def text(self, name: str) -> str:
        value = self.constant(name, "")
        if not isinstance(value, str):
            raise Unread(f"`{name}` is not a text")
        return value

    def constant(self, name: str, default: object) -> object:
        node = self.given.get(name)
        if node is None:
            return default
        return _constant(self.module, node)

    def function(self) -> tuple[Module, Function] | None:
        """The function that is registered, and where it is, if these files have it."""
        given = self.given.get("fn")
        if isinstance(given, FUNCTIONS):
            return self.module, given
        home, value = self.module.value(given) or (self.module, None)
        if isinstance(value, FUNCTIONS):
            return (home, value)
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
        for decorator in reversed(statement.decorator_list):
            yield Call(_as_call(decorator), statement)
    is_inside = isinstance(statement, (*FUNCTIONS, *_LATER))
    calls = list[ast.Call]()
    for part in _parts_that_call(statement):
        calls += [node for node in ast.walk(part) if isinstance(node, ast.Call)]
    called = {id(call.func) for call in calls}
    for call in calls:
        if isinstance(call.func, ast.Call) and len(call.args) == 1:
            yield Call(call.func, call.args[0], is_inside)
        is_called_itself = id(call) in called
        if not is_called_itself and _gives_a_function(call.func):
            yield Call(call, None, is_inside)


def _as_call(decorator: ast.expr) -> ast.Call:
    """A decorator as the call that gives it; `@f` is as `@f()`."""
    if isinstance(decorator, ast.Call):
        return decorator
    return ast.copy_location(ast.Call(decorator, [], []), decorator)


def _parts_that_call(statement: ast.stmt) -> Sequence[ast.AST]:
    """What of a statement has calls of its own: the statements in it that run at once have theirs."""
    if isinstance(statement, FUNCTIONS):
        return statement.body
    if isinstance(statement, ast.If):
        return [statement.test]
    if isinstance(statement, ast.Try):
        return []
    if isinstance(statement, ast.With):
        return [item.context_expr for item in statement.items]
    return [statement]


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
    for functions in module.functions.values():
        for function in functions:
            yield _scan(module, function)


def _scan(module: Module, function: Function) -> Scan:
    calls = set[str]()
    registers = False
    for call in calls_of(function):
        if not call.is_inside:
            continue
        try:
            registers |= understood(module, call, (), ()) is not None
        except Unread:
            registers = True
        for meaning in meanings(module, call.node.func):
            calls.add(_made_path(meaning))
    calls.discard("")
    return Scan(f"{module.name}.{function.name}", registers, frozenset(calls))


def registering(scans: Sequence[Scan]) -> set[str]:
    """The whole names of functions that register what they are given, and of those that call them."""
    paths = {scan.path for scan in scans if scan.registers}
    for _ in range(_MAX_DEPTH):
        callers = {scan.path for scan in scans if not paths.isdisjoint(scan.calls)}
        if callers <= paths:
            break
        paths |= callers
    return paths


def understood(
    module: Module, call: Call, conditions: tuple[str, ...], registering: Collection[str]
) -> Registration | None:
    """A call as a registration; None if it is none. Raises Unread if it may be one that cannot be read: a call of a
    function that is `registering`, too."""
    node = call.node
    possible = list(meanings(module, node.func))
    registrar = _first_registrar(possible, node)
    if registrar is None:
        _refuse_suspects(possible, node, registering)
        return None
    names = registrar.names
    word = registrar.kind.rpartition(".")[2]
    if names is None and word not in _OTHERS:
        return None
    if call.is_inside:
        raise Unread("this is in a function, a loop or a class")
    if names is None:
        raise Unread("this remains handwritten")
    given = {**registrar.given, **_arguments(module, node, registrar.meaning, names)}
    if call.passed:
        given["fn"] = call.passed
    return Registration(module, node, registrar.kind, given, registrar.owner, conditions)


def _first_registrar(possible: Sequence[Meaning], node: ast.Call) -> _Registrar | None:
    for meaning in possible:
        registrar = _registrar(meaning, node)
        if registrar is not None:
            return registrar
    return None


def _refuse_suspects(
    possible: Sequence[Meaning], node: ast.Call, registering: Collection[str]
) -> None:
    """Raise Unread for a call that runs a text, or of a function that is `registering` or looks as if it were."""
    if _runs_text(node):
        raise Unread("this text is run, and registers")
    for meaning in possible:
        # What a call gives is told with the function that it is then called with.
        is_what_a_call_gives = isinstance(node.func, ast.Call) and meaning.node is node.func
        if not is_what_a_call_gives and _made_path(meaning) in registering:
            raise Unread(f"`{ast.unparse(node.func)}` registers it")
    for meaning in possible:
        if _is_suspect(meaning, node):
            unknown = getattr(meaning.node, "value", meaning.node)
            why = f"`{ast.unparse(unknown)}` is not known here"
            raise Suspect(why, _looks_like_one(meaning, node))


def _arguments(
    module: Module, node: ast.Call, meaning: Meaning, names: Sequence[str]
) -> dict[str, Given]:
    """What a call gives, and what `partial` gave before it, by name. Raises Unread for what is computed."""
    positional = [*meaning.args, *node.args]
    keywords = [*meaning.keywords, *node.keywords]
    is_starred = any(isinstance(arg, ast.Starred) for arg in positional)
    is_double_starred = any(keyword.arg is None for keyword in keywords)
    if is_starred or is_double_starred:
        raise Unread("its arguments are computed")
    given_before = [*meaning.args, *(keyword.value for keyword in meaning.keywords)]
    is_elsewhere = meaning.module is not module
    if is_elsewhere and not all(is_literal(value) for value in given_before):
        raise Unread(f"`{meaning.module.name}` gives a part of its arguments")
    given: dict[str, Given] = dict(zip(names, positional))
    for keyword in keywords:
        name = keyword.arg or ""
        given[_RENAMED.get(name, name)] = keyword.value
    return given


def _runs_text(node: ast.Call) -> bool:
    """Whether a call runs a text that is written there and names what registers."""
    if not isinstance(node.func, ast.Name) or node.func.id not in _RUN:
        return False
    for part in ast.walk(node):
        if isinstance(part, ast.Constant):
            words = re.findall(r"\w+", str(part.value))
            if not _REGISTERING.isdisjoint(words):
                return True
    return False


class _Registrar(NamedTuple):
    """A function that registers: what it does, the names of its parameters (None if it remains handwritten, or does
    something else), and the library and the operator that it belongs to."""

    meaning: Meaning
    kind: str
    names: Sequence[str] | None
    owner: tuple[str, str] = ("", "")
    given: Mapping[str, Given] = {}


def _registrar(meaning: Meaning, call: ast.Call) -> _Registrar | None:
    """What is called if that is a function of PyTorch, or a method of a library or of an operator that was made."""
    module = meaning.module
    path = module.path(meaning.node)
    if path.startswith(_TORCH):
        return _function_of_pytorch(meaning, call, path.rpartition(".")[2])
    if is_computed_function(meaning):
        raise Unread("which function of PyTorch this is, is computed")
    receiver, word = None, ""
    if isinstance(meaning.node, ast.Attribute):
        receiver = meaning.node.value
        word = meaning.node.attr
    owner = _library(module, receiver)
    if owner:
        return _Registrar(meaning, f"Library.{word}", _OF_LIBRARY.get(word), owner)
    name = made_operator(module, receiver)
    if name:
        # The method has the parameters of the function, without the first, which is the operator.
        names = _FUNCTIONS.get(word, ("",))[1:] or None
        return _Registrar(meaning, word, names, ("", ""), {"name": ast.Constant(name)})
    return None


def _function_of_pytorch(meaning: Meaning, call: ast.Call, word: str) -> _Registrar:
    """A function of PyTorch; one that is given a library first is as a method of that."""
    args = (*meaning.args, *call.args)
    if word in _GIVEN_LIBRARY and args:
        owner = _library(meaning.module, args[0])
        if owner:
            return _Registrar(meaning, f"Library.{word}", _GIVEN_LIBRARY[word], owner)
    return _Registrar(meaning, word, _FUNCTIONS.get(word))


def is_computed_function(meaning: Meaning) -> bool:
    """Whether this is `getattr(torch.library, name)`, or of a library, with a name that is computed."""
    module, node = meaning.module, meaning.node
    if not isinstance(node, ast.Call) or not node.args:
        return False
    has_known_name = attribute_of(node) is not None
    if has_known_name or module.path(node.func) != "getattr":
        return False
    owner = node.args[0]
    return f"{module.path(owner)}." in _TORCH or _is_library(module, owner)


def _made_path(meaning: Meaning) -> str:
    """The whole name of what is meant, or of the function that gave it."""
    node = meaning.node
    if isinstance(node, ast.Call):
        return meaning.module.path(node.func)
    return meaning.module.path(node)


def registers_itself(module: Module, node: ast.expr) -> bool:
    """Whether a name may stand for a library, or for what registers."""
    if _is_function(module, node):
        return True
    for meaning in meanings(module, node):
        if is_computed_function(meaning) or _is_library(meaning.module, meaning.node):
            return True
    return False


def is_registering_name(path: str) -> bool:
    """Whether a whole name is that of a function of PyTorch that registers.

    >>> is_registering_name("torch.library.define"), is_registering_name("torch.library.opcheck")
    (True, False)
    """
    return path.startswith(_TORCH) and path.rpartition(".")[2] in _REGISTERING


def passed_on(module: Module) -> Iterator[ast.expr]:
    """Where a function that registers is neither called nor gets a name: what happens to it is not known."""
    words = set()
    for word in {*module.imported, *module.assigned}:
        if _is_function(module, ast.Name(word, ast.Load())):
            words.add(word)
    possible = []
    for node in module.nodes:
        if _is_named(node, words) and _is_function(module, node):
            possible.append(node)
    if not possible:
        return
    fine = set[int]()
    for values in module.assigned.values():
        fine.update(id(value) for value in values)
    # In this order, a node comes before its parts.
    for node in module.nodes:
        is_fine = id(node) in fine
        fine.update(id(part) for part in _harmless_parts(module, node, is_fine))
    for name in possible:
        if id(name) not in fine:
            yield name


def given_away(module: Module) -> Iterator[ast.expr]:
    """Where a library is given to a function that is imported from a file which is not given."""
    libraries = set()
    for word in (*module.assigned, *module.imported):
        if _is_library(module, ast.Name(word)):
            libraries.add(word)
    if not libraries:
        return
    for node in module.nodes:
        if not isinstance(node, ast.Call) or not is_foreign(module, node.func):
            continue
        by_keyword = [keyword.value for keyword in node.keywords]
        for value in (*node.args, *by_keyword):
            if isinstance(value, ast.Name) and value.id in libraries:
                yield value


def _is_named(node: ast.AST, words: Collection[str]) -> TypeGuard[ast.Name | ast.Attribute]:
    """Whether a node is a name that is read, and may be that of a function that registers by its last word."""
    if isinstance(node, ast.Attribute):
        return isinstance(node.ctx, ast.Load) and node.attr in _REGISTERING
    return isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load) and node.id in words


def _is_function(module: Module, node: ast.expr) -> bool:
    """Whether a name may stand for a function of PyTorch that registers, or for a method of a library."""
    for home, meant, *_ in meanings(module, node):
        if is_registering_name(home.path(meant)):
            return True
        if not isinstance(meant, ast.Attribute) or meant.attr not in _METHODS:
            continue
        if _is_library(home, meant.value):
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
        path = module.path(node.func)
        asks = path.rpartition(".")[2] in _ASKS
        gives_a_fine_value = is_fine and path in {*PARTIAL, "getattr"}
        if asks or gives_a_fine_value:
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


def _is_suspect(meaning: Meaning, call: ast.Call) -> bool:
    """Whether a call of something that is not known here looks like a registration."""
    is_method = isinstance(meaning.node, ast.Attribute)
    if isinstance(meaning.node, ast.Attribute):
        word = meaning.node.attr
    else:
        word = meaning.module.path(meaning.node).rpartition(".")[2]
    args = (*meaning.args, *call.args)
    if word not in ("define", "impl"):
        is_known = word in _FUNCTIONS or word in _OF_LIBRARY
        return is_known and (bool(args) or bool(call.keywords))
    if not args or not is_method:
        return False
    # What is computed may be a schema.
    first = args[0].value if isinstance(args[0], ast.Constant) else "("
    if not isinstance(first, str):
        return False
    return "(" in first if word == "define" else len(args) > 1


def _looks_like_one(meaning: Meaning, call: ast.Call) -> bool:
    """Whether a suspect call is none of another project's: it is given a schema, or a kernel of an operator."""
    word = meaning.node.attr if isinstance(meaning.node, ast.Attribute) else ""
    texts = list[str]()
    for arg in (*meaning.args, *call.args):
        if isinstance(arg, ast.Constant) and isinstance(arg.value, str):
            texts.append(arg.value)
    if word == "impl":
        return bool(texts)
    return any("->" in text or "::" in text for text in texts)


def _library(module: Module, node: ast.expr | None) -> tuple[str, str] | None:
    """The namespace and the key of a `Library` that an expression stands for."""
    home, call = module.value(node) or (module, None)
    classes = ("torch.library.Library", "torch.library._scoped_library")
    if not isinstance(call, ast.Call) or home.path(call.func) not in classes:
        return None
    names = ("ns", "kind", "dispatch_key")
    given: dict[str | None, ast.expr] = dict(zip(names, call.args))
    given |= {keyword.arg: keyword.value for keyword in call.keywords}
    namespace = given.get("ns", ast.Constant(""))
    key = given.get("dispatch_key", ast.Constant(""))
    return str(_constant(home, namespace)), str(_constant(home, key))


def made_operator(module: Module, node: ast.expr | None) -> str:
    """The name of the operator that `custom_op` makes of what an expression stands for; "" for none."""
    home, value = module.value(node) or (module, None)
    makers: list[ast.expr] = []
    if isinstance(value, FUNCTIONS):
        makers += value.decorator_list
    elif value is not None:
        makers.append(value)
    calls = [maker for maker in makers if isinstance(maker, ast.Call)]
    # What is called may be what another call gives.
    calls += [call.func for call in calls if isinstance(call.func, ast.Call)]
    for call in calls:
        for meaning in meanings(home, call.func):
            path = meaning.module.path(meaning.node)
            if path.startswith(_TORCH) and path.endswith(("custom_op", "triton_op")):
                return _first_text(home, meaning, call)
    return ""


def _first_text(module: Module, meaning: Meaning, call: ast.expr) -> str:
    """The name that is given to `custom_op`; "" if it is not."""
    if meaning.args:
        return str(_constant(meaning.module, meaning.args[0]))
    if not isinstance(call, ast.Call):
        return ""
    if call.args:
        return str(_constant(module, call.args[0]))
    for keyword in call.keywords:
        if keyword.arg == "name":
            return str(_constant(module, keyword.value))
    return ""
