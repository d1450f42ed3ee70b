"""Formulas whose nodes know their kind, what is saved for them, which operator they call, and what is wrong.

A single bottom-up pass builds the tree, so that code that prints or checks it computes nothing twice.

Note [Strictness]
One walk serves every language of `language.py`. Where a language assumes a kind for what is in no table, nothing is
a mistake here: `analysis` checks what it knows for certain, and compilers the rest. Where a language is closed, each
operand must be of the kind that its node needs. A node that isn't right has a `mistake` and an unknown kind, so that
nothing is said twice. Only there does `x.defined() ? ... : ...` make the kind of `x` that of a value which is
present: printers of C++ unpack by the declared kind.
"""

from __future__ import annotations

from collections.abc import Sequence

from torchgen_lite.diagnostics import Help, did_you_mean, write_instead
from torchgen_lite.diagnostics.text import quoted
from torchgen_lite.formulas import model as nodes
from torchgen_lite.formulas.callees import Callee, chosen
from torchgen_lite.formulas.kinds import (
    BOOL,
    FLOAT,
    INT,
    INTS,
    STRING,
    SYMFLOAT,
    SYMINT,
    SYMINTS,
    TENSOR,
    UNKNOWN,
    Kind,
    Sort,
    kind_of_type,
)
from torchgen_lite.formulas.language import ANY, LISTS, NUMBERS, Language, Wanted
from torchgen_lite.formulas.model import children
from torchgen_lite.formulas.operands import BITWISE, COMPARISONS, joint
from torchgen_lite.formulas.tree import Mistake, Scope, Typed, fits, kinds_of, saved_by

_INT = frozenset({INT})
_BOOL = frozenset({BOOL})
_TENSOR = frozenset({TENSOR})


def type_formula(node: nodes.Expression, scope: Scope, wanted: Wanted = ANY) -> Typed:
    """The tree of a formula with kinds; the whole is of a wanted kind, or has a mistake."""
    tree = _typed(node, scope)
    if not scope.language.is_closed:
        saved = saved_by(node, scope)
        if saved is None:
            return tree
        return tree._replace(saved=saved, operator=None)
    if fits(tree.kind, wanted):
        return tree
    words = " or ".join(sorted(kind.words for kind in wanted))
    hint = None
    if tree.kind.is_optional and fits(tree.kind.present, wanted):
        hint = f"it may be None: check first, `{node}.defined() ? ... : ...`"
    message = f"`{node}` is {tree.kind.words}, and {words} is needed here"
    return _wrong(tree, scope, message, hint=hint)


def _wrong(
    tree: Typed, scope: Scope, message: str, label: str = "here", hint: Help | None = None
) -> Typed:
    """The node as one of the wrong kind."""
    code = scope.language.wrong_kind
    return tree._replace(kind=UNKNOWN, mistake=Mistake(code, message, label, hint))


def _foreign(
    tree: Typed, scope: Scope, message: str, label: str = "here", hint: Help | None = None
) -> Typed:
    """The node as one that the language doesn't have."""
    code = scope.language.unknown_name
    return tree._replace(kind=UNKNOWN, mistake=Mistake(code, message, label, hint))


def _typed(node: nodes.Expression, scope: Scope) -> Typed:
    match node:
        case nodes.Name():
            return _name(node, scope)
        case nodes.Literal(text):
            return _literal(node, text, scope)
        case nodes.Member():
            return _member(node, scope)
        case nodes.Call(nodes.Member() as method):
            return _method(node, method, scope)
        case nodes.Call():
            return _call(node, scope)
        case nodes.Subscript(value, index):
            of = type_formula(value, scope, LISTS)
            at = type_formula(index, scope, _INT)
            return Typed(node, _item_kind(of.kind, scope), (of, at))
        case nodes.ListDisplay(items):
            parts = tuple([type_formula(item, scope, _INT) for item in items])
            kinds = [part.kind for part in parts if not part.is_none]
            return Typed(node, INTS if scope.language.is_closed else _list_kind(kinds), parts)
        case nodes.Conditional():
            return _conditional(node, scope)
        case nodes.Unary():
            return _unary(node, scope)
        case nodes.Binary():
            return _binary(node, scope)
        case nodes.Lambda(_, items, called) if scope.language.is_python:
            known = scope.language.functions.get(called)
            parts = tuple([type_formula(item, scope) for item in items])
            return Typed(node, known.result if known else UNKNOWN, parts)
    return _in_cpp(Typed(node, UNKNOWN), scope)


