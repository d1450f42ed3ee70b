"""Check the expressions of fake rules against the wanted kinds: tensor, integer, dtype, device.

A value may be None if its kind says so, and a rule must test for that first:
`weight.defined() ? weight.size(0) : 1`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from torchgen_lite.analysis.finding import Found
from torchgen_lite.diagnostics import did_you_mean, write_instead
from torchgen_lite.formulas import kinds
from torchgen_lite.formulas import model as nodes
from torchgen_lite.formulas.kinds import Kind, Sort, kind_of_type
from torchgen_lite.schema import Type
from torchgen_lite.schema.defaults import ENUMERATORS

NUMBERS = frozenset({kinds.INT, kinds.FLOAT, kinds.BOOL, kinds.SCALAR})
_LISTS = frozenset(
    {kinds.TENSORS, kinds.INTS, Kind(Sort.float, is_list=True), Kind(Sort.bool, is_list=True)}
)

DTYPES = frozenset(ENUMERATORS["ScalarType"])
_INTEGRAL = frozenset("Bool Byte Char Int Long Short UInt16 UInt32 UInt64".split())
INTEGRAL_DTYPES = frozenset(n for n, enum in ENUMERATORS["ScalarType"].items() if enum in _INTEGRAL)
"""The names of integral dtypes, which libtorch does not let require a gradient."""
CONSTANTS = {
    **dict.fromkeys(DTYPES, kinds.DTYPE),
    **dict.fromkeys(ENUMERATORS["MemoryFormat"], kinds.MEMORY_FORMAT),
    **dict.fromkeys(("True", "False", "true", "false"), kinds.BOOL),
}

_ATTRIBUTES = {"shape": kinds.INTS, "dtype": kinds.DTYPE, "device": kinds.DEVICE, "ndim": kinds.INT}
# Methods of a tensor: the result without arguments, and with one integer.
_METHODS: Mapping[str, tuple[Kind, Kind | None]] = {
    "size": (kinds.INTS, kinds.INT),
    "sym_size": (kinds.INTS, kinds.INT),
    "stride": (kinds.INTS, kinds.INT),
    "dim": (kinds.INT, None),
    "numel": (kinds.INT, None),
    "storage_offset": (kinds.INT, None),
}


class Function(NamedTuple):
    """A function for rules: its parameters (`...` repeats the last), minimum count and result."""

    takes: tuple[frozenset[Kind], ...]
    least: int
    result: Kind
    repeats: bool = False


_INT = frozenset({kinds.INT})
_BOOL = frozenset({kinds.BOOL})
_TENSOR = frozenset({kinds.TENSOR})
_SHAPE = frozenset({kinds.TENSOR, kinds.INTS})
_DIMS = frozenset(
    kind._replace(is_optional=flag) for kind in (kinds.INT, kinds.INTS) for flag in (False, True)
)
FUNCTIONS: Mapping[str, Function] = {
    "broadcast": Function((_SHAPE,), 1, kinds.INTS, True),
    "ceil_div": Function((_INT, _INT), 2, kinds.INT),
    "concat": Function((frozenset({kinds.INTS}),), 1, kinds.INTS, True),
    "floor_div": Function((_INT, _INT), 2, kinds.INT),
    "len": Function((_LISTS,), 1, kinds.INT),
    "max": Function((_INT,), 2, kinds.INT, True),
    "min": Function((_INT,), 2, kinds.INT, True),
    "promote": Function((NUMBERS | {kinds.TENSOR, kinds.DTYPE},), 1, kinds.DTYPE, True),
    "real": Function((frozenset({kinds.DTYPE, kinds.TENSOR}),), 1, kinds.DTYPE),
    "reduced": Function((_SHAPE, _DIMS, frozenset({kinds.BOOL})), 2, kinds.INTS),
    "sum_sizes": Function((frozenset({kinds.TENSORS}), _INT), 2, kinds.INT),
    "with_size": Function((_SHAPE, _INT, _INT), 3, kinds.INTS),
}


def value_kind(type_: Type) -> Kind:
    """The kind of an argument or a result; rules treat symbolic integers as integers."""
    kind = kind_of_type(type_)
    if kind.sort is Sort.symint:
        kind = kind._replace(sort=Sort.int)
    return kinds.UNKNOWN if kind.is_list and kind.present not in _LISTS else kind


@dataclass(slots=True)
class Scope:
    """The kinds of the arguments, and the mistakes found."""

    kinds: Mapping[str, Kind]
    found: list[Found] = field(default_factory=list)

    def report(
        self, code: str, message: str, node: nodes.Expression, label: str, help: str | None = None
    ) -> Kind:
        self.found.append(Found(code, message, node.span, label, help))
        return kinds.UNKNOWN

    def with_defined(self, names: Sequence[str]) -> Scope:
        """The scope in which these arguments are known to be defined."""
        kinds = {n: k.present if n in names else k for n, k in self.kinds.items()}
        return Scope(kinds, self.found)


def fits(kind: Kind, wanted: frozenset[Kind]) -> bool:
    """Whether a value of this kind is accepted where one of the wanted kinds is expected."""
    if not kind.is_known or kind in wanted or not all(other.is_known for other in wanted):
        return True
    return (kind == kinds.INT and bool(wanted & {kinds.FLOAT, kinds.SCALAR})) or (
        kind in NUMBERS and kinds.SCALAR in wanted
    )


def expect(node: nodes.Expression, wanted: frozenset[Kind], scope: Scope) -> Kind:
    """The kind of an expression, which must be one of the wanted kinds."""
    kind = infer(node, scope)
    if fits(kind, wanted):
        return kind
    words = " or ".join(sorted(_word(w) for w in wanted))
    hint = None
    if kind.is_optional and fits(kind.present, wanted):
        hint = f"it may be None: check first, `{node}.defined() ? ... : ...`"
    return scope.report(
        "TG333", f"`{node}` is {_word(kind)}, and {words} is needed here", node, "here", hint
    )


def _word(kind: Kind) -> str:
    """`a tensor`, `a list of integers or None`."""
    noun = kind.sort.value
    word = f"a list of {noun}s" if kind.is_list else f"{'an' if noun[0] in 'aeiou' else 'a'} {noun}"
    return f"{word} or None" if kind.is_optional else word


def infer(node: nodes.Expression, scope: Scope) -> Kind:
    """The kind of an expression; mistakes are recorded in the scope."""
    match node:
        case nodes.Name():
            return _name(node, scope)
        case nodes.Literal(text):
            if text[0] not in "\"'":
                return kinds.INT if text.isdigit() else kinds.FLOAT
            if "\\" in text:
                return scope.report("TG333", "a backslash in a string", node, "not read here")
            return kinds.STRING
        case nodes.Member():
            return _member(node, scope)
        case nodes.Call(nodes.Member() as method):
            return _method(node, method, scope)
        case nodes.Call():
            return _call(node, scope)
        case nodes.Subscript(value, index):
            expect(index, _INT, scope)
            return expect(value, _LISTS, scope).element
        case nodes.ListDisplay(items):
            for item in items:
                expect(item, _INT, scope)
            return kinds.INTS
        case nodes.Conditional():
            return _conditional(node, scope)
        case nodes.Unary(operator, operand):
            return expect(operand, _BOOL if operator == "!" else NUMBERS, scope)
        case nodes.Binary():
            return _binary(node, scope)
    return scope.report("TG332", "C++ in a rule", node, "not an expression of rules")


def _name(node: nodes.Name, scope: Scope) -> Kind:
    kind = scope.kinds.get(node.text) or CONSTANTS.get(node.text)
    if kind is not None:
        return kind
    hint = did_you_mean(node.text, [*scope.kinds, *CONSTANTS])
    return scope.report("TG332", f"unknown name `{node.text}` in a rule", node, "not known", hint)


def _member(node: nodes.Member, scope: Scope) -> Kind:
    expect(node.value, _TENSOR, scope)
    kind = _ATTRIBUTES.get(node.name)
    if kind is None or node.arrow:
        near = did_you_mean(node.name, _ATTRIBUTES)
        hint: str = near or "there are " + ", ".join(f"`{name}`" for name in _ATTRIBUTES)
        if near is None and node.name in _METHODS:
            hint = write_instead(str(node), f"{node}()")
        return scope.report("TG332", f"no attribute `{node.name}` in rules", node, "here", hint)
    return kind


def _call(node: nodes.Call, scope: Scope) -> Kind:
    name = str(node.function)
    if name == "default":
        return _default(node, scope)
    function = FUNCTIONS.get(name)
    if function is None:
        hint = did_you_mean(name, [*FUNCTIONS, "default"])
        return scope.report("TG332", f"no function `{name}` in rules", node, "here", hint)
    if node.keywords:
        return scope.report("TG333", f"`{name}` takes no keyword arguments", node, "here")
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


def _default(node: nodes.Call, scope: Scope) -> Kind:
    """`default(dtype, float32)`: the first, or the second if the first is None."""
    if len(node.arguments) != 2 or node.keywords:
        return scope.report("TG333", "`default` takes 2 arguments", node, "here")
    first = infer(node.arguments[0], scope)
    if not first.is_known:
        infer(node.arguments[1], scope)
        return kinds.UNKNOWN
    wanted = {first.present} | ({kinds.STRING} if first.sort is Sort.device else set())
    expect(node.arguments[1], frozenset(wanted), scope)
    return first.present


def _method(node: nodes.Call, method: nodes.Member, scope: Scope) -> Kind:
    if method.name == "defined" and not node.arguments and not node.keywords:
        kind = infer(method.value, scope)
        if kind.is_known and not kind.is_optional:
            message = f"`{method.value}` is always there"
            return scope.report("TG333", message, node, "never None")
        return kinds.BOOL
    expect(method.value, _TENSOR, scope)
    results = _METHODS.get(method.name)
    if results is None or method.arrow:
        hint = did_you_mean(method.name, _METHODS)
        return scope.report("TG332", f"no method `{method.name}` in rules", node, "here", hint)
    count = len(node.arguments)
    result = results[min(count, 1)]
    if node.keywords or count > 1 or result is None:
        return scope.report("TG333", f"`{method.name}` does not take this", node, "here")
    for argument in node.arguments:
        expect(argument, _INT, scope)
    return result


def _conditional(node: nodes.Conditional, scope: Scope) -> Kind:
    expect(node.test, _BOOL, scope)
    yes = infer(node.yes, scope.with_defined(_defined(node.test)))
    no_scope = scope
    if isinstance(node.test, nodes.Unary) and node.test.operator == "!":
        no_scope = scope.with_defined(_defined(node.test.operand))
    no = infer(node.no, no_scope)
    if not yes.is_known:
        return no
    if fits(no, frozenset({yes})):
        return yes
    if fits(yes, frozenset({no})):
        return no
    message = f"`{node.yes}` is {_word(yes)} and `{node.no}` is {_word(no)}"
    return scope.report("TG333", message, node, "two kinds of value")


def _defined(test: nodes.Expression) -> list[str]:
    """The arguments that are defined if a test holds."""
    match test:
        case nodes.Binary("&&", left, right):
            return _defined(left) + _defined(right)
        case nodes.Call(nodes.Member(nodes.Name(name), "defined")):
            return [name]
    return []


def _binary(node: nodes.Binary, scope: Scope) -> Kind:
    if node.operator in ("&&", "||"):
        expect(node.left, _BOOL, scope)
        inner = scope.with_defined(_defined(node.left)) if node.operator == "&&" else scope
        expect(node.right, _BOOL, inner)
        return kinds.BOOL
    if node.operator in ("==", "!="):
        left = infer(node.left, scope)
        if left.is_known:
            expect(node.right, frozenset({left}) | (NUMBERS if left in NUMBERS else set()), scope)
        return kinds.BOOL
    left, right = expect(node.left, NUMBERS, scope), expect(node.right, NUMBERS, scope)
    if node.operator in ("<", ">", "<=", ">="):
        return kinds.BOOL
    if node.operator == "/" and left == right == kinds.INT:
        hint = write_instead(str(node), f"floor_div({node.left}, {node.right})")
        return scope.report("TG333", "`/` gives no integer", node, "here", hint)
    if node.operator in ("|", "^", "&"):
        return scope.report("TG333", f"`{node.operator}` is not for rules", node, "here")
    return kinds.INT if left == right == kinds.INT else kinds.FLOAT
