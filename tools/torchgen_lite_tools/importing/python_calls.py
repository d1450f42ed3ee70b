"""The calls of a Python file that register through `torch.library`: which they are, and what each is given.

Note [Nothing of Python is passed over]
Every call that registers, or may do so, is read or reported (TG614), with the reason. What stands in a function, a loop
or a class is reported: whether it runs, and with what names, is known only once it has run. So are the calls of such a
function.
"""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple, TypeAlias

from torchgen_lite.diagnostics import Span
from torchgen_lite.loader.kernel_modules import line_span
from torchgen_lite_tools.importing.python_modules import FUNCTIONS, Function, Module

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
# How many functions of these files may call each other.
_MAX_DEPTH = 8
Given: TypeAlias = "ast.expr | Function"


class Unread(Exception):
    """Why a registration is not read."""


class Call(NamedTuple):
    """A call, and the function that it decorates or is then called with. If it `is_inside`, it does not run at once."""

    node: ast.Call
    passed: Given | None = None
    is_inside: bool = False

    def __str__(self) -> str:
        given = [one.value for one in self.node.args[:2] if isinstance(one, ast.Constant)]
        texts = [str(one).partition("(")[0] for one in given]
        decorated = [self.passed.name] if isinstance(self.passed, FUNCTIONS) and not given else []
        name = next(filter(None, [*texts, *decorated]), None) or ast.unparse(self.node)
        return f"`{name if len(name) < 60 else name[:56] + '...'}`"


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
        return (f"registered only if {listed}: an entry is there always",) if listed else ()

    def path(self, name: str) -> str:
        """The whole name of what is given; "" for no name."""
        one = self.given.get(name)
        return self.module.path(one) if isinstance(one, ast.expr) else ""

    def text(self, name: str) -> str:
        value = self.constant(name, "")
        if not isinstance(value, str):
            raise Unread(f"`{name}` is not a text")
        return value

    def constant(self, name: str, default: object) -> object:
        one = self.given.get(name)
        return default if one is None else _constant(self.module, one)

    def function(self) -> tuple[Module, Function] | None:
        """The function that is registered, and where it is, if these files have it."""
        given = self.given.get("fn")
        if isinstance(given, FUNCTIONS):
            return self.module, given
        home, found = self.module.value(given) or (self.module, None)
        return (home, found) if isinstance(found, FUNCTIONS) else None


def _constant(module: Module, node: Given) -> object:
    try:
        return module.constant(node) if isinstance(node, ast.expr) else None
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
        elif id(call) not in called:
            yield Call(call, None, is_inside)


def registering(modules: Sequence[Module]) -> set[str]:
    """The whole names of functions that register what they are given, and of those that call them."""
    found = set[str]()
    functions = [
        (one, node) for one in modules for named in one.functions.values() for node in named
    ]
    for _ in range(_MAX_DEPTH):
        found |= {
            f"{home.name}.{node.name}" for home, node in functions if _registers(home, node, found)
        }
    return found


def _registers(module: Module, node: Function, known: set[str]) -> bool:
    for call in calls_of(node):
        try:
            if call.is_inside and understood(module, call, (), known):
                return True
        except Unread:
            return True
    return False


def understood(
    module: Module, call: Call, conditions: tuple[str, ...], registering: Collection[str]
) -> Registration | None:
    """A call as a registration; None if it is none. Raises Unread if it may be one that cannot be read: a call of a
    function that is `registering`, too."""
    node = call.node
    receiver = node.func.value if isinstance(node.func, ast.Attribute) else None
    path = module.path(node.func)
    word = node.func.attr if isinstance(node.func, ast.Attribute) else path.rpartition(".")[2]
    prefix, owner, given = "", ("", ""), dict[str, Given]()
    if path.startswith(_TORCH):
        word = path.rpartition(".")[2]
        names = _FUNCTIONS.get(word)
        if word in _GIVEN_LIBRARY and node.args and (found := _library(module, node.args[0])):
            prefix, owner, names = "Library.", found, _GIVEN_LIBRARY[word]
    elif found := _library(module, receiver):
        prefix, owner, names = "Library.", found, _OF_LIBRARY.get(word)
    elif name := made_operator(module, receiver):
        names, given = _FUNCTIONS.get(word, ("",))[1:] or None, {"name": ast.Constant(name)}
    elif path in registering or _made_by(module, node.func) in registering:
        raise Unread(f"`{ast.unparse(node.func)}` registers it")
    elif _is_suspect(word, node, receiver):
        raise Unread(f"`{ast.unparse(receiver or node.func)}` is not known here")
    else:
        return None
    if names is None and word not in _OTHERS:
        return None
    if call.is_inside:
        raise Unread("this is in a function, a loop or a class")
    if names is None:
        raise Unread("this remains handwritten")
    starred = [one for one in node.args if isinstance(one, ast.Starred)]
    if starred or None in [one.arg for one in node.keywords]:
        raise Unread("its arguments are computed")
    given |= zip(names, node.args)
    given |= {_RENAMED.get(one.arg or "", one.arg or ""): one.value for one in node.keywords}
    given |= {"fn": call.passed} if call.passed else {}
    return Registration(module, node, prefix + word, given, owner, conditions)


def _made_by(module: Module, node: ast.expr) -> str:
    """What was called for the value of a name."""
    home, one = module.value(node) or (module, None)
    return home.path(one.func) if isinstance(one, ast.Call) and one is not node else ""


def _is_suspect(word: str, node: ast.Call, receiver: ast.expr | None) -> bool:
    """Whether a call of something that is not known here looks like a registration."""
    first = node.args[0] if node.args else None
    if word not in ("define", "impl"):
        is_known = word in _FUNCTIONS or word in _OF_LIBRARY
        return is_known and (first is not None or bool(node.keywords))
    text = first.value if isinstance(first, ast.Constant) else "("
    is_named = isinstance(text, str) and ("(" in text if word == "define" else len(node.args) > 1)
    return first is not None and receiver is not None and is_named


def _library(module: Module, node: ast.expr | None) -> tuple[str, str] | None:
    """The namespace and the key of a `Library` that an expression stands for."""
    home, one = module.value(node) or (module, None)
    made = ("torch.library.Library", "torch.library._scoped_library")
    if not isinstance(one, ast.Call) or home.path(one.func) not in made:
        return None
    given: dict[str | None, ast.expr] = dict(zip(("ns", "kind", "dispatch_key"), one.args))
    given |= {keyword.arg: keyword.value for keyword in one.keywords}
    namespace, key = (given.get(name, ast.Constant("")) for name in ("ns", "dispatch_key"))
    return str(_constant(home, namespace)), str(_constant(home, key))


def made_operator(module: Module, node: ast.expr | None) -> str:
    """The name of the operator that `custom_op` makes of what an expression stands for; "" for none."""
    home, one = module.value(node) or (module, None)
    made = [*one.decorator_list] if isinstance(one, FUNCTIONS) else [one] if one else []
    made += [call.func for call in made if isinstance(call, ast.Call)]
    for call in made:
        path = home.path(call.func) if isinstance(call, ast.Call) else ""
        is_made = path.startswith(_TORCH) and path.endswith(("custom_op", "triton_op"))
        if isinstance(call, ast.Call) and is_made and call.args:
            return str(_constant(home, call.args[0]))
    return ""