def _item_kind(of: Kind, scope: Scope) -> Kind:
    if of.is_list and of.is_known:
        return Kind(of.sort)
    is_of_tensor = scope.language.is_python and of.present == TENSOR
    if is_of_tensor:
        return TENSOR
    return scope.language.assumed


def _in_cpp(tree: Typed, scope: Scope) -> Typed:
    """A node that only C++ has."""
    noun = scope.language.noun
    if scope.language.is_closed:
        return _foreign(tree, scope, f"C++ in a {noun}", f"not an expression of {noun}s")
    return tree


def _name(node: nodes.Name, scope: Scope) -> Typed:
    text = node.text
    language = scope.language
    kind = scope.kinds.get(text) or language.constants.get(text)
    if kind is not None:
        return Typed(node, kind)
    if not language.is_closed:
        return Typed(node, UNKNOWN if text == "None" or "::" in text else language.assumed)
    return _foreign(
        Typed(node, UNKNOWN),
        scope,
        f"unknown name `{text}` in a {language.noun}",
        "not known",
        did_you_mean(text, [*scope.kinds, *language.constants]),
    )


def _literal(node: nodes.Literal, text: str, scope: Scope) -> Typed:
    if text[0] not in "\"'":
        return Typed(node, INT if text.isdigit() else FLOAT)
    if scope.language.is_closed and "\\" in text:
        tree = Typed(node, STRING)
        return _wrong(tree, scope, "a backslash in a string", "strings have no escapes")
    return Typed(node, STRING)


def _list_kind(items: Sequence[Kind]) -> Kind:
    """A list with a symbolic integer is a list of symbolic integers."""
    if SYMINT in items:
        return SYMINTS
    return Kind(items[0].sort if len(set(items)) == 1 else Sort.unknown, is_list=True)


def _member(node: nodes.Member, scope: Scope) -> Typed:
    language = scope.language
    parts = (type_formula(node.value, scope, _TENSOR),)
    kind = UNKNOWN if node.arrow else language.attributes.get(node.name, language.assumed)
    if not language.is_closed or (node.name in language.attributes and not node.arrow):
        return Typed(node, kind, parts)
    near = did_you_mean(node.name, language.attributes)
    hint = near or "there are " + quoted(language.attributes)
    if near is None and node.name in language.methods:
        hint = write_instead(str(node), f"{node}()")
    message = f"no attribute `{node.name}` in {language.noun}s"
    return _foreign(Typed(node, kind, parts), scope, message, hint=hint)


def _method(node: nodes.Call, method: nodes.Member, scope: Scope) -> Typed:
    name = method.name
    count = len(node.arguments)
    language = scope.language
    is_test = name == "defined" and not count and not node.keywords
    of = type_formula(method.value, scope, ANY if is_test else _TENSOR)
    parts = (of, *[type_formula(child, scope, _INT) for child in children(node)[1:]])
    operator = chosen(node, kinds_of(parts), scope.operators)
    known = language.methods.get(name)
    if operator is not None and operator.is_own:
        kind = _returned(operator)
    elif name == "conj":
        kind = of.kind
    elif name == "size" and of.kind.is_list and not count:
        kind = INT
    elif known is not None:
        is_indexed = count > 0 or node.keyword_names == ["dim"]
        kind = (known.indexed if is_indexed else None) or known.result
    elif operator is not None:
        kind = _returned(operator)
    else:
        # A method of a number, such as `alpha.toFloat()`, makes no tensor.
        is_tensor = of.kind.present in (TENSOR, UNKNOWN)
        kind = _undeclared(node, parts, scope) if is_tensor else UNKNOWN
    tree = Typed(node, kind, parts, None, operator)
    if not language.is_closed:
        return tree
    if known is None or method.arrow:
        return _foreign(
            tree,
            scope,
            f"no method `{name}` in {language.noun}s",
            hint=did_you_mean(name, language.methods) or "there are " + quoted(language.methods),
        )
    if node.keywords or count > (known.indexed is not None):
        return _wrong(tree, scope, f"`{name}` does not take this")
    if is_test and of.kind.is_known and not of.kind.is_optional:
        message = f"`{method.value}` is not optional"
        return _wrong(tree, scope, message, f"`{name}()` is always true")
    return tree


