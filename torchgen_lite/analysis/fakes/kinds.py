"""What the expressions of a fake rule are: tensor, integer, list of integers, dtype, device.

A kind is one word; a `?` behind it says that the value may be None, which a rule has to ask for first:
`weight.defined() ? weight.size(0) : 1`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from torchgen_lite.diagnostics import Span, did_you_mean
from torchgen_lite.schema import BaseType, ListType, OptionalType, Type
from torchgen_lite.schema.defaults import NAMED_CONSTANTS
from torchgen_lite.schema.formula import (
    Binary,
    Call,
    Conditional,
    Expression,
    ListDisplay,
    Literal,
    Member,
    Name,
    Subscript,
    Unary,
)

ANY = "any"
NUMBERS = frozenset({"int", "float", "bool", "number"})
_BASE = {
    "Tensor": "Tensor",
    "int": "int",
    "SymInt": "int",
    "float": "float",
    "bool": "bool",
    "SymBool": "bool",
    "str": "str",
    "Scalar": "number",
    "number": "number",
    "ScalarType": "dtype",
    "Layout": "layout",
    "Device": "device",
    "MemoryFormat": "memory_format",
}
_LISTS = {"Tensor": "Tensors", "int": "ints", "float": "floats", "bool": "bools"}
_ELEMENTS = {"Tensors": "Tensor", "ints": "int", "floats": "float", "bools": "bool"}

DTYPES = frozenset(NAMED_CONSTANTS["ScalarType"])
MEMORY_FORMATS = frozenset(NAMED_CONSTANTS["MemoryFormat"])
_CONSTANTS = {
    **dict.fromkeys(DTYPES, "dtype"),
    **dict.fromkeys(MEMORY_FORMATS, "memory_format"),
    **dict.fromkeys(("True", "False", "true", "false"), "bool"),
}

_ATTRIBUTES = {"shape": "ints", "dtype": "dtype", "device": "device", "ndim": "int"}
# Methods of a tensor: result without arguments, and with one integer.
_METHODS: Mapping[str, tuple[str, str]] = {
    "size": ("ints", "int"),
    "stride": ("ints", "int"),
    "dim": ("int", ""),
    "numel": ("int", ""),
    "storage_offset": ("int", ""),
}


class Function(NamedTuple):
    """A function of the rules: what it takes (`...` repeats the last), at least how many, and its result."""

    takes: tuple[frozenset[str], ...]
    least: int
    result: str
    repeats: bool = False


_INT = frozenset({"int"})
_SHAPE = frozenset({"Tensor", "ints"})
FUNCTIONS: Mapping[str, Function] = {
    "broadcast": Function((_SHAPE,), 1, "ints", True),
    "ceil_div": Function((_INT, _INT), 2, "int"),
    "concat": Function((frozenset({"ints"}),), 1, "ints", True),
    "floor_div": Function((_INT, _INT), 2, "int"),
    "len": Function((frozenset(_ELEMENTS),), 1, "int"),
    "max": Function((_INT,), 2, "int", True),
    "min": Function((_INT,), 2, "int", True),
    "promote": Function((NUMBERS | {"Tensor", "dtype"},), 1, "dtype", True),
    "real": Function((frozenset({"dtype", "Tensor"}),), 1, "dtype"),
    "reduced": Function(
        (_SHAPE, frozenset({"int", "ints", "int?", "ints?"}), frozenset({"bool"})), 2, "ints"
    ),
    "sum_sizes": Function((frozenset({"Tensors"}), _INT), 2, "int"),
    "with_size": Function((_SHAPE, _INT, _INT), 3, "ints"),
}


def kind_of_type(type_: Type) -> str:
    """The kind of an argument or a result: `int[]?` is `ints?`."""
    if isinstance(type_, OptionalType):
        inner = kind_of_type(type_.elem)
        return inner if inner == ANY or inner.endswith("?") else f"{inner}?"
    if isinstance(type_, ListType):
        return _LISTS.get(kind_of_type(type_.elem), ANY)
    return _BASE.get(type_.name, ANY) if isinstance(type_, BaseType) else ANY


@dataclass(slots=True)
class Scope:
    """The arguments by kind, and what was found wrong: code, message, place, label, help."""

    kinds: Mapping[str, str]
    found: list[tuple[str, str, Span | None, str, str | None]] = field(default_factory=list)

    def report(
        self, code: str, message: str, node: Expression, label: str, help: str | None = None
    ) -> str:
        self.found.append((code, message, node.span, label, help))
        return ANY

    def with_defined(self, names: Sequence[str]) -> Scope:
        """The same where these arguments are known to be there."""
        kinds = {n: k.rstrip("?") if n in names else k for n, k in self.kinds.items()}
        return Scope(kinds, self.found)


def fits(kind: str, wanted: frozenset[str]) -> bool:
    """Whether a value of this kind may stand where one of the wanted kinds is."""
    if kind == ANY or kind in wanted or ANY in wanted:
        return True
    return (kind == "int" and bool(wanted & {"float", "number"})) or (
        kind in NUMBERS and "number" in wanted
    )


def expect(node: Expression, wanted: frozenset[str], scope: Scope) -> str:
    """The kind of an expression, which has to be one of these."""
    kind = infer(node, scope)
    if fits(kind, wanted):
        return kind
    words = " or ".join(sorted(_word(w) for w in wanted))
    hint = None
    if kind.endswith("?") and fits(kind[:-1], wanted):
        hint = f"it may be None: ask first, `{node}.defined() ? ... : ...`"
    return scope.report(
        "TG333", f"`{node}` is {_word(kind)}, and {words} is needed here", node, "here", hint
    )


_WORDS = {
    "Tensor": "a tensor",
    "Tensors": "a list of tensors",
    "int": "an integer",
    "ints": "a list of integers",
    "floats": "a list of floats",
    "bools": "a list of booleans",
    "float": "a float",
    "bool": "a boolean",
    "number": "a number",
    "str": "a string",
    "dtype": "a dtype",
    "device": "a device",
    "layout": "a layout",
    "memory_format": "a memory format",
}


def _word(kind: str) -> str:
    word = _WORDS.get(kind.rstrip("?"), kind)
    return f"{word} or None" if kind.endswith("?") else word


def infer(node: Expression, scope: Scope) -> str:
    """The kind of an expression; what is wrong with it is recorded in the scope."""
    if isinstance(node, Name):
        return _name(node, scope)
    if isinstance(node, Literal):
        return _literal(node, scope)
    if isinstance(node, Member):
        return _member(node, scope)
    if isinstance(node, Call):
        return _call(node, scope)
    if isinstance(node, Subscript):
        expect(node.index, _INT, scope)
        return _ELEMENTS.get(expect(node.value, frozenset(_ELEMENTS), scope), ANY)
    if isinstance(node, ListDisplay):
        for item in node.items:
            expect(item, _INT, scope)
        return "ints"
    if isinstance(node, Conditional):
        return _conditional(node, scope)
    if isinstance(node, Unary):
        wanted = frozenset({"bool"}) if node.operator == "!" else NUMBERS
        return expect(node.operand, wanted, scope)
    if isinstance(node, Binary):
        return _binary(node, scope)
    return scope.report("TG332", "C++ in a rule", node, "not an expression of rules")


def _name(node: Name, scope: Scope) -> str:
    kind = scope.kinds.get(node.text) or _CONSTANTS.get(node.text)
    if kind is not None:
        return kind
    hint = did_you_mean(node.text, [*scope.kinds, *_CONSTANTS])
    return scope.report("TG332", f"unknown name `{node.text}` in a rule", node, "not known", hint)


def _literal(node: Literal, scope: Scope) -> str:
    if node.text[0] in "\"'":
        if "\\" in node.text:
            return scope.report("TG333", "a backslash in a string", node, "not read here")
        return "str"
    if node.text.isdigit():
        return "int"
    return "float"


def _member(node: Member, scope: Scope) -> str:
    expect(node.value, frozenset({"Tensor"}), scope)
    kind = _ATTRIBUTES.get(node.name)
    if kind is None or node.arrow:
        hint = did_you_mean(node.name, _ATTRIBUTES) or f"write `{node}()`"
        if node.name not in _METHODS and "did" not in hint:
            hint = "there are " + ", ".join(f"`{name}`" for name in _ATTRIBUTES)
        return scope.report("TG332", f"no attribute `{node.name}` in rules", node, "here", hint)
    return kind


def _call(node: Call, scope: Scope) -> str:
    if isinstance(node.function, Member):
        return _method(node, node.function, scope)
    name = str(node.function)
    if name == "default":
        return _default(node, scope)
    function = FUNCTIONS.get(name)
    if function is None:
        hint = did_you_mean(name, [*FUNCTIONS, "default"])
        return scope.report("TG332", f"no function `{name}` in rules", node, "here", hint)
    if node.keywords:
        return scope.report("TG333", f"`{name}` takes no keywords", node, "here")
    most = None if function.repeats else len(function.takes)
    count = len(node.arguments)
    if count < function.least or (most is not None and count > most):
        wanted = f"at least {function.least}" if most != function.least else f"{most}"
        noun = "argument" if function.least == 1 else "arguments"
        message = f"`{name}` takes {wanted} {noun}, not {count}"
        return scope.report("TG333", message, node, "here")
    for index, argument in enumerate(node.arguments):
        expect(argument, function.takes[min(index, len(function.takes) - 1)], scope)
    return function.result


def _default(node: Call, scope: Scope) -> str:
    """`default(dtype, float32)`: the first, or the second where the first is None."""
    if len(node.arguments) != 2 or node.keywords:
        return scope.report("TG333", "`default` takes 2 arguments", node, "here")
    first = infer(node.arguments[0], scope)
    if first == ANY:
        infer(node.arguments[1], scope)
        return ANY
    wanted = {first.rstrip("?")} | ({"str"} if first.startswith("device") else set())
    expect(node.arguments[1], frozenset(wanted), scope)
    return first.rstrip("?")


def _method(node: Call, method: Member, scope: Scope) -> str:
    if method.name == "defined" and not node.arguments and not node.keywords:
        kind = infer(method.value, scope)
        if kind != ANY and not kind.endswith("?"):
            message = f"`{method.value}` is always there"
            return scope.report("TG333", message, node, "never None")
        return "bool"
    expect(method.value, frozenset({"Tensor"}), scope)
    results = _METHODS.get(method.name)
    if results is None or method.arrow:
        hint = did_you_mean(method.name, _METHODS)
        return scope.report("TG332", f"no method `{method.name}` in rules", node, "here", hint)
    count = len(node.arguments)
    if node.keywords or count > 1 or not results[min(count, 1)]:
        return scope.report("TG333", f"`{method.name}` does not take this", node, "here")
    for argument in node.arguments:
        expect(argument, _INT, scope)
    return results[count]


def _conditional(node: Conditional, scope: Scope) -> str:
    expect(node.test, frozenset({"bool"}), scope)
    yes = infer(node.yes, scope.with_defined(_defined(node.test)))
    no_scope = scope
    if isinstance(node.test, Unary) and node.test.operator == "!":
        no_scope = scope.with_defined(_defined(node.test.operand))
    no = infer(node.no, no_scope)
    if yes == ANY or fits(no, frozenset({yes})):
        return yes if yes != ANY else no
    if fits(yes, frozenset({no})):
        return no
    message = f"`{node.yes}` is {_word(yes)} and `{node.no}` is {_word(no)}"
    return scope.report("TG333", message, node, "two kinds of value")


def _defined(test: Expression) -> list[str]:
    """The arguments that are there if a test holds."""
    if isinstance(test, Binary) and test.operator == "&&":
        return _defined(test.left) + _defined(test.right)
    if isinstance(test, Call) and isinstance(test.function, Member):
        value = test.function.value
        if test.function.name == "defined" and isinstance(value, Name):
            return [value.text]
    return []


def _binary(node: Binary, scope: Scope) -> str:
    if node.operator in ("&&", "||"):
        expect(node.left, frozenset({"bool"}), scope)
        inner = scope.with_defined(_defined(node.left)) if node.operator == "&&" else scope
        expect(node.right, frozenset({"bool"}), inner)
        return "bool"
    if node.operator in ("==", "!="):
        left = infer(node.left, scope)
        if left != ANY:
            expect(node.right, frozenset({left}) | (NUMBERS if left in NUMBERS else set()), scope)
        return "bool"
    left, right = expect(node.left, NUMBERS, scope), expect(node.right, NUMBERS, scope)
    if node.operator in ("<", ">", "<=", ">="):
        return "bool"
    if node.operator == "/" and left == right == "int":
        hint = f"write `floor_div({node.left}, {node.right})`"
        return scope.report("TG333", "`/` gives no integer", node, "here", hint)
    if node.operator in ("|", "^", "&"):
        return scope.report("TG333", f"`{node.operator}` is not for rules", node, "here")
    return "int" if left == right == "int" else "float"