def _undeclared(node: nodes.Call, parts: Sequence[Typed], scope: Scope) -> Kind:
    """What is known of a call of what no operator is, else what the language assumes."""
    known = scope.undeclared(node, kinds_of(parts))
    if known == UNKNOWN:
        return scope.language.assumed
    return known


def _returned(operator: Callee) -> Kind:
    """Several results have items, as a list has."""
    kinds = [kind_of_type(value.type) for value in operator.func.returns]
    if len(kinds) == 1:
        return kinds[0]
    return _list_kind(kinds)


def _call(node: nodes.Call, scope: Scope) -> Typed:
    name = str(node.function)
    language = scope.language
    if language.is_closed and name == "default":
        return _default(node, scope)
    known = language.functions.get(name)
    parts = []
    for position, child in enumerate(children(node)):
        wanted = known.wanted(position) if known is not None else ANY
        parts.append(type_formula(child, scope, wanted))
    operator = chosen(node, kinds_of(parts), scope.operators)
    kind = _undeclared(node, parts, scope) if operator is None else _returned(operator)
    tree = Typed(node, known.result if known else kind, tuple(parts), None, operator)
    if not language.is_closed:
        return tree
    if known is None:
        return _foreign(
            tree,
            scope,
            f"no function `{name}` in {language.noun}s",
            hint=_function_meant(node, name, language),
        )
    if node.keywords:
        return _wrong(tree, scope, f"`{name}` takes no keyword arguments")
    takes = known.miscounted(len(node.arguments))
    if takes:
        return _wrong(tree, scope, f"`{name}` takes {takes}")
    return tree


def _function_meant(node: nodes.Call, name: str, language: Language) -> Help:
    """The method that is called as a function, a function with a similar name, or all of them."""
    if name in language.methods and len(node.arguments) == 1:
        return write_instead(str(node), f"{node.arguments[0]}.{name}()")
    names = [*language.functions, "default"]
    return did_you_mean(name, names) or "there are " + quoted(names)


def _default(node: nodes.Call, scope: Scope) -> Typed:
    """`default(dtype, float32)`: the first, or the second if the first is None."""
    if len(node.arguments) != 2 or node.keywords:
        return _wrong(Typed(node, UNKNOWN), scope, "`default` takes 2 arguments")
    first = type_formula(node.arguments[0], scope)
    wanted = {first.kind.present} | ({STRING} if first.kind.sort is Sort.device else set())
    second = type_formula(node.arguments[1], scope, frozenset(wanted))
    return Typed(node, first.kind.present, (first, second))


def _conditional(node: nodes.Conditional, scope: Scope) -> Typed:
    test = type_formula(node.test, scope, _BOOL)
    yes = type_formula(node.yes, scope.with_defined(_defined(node.test)))
    no = type_formula(node.no, scope.with_defined(_undefined(node.test)))
    if yes.is_none:
        kind = no.kind
    elif no.is_none:
        kind = yes.kind
    else:
        kind = joint(yes.kind, no.kind)
    if scope.language.is_python and yes.kind != no.kind:
        kind = UNKNOWN
    tree = Typed(node, kind, (test, yes, no))
    if not scope.language.is_closed or fits(no.kind, frozenset({yes.kind})):
        return tree
    if fits(yes.kind, frozenset({no.kind})):
        return tree._replace(kind=no.kind)
    return _wrong(
        tree,
        scope,
        f"`{node.yes}` is {yes.kind.words} and `{node.no}` is {no.kind.words}",
        "two kinds of value",
    )


def _defined(test: nodes.Expression) -> list[str]:
    """The arguments that are defined if a test holds."""
    match test:
        case nodes.Binary("&&", left, right):
            return _defined(left) + _defined(right)
        case nodes.Call(nodes.Member(nodes.Name(name), "defined")):
            return [name]
    return []


def _undefined(test: nodes.Expression) -> list[str]:
    """The arguments that are defined if a test does not hold."""
    match test:
        case nodes.Binary("||", left, right):
            return _undefined(left) + _undefined(right)
        case nodes.Unary("!", operand):
            return _defined(operand)
    return []


def _unary(node: nodes.Unary, scope: Scope) -> Typed:
    is_not = node.operator == "!"
    value = type_formula(node.operand, scope, _BOOL if is_not else NUMBERS)
    kind = value.kind.present
    if is_not:
        kind = BOOL
    elif kind == BOOL:
        kind = INT
    tree = Typed(node, kind, (value,))
    if node.operator == "*":
        return _in_cpp(tree, scope)
    if node.operator == "~" and scope.language.is_closed:
        return _wrong(tree, scope, f"`~` is not for {scope.language.noun}s")
    return tree


def _binary(node: nodes.Binary, scope: Scope) -> Typed:
    operator = node.operator
    if operator in ("&&", "||"):
        left = type_formula(node.left, scope, _BOOL)
        # The right side is asked if the left one holds, or does not.
        known = _defined(node.left) if operator == "&&" else _undefined(node.left)
        right = type_formula(node.right, scope.with_defined(known), _BOOL)
        is_operand = scope.language.is_python and {left.kind, right.kind} != {BOOL}
        return Typed(node, UNKNOWN if is_operand else BOOL, (left, right))
    is_equality = operator in ("==", "!=")
    left = type_formula(node.left, scope, ANY if is_equality else NUMBERS)
    others = NUMBERS if left.kind in NUMBERS else frozenset()
    wanted = others | {left.kind} if is_equality else NUMBERS
    right = type_formula(node.right, scope, wanted)
    sides = left.kind.present, right.kind.present
    tree = Typed(node, _binary_kind(operator, *sides, scope.language.assumed), (left, right))
    if not scope.language.is_closed:
        return tree
    if operator == "/" and sides == (INT, INT):
        return _wrong(
            tree,
            scope,
            "`/` gives no integer",
            hint=write_instead(str(node), f"floor_div({node.left}, {node.right})"),
        )
    if operator in BITWISE:
        return _wrong(tree, scope, f"`{operator}` is not for {scope.language.noun}s")
    chained = _compared_in(node.left)
    if operator in COMPARISONS and not is_equality and chained is not None:
        return _wrong(
            tree,
            scope,
            f"`{node}` compares the result of a comparison",
            hint=write_instead(str(node), f"{node.left} && {chained} {operator} {node.right}"),
        )
    return tree


def _compared_in(node: nodes.Expression) -> nodes.Expression | None:
    """The last operand of a comparison; None if the node is none."""
    if isinstance(node, nodes.Binary) and node.operator in COMPARISONS:
        return node.right
    return None


def _binary_kind(operator: str, left: Kind, right: Kind, assumed: Kind) -> Kind:
    if TENSOR in (left, right):
        return TENSOR
    if operator in COMPARISONS and left.is_known and right.is_known:
        return BOOL
    if not (left.is_number and right.is_number):
        return assumed
    sorts = {left.sort, right.sort}
    is_symbolic = bool(sorts & {Sort.symint, Sort.symfloat})
    if operator == "/" or sorts & {Sort.float, Sort.symfloat, Sort.scalar}:
        return SYMFLOAT if is_symbolic else FLOAT
    return SYMINT if is_symbolic else INT
