"""A derivative formula in C++.

    grads[0].defined() ? where(self >= 0, grads[0], weight) : zeros_like(self)

is `grads[0].defined() ? at::where(self >= 0, grads[0], weight) : self_info.zeros()`. Operators of
PyTorch are `at` functions or tensor methods; the library's operators are functions of its own. First
`in_cpp` puts these into the tree, by kinds (Note [Kinds in formulas]), then the tree is written.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain, repeat

from torchgen_lite.analysis.derive.layout import argument_layout, element_name
from torchgen_lite.analysis.differentiability.vocabulary import CPP_CONSTANTS, called_in_torch
from torchgen_lite.formulas import model as nodes
from torchgen_lite.formulas.callees import Callee
from torchgen_lite.formulas.facts import Fact
from torchgen_lite.formulas.kinds import BOOL, INTS, TENSOR, Kind, Sort
from torchgen_lite.formulas.operands import BITWISE, COMPARISONS, INTEGERS, is_nonzero
from torchgen_lite.formulas.tree import Typed
from torchgen_lite.languages.cpp.defaults import as_written
from torchgen_lite.languages.cpp.text import function_name, identifier, quote
from torchgen_lite.languages.cpp.torch_types import Sizes
from torchgen_lite.schema import Argument, OptionalType
from torchgen_lite.schema.model import bare_type

_CONSTANTS = {
    "None": "std::nullopt",
    **dict.fromkeys(("True", "true"), "true"),
    **dict.fromkeys(("False", "false"), "false"),
}
ATTRIBUTES = {
    **{n: f"{n}()" for n in "device layout mH mT requires_grad".split()},
    "T": "numpy_T()",
    "H": "matrix_H()",
    "dtype": "scalar_type()",
    "ndim": "dim()",
    "shape": "sym_sizes()",
}
"""Tensor attributes in Python."""
# Methods with another name in C++, with arguments and without.
_METHODS = {"numel": "sym_numel", "size": "sym_size", "sizes": "sym_sizes", "stride": "sym_stride"}
_WITHOUT_ARGUMENTS = (
    _METHODS | dict.fromkeys(("size", "sym_size"), "sym_sizes") | {"stride": "sym_strides"}
)
OPTIONS = {**{n: n for n in "dtype layout device".split()}, "pin_memory": "pinned_memory"}
"""The arguments that C++ combines into one, and how each is set on it."""

# What C++ calculates with in another way, and the class of one of them.
_SYMBOLIC = frozenset({Sort.symint, Sort.symfloat})
_SYMFLOAT = "c10::SymFloat"

REFLECTED = {"-": "rsub", "/": "reciprocal", "%": "remainder"}
"""What computes a number and a tensor, in this order."""


@dataclass(frozen=True, slots=True)
class Functions:
    """What formulas may call: the library's operators in `namespace`, by name, with the struct of
    their typed call. `has_headers`: the author's headers may define more functions. `python` are
    functions that only Python has."""

    namespace: str
    structs: Mapping[str, str] = field(default_factory=dict)
    has_headers: bool = False
    python: Collection[str] = ()

    def names(self) -> set[str]:
        """The names of the library's operators, without namespace and overload."""
        return {full_name.partition("::")[2].partition(".")[0] for full_name in self.structs}


def write(
    tree: Typed,
    functions: Functions,
    method: str = "",
) -> str:
    """A formula in C++, as a gradient, which is a tensor; or what a `method` of it gives."""
    whole = _tensor(tree, in_cpp(tree, functions))
    return nodes.write(nodes.call(nodes.Member(whole, method)) if method else whole, SYNTAX)


def in_cpp(tree: Typed, functions: Functions) -> nodes.Expression:
    """The formula with the names, functions and conversions of C++."""
    node = tree.node
    given = tree.parts
    if tree.saved is not None:
        local = nodes.Name(identifier(tree.saved.name))
        if tree.saved.fact is Fact.info:
            return nodes.call(nodes.Member(local, "zeros"))
        return local
    parts = [in_cpp(part, functions) for part in given]
    match node:
        case nodes.Call():
            return _called(tree, node, parts, functions)
        case nodes.Member(_, name, arrow):
            shown = name if arrow else ATTRIBUTES.get(name, name)
            return replace(node, value=_value(given[0], parts[0]), name=shown)
        case nodes.Subscript(nodes.Name("grads" | "grad_input_mask"), nodes.Literal()):
            pass
        case nodes.Subscript():
            # C++ lists have no negative indices, and check none. What a function gives may be several results.
            index = _concrete(given[1], parts[1])
            return nodes.call("autograd::item", _value(given[0], parts[0]), index)
        case nodes.ListDisplay():
            if any(part.kind == TENSOR for part in given):
                parts = list(map(_tensor, given, parts))
        case nodes.Unary(operator) if operator != "*":
            value = _value(given[0], parts[0])
            if operator != "!":
                return _signed(node, given[0], value)
            parts = [_truth(given[0], value)]
        case nodes.Conditional():
            parts = [_truth(given[0], parts[0]), *_branches(given[1:], parts[1:])]
        case nodes.Binary("==" | "!=" as operator) if any(side.kind.is_optional for side in given):
            # An absent value equals no other, in Python too.
            equal = nodes.call("autograd::equal", *parts)
            return equal if operator == "==" else nodes.Unary("!", equal)
        case nodes.Binary():
            return _binary(node, given, list(map(_value, given, parts)))
        case nodes.Literal(text) if text[:1] in "'\"":
            return nodes.Literal(quote(text[1:-1]))
        case nodes.Name(text) if text in CPP_CONSTANTS and functions.namespace:
            # In a reference, which has no namespace, this is an argument. One of a formula is saved.
            return node
        case nodes.Name(text) if "::" not in text:
            return nodes.Name(_CONSTANTS.get(text) or identifier(text))
    return nodes.rebuild(node, parts)


def _value(tree: Typed, node: nodes.Expression) -> nodes.Expression:
    """The expression as an operand: an optional number or list is unpacked."""
    if tree.kind.is_optional:
        return nodes.call(nodes.Member(_possible(tree, node), "value"))
    return node


def _possible(tree: Typed, node: nodes.Expression) -> nodes.Expression:
    """An optional value as `std::optional`, which an optional list is not."""
    if tree.kind.is_list:
        return nodes.call("autograd::possible", node)
    return node


def _tensor(tree: Typed, node: nodes.Expression) -> nodes.Expression:
    """The expression where `None` is a tensor that is not defined."""
    return nodes.call("at::Tensor") if tree.is_none else node


def plain_number(tree: Typed, node: nodes.Expression) -> nodes.Expression:
    """A number that C++ calculates with: arithmetic of two `at::Scalar`s does not exist."""
    if tree.kind.sort is Sort.scalar:
        return nodes.call(nodes.Member(node, "toDouble"))
    return node


def _truth(tree: Typed, node: nodes.Expression) -> nodes.Expression:
    """A condition: C++ converts no symbolic number to a boolean."""
    if tree.kind.sort in _SYMBOLIC:
        return nodes.Binary("!=", node, nodes.Literal("0"))
    return plain_number(tree, node)


def _branches(
    given: Sequence[Typed], sides: Sequence[nodes.Expression]
) -> Sequence[nodes.Expression]:
    """Both branches of a condition have one type in C++, and `None` alone has none."""
    if given[0].kind.sort is given[1].kind.sort:
        return sides
    return [_tensor(tree, _value(tree, side)) for tree, side in zip(given, sides)]


def _signed(
    node: nodes.Unary,
    tree: Typed,
    value: nodes.Expression,
) -> nodes.Expression:
    """A sign before a value. Symbolic integers have no `+`, and symbolic floats no sign."""
    if tree.kind.sort not in _SYMBOLIC or (node.operator, tree.kind.sort) == ("-", Sort.symint):
        return nodes.rebuild(node, [value])
    if node.operator == "+":
        return value
    return nodes.Binary("*", nodes.call(_SYMFLOAT, nodes.Literal("-1.0")), value)


def _binary(
    node: nodes.Binary,
    given: Sequence[Typed],
    sides: Sequence[nodes.Expression],
) -> nodes.Expression:
    operator = node.operator
    kinds = [side.kind.present for side in given]
    if operator in ("&&", "||"):
        return nodes.rebuild(node, list(map(_truth, given, sides)))
    if all(kind.is_number for kind in kinds):
        return _of_numbers(node, given, list(map(plain_number, given, sides)))
    if not is_before_tensor(node, kinds):
        return nodes.rebuild(node, sides)
    number, tensor = sides
    if operator == "/":
        inverse = nodes.call(nodes.Member(tensor, "reciprocal"))
        is_one = str(number) in ("1", "1.0")
        return inverse if is_one else nodes.Binary("*", number, inverse)
    if operator == "-":
        return nodes.call("at::rsub", tensor, number)
    return nodes.call("at::remainder", *sides)


def _of_numbers(
    node: nodes.Binary,
    given: Sequence[Typed],
    sides: Sequence[nodes.Expression],
) -> nodes.Expression:
    """An operation of two numbers."""
    operator = node.operator
    sorts = {side.kind.sort for side in given}
    # An operation of integers gives one, but for a quotient.
    is_whole = operator != "/" and sorts <= INTEGERS
    if Sort.symfloat in sorts or (Sort.symint in sorts and not is_whole):
        sides = [nodes.call(_SYMFLOAT, side) for side in sides]
    elif operator == "/" and sorts <= INTEGERS:
        sides = [nodes.call("static_cast<double>", sides[0]), sides[1]]
    elif operator == "%" and not is_nonzero(node.right):
        return nodes.call("autograd::remainder", *sides)
    elif operator in "+-*%&|^" and all(map(is_narrow, given)):
        sides = [nodes.call("int64_t", sides[0]), sides[1]]
    return nodes.rebuild(node, sides)


def is_narrow(tree: Typed) -> bool:
    """Whether C++ has an `int` for it, where other integers of formulas have 64 bits."""
    if isinstance(tree.node, nodes.Unary | nodes.Conditional):
        return all(map(is_narrow, tree.parts[-2:]))
    is_literal = isinstance(tree.node, nodes.Literal) and tree.kind.sort in INTEGERS
    return is_literal or tree.kind.present == BOOL


def is_before_tensor(node: nodes.Binary, kinds: Sequence[Kind]) -> bool:
    """Whether a number stands before a tensor. C++'s operators would give it the dtype of the tensor, which cuts
    `2.5` off before integers, and divides no integers."""
    return node.operator in REFLECTED and kinds[0].present.is_number and kinds[1].present == TENSOR


def _is_unclear(outer: str, inner: str) -> bool:
    """Whether compilers ask for brackets: few readers know how tightly these bind."""
    if outer in BITWISE:
        return inner != outer
    return (outer in COMPARISONS and inner in COMPARISONS) or (outer, inner) == ("||", "&&")


SYNTAX = nodes.CPP._replace(last=2, is_unclear=_is_unclear)
# Arguments of a call, by position and by name, each with its tree, which a default has not.
_Bound = list[tuple[nodes.Expression, Typed | None]]
_Named = dict[str, tuple[nodes.Expression, Typed | None]]


def _called(
    tree: Typed,
    node: nodes.Call,
    parts: Sequence[nodes.Expression],
    functions: Functions,
) -> nodes.Expression:
    """A call, of a method or of a function."""
    function = node.function
    if isinstance(function, nodes.Member):
        kind = tree.parts[0].kind
        name = function.name
        value = parts[0]
        if name == "size" and kind.is_list and not node.arguments:
            # C++ counts without signs.
            return nodes.call(
                "int64_t", nodes.call(nodes.Member(_value(tree.parts[0], value), "size"))
            )
        if name == "defined" and kind.is_optional:
            return nodes.call(nodes.Member(_possible(tree.parts[0], value), "has_value"))
        if name == "conj" and kind.is_number and kind.sort is not Sort.scalar:
            return nodes.call("", value)
    count = len(parts) - len(node.keywords)
    given: _Bound = list(zip(parts, tree.parts))
    named = dict(zip(node.keyword_names, given[count:]))
    if tree.operator is not None and tree.operator.is_own:
        return _own(tree.operator, given[:count], named, functions)
    first = count - len(node.arguments)
    items, is_symbolic = _arguments(tree, given[:count], named, first)
    if isinstance(function, nodes.Member):
        name = (_METHODS if items else _WITHOUT_ARGUMENTS).get(function.name, function.name)
        shown = replace(function, value=parts[0], name=_symbolic(name, is_symbolic))
        return nodes.call(shown, *items)
    if not isinstance(function, nodes.Name):
        return nodes.call(parts[0], *parts[1:])
    if "::" in function.text:
        return nodes.call(function, *items)
    if function.text == "not_implemented":
        return nodes.call("autograd::not_implemented", *items)
    # If the author has functions too, the namespace `formulas` sees both theirs and PyTorch's.
    sees_both = functions.has_headers and not function.is_torchs
    scope = "formulas" if sees_both else "at"
    return nodes.call(f"{scope}::{_symbolic(function.text, is_symbolic)}", *items)


def _symbolic(name: str, is_symbolic: bool) -> str:
    """The variant of a function that takes symbolic sizes, which a formula may name itself."""
    if is_symbolic and not name.endswith("_symint"):
        return f"{name}_symint"
    return name


def _own(
    operator: Callee,
    given: _Bound,
    named: _Named,
    functions: Functions,
) -> nodes.Expression:
    """A call of an operator of the library."""
    bound = _bound(operator, given, named, every=not operator.is_function)
    places = operator.func.arguments
    is_symbolic = _is_symbolic(bound, places)
    takes_symbols = is_symbolic or not operator.is_function
    items = []
    for (item, tree), argument in zip(bound, places):
        passed = _passed(item, tree, argument, takes_symbols)
        is_known = tree is not None and tree.kind.is_known
        is_optional = is_known and bare_type(argument.type) == "Tensor?"
        items.append(nodes.call("autograd::optional", passed) if is_optional else passed)
    name = f"functions::{function_name(operator.func.base_name)}{'_symint' * is_symbolic}"
    if not operator.is_function:
        name = f"ops::{functions.structs[operator.name]}::call"
    return nodes.call(f"::{functions.namespace}::{name}", *items)


def _arguments(
    call: Typed,
    given: _Bound,
    named: _Named,
    first: int,
) -> tuple[list[nodes.Expression], bool]:
    """The arguments of a call of a PyTorch function, from `first` on, and whether one is symbolic."""
    options = {key: named.pop(key)[0] for key in OPTIONS if key in named}
    bound = given
    if call.operator is not None and named:
        bound = _bound(call.operator, given, named)
    callee = called_in_torch(call)
    if callee is None:
        # Functions of the author's take symbolic numbers as they are.
        is_symbolic = any(tree and tree.kind.sort is Sort.symint for _, tree in bound[first:])
        items = [item for item, _ in bound]
    else:
        places = callee.by_position(len(bound))
        is_symbolic = _is_symbolic(bound, places)
        pairs = zip(bound, chain(places, repeat(None)))
        items = [_passed(item, tree, argument, is_symbolic) for (item, tree), argument in pairs]
    items = items[first:]
    if options:
        made: nodes.Expression = nodes.call("at::TensorOptions")
        for key, value in options.items():
            made = nodes.call(nodes.Member(made, OPTIONS[key]), value)
        items.append(made)
    return items, is_symbolic


def _is_symbolic(bound: _Bound, places: Sequence[Argument | None]) -> bool:
    """Whether a symbolic integer is given for an argument that takes one, which is another function in C++."""
    return any(
        tree is not None and tree.kind.sort is Sort.symint and _takes_symbols(argument)
        for (_, tree), argument in zip(bound, places)
    )


def _takes_symbols(argument: Argument | None) -> bool:
    return argument is not None and element_name(argument.type) == "SymInt"


def _passed(
    node: nodes.Expression,
    tree: Typed | None,
    argument: Argument | None,
    is_symbolic: bool,
) -> nodes.Expression:
    """A number, or a list of some, as the argument of a function that takes symbolic integers if it `is_symbolic`."""
    if tree is None or argument is None:
        return node
    if tree.kind.is_optional and tree.kind.present.is_number:
        if isinstance(argument.type, OptionalType):
            return node
        return nodes.call(nodes.Member(node, "value"))
    if is_symbolic and _takes_symbols(argument):
        if tree.kind == INTS and not isinstance(node, nodes.ListDisplay):
            return nodes.call("c10::fromIntArrayRefSlow", node)
        return node
    if tree.kind.sort in _SYMBOLIC and element_name(argument.type) == "Scalar":
        return nodes.call("at::Scalar", node)
    if tree.kind.sort is Sort.symfloat and element_name(argument.type) in {"int", "SymInt"}:
        # Left to the compiler, which refuses it: a `double` would become an integer without a word.
        return node
    return _concrete(tree, node)


def _concrete(tree: Typed, node: nodes.Expression) -> nodes.Expression:
    """A symbolic number, or the items of a list, as those that C++ has otherwise."""
    if tree.kind.sort not in _SYMBOLIC:
        return node
    if isinstance(node, nodes.ListDisplay):
        return replace(node, items=tuple(map(_concrete, tree.parts, node.items)))
    return nodes.call("autograd::concrete", node)


def _bound(
    operator: Callee,
    given: _Bound,
    named: _Named,
    *,
    every: bool = False,
) -> _Bound:
    """Arguments in the order of the schema, with its defaults between; all of them, or what is needed."""
    bound = [*given]
    left = set(named)
    for argument in argument_layout(operator.func).inputs[len(given) :]:
        if not left and not every:
            break
        if argument.name in left:
            left.discard(argument.name)
            bound.append(named[argument.name])
        else:
            sizes: Sizes = "SymInt" if every else "int"
            default = as_written(argument.default or "None", argument.type, sizes)
            bound.append((nodes.Name(default.text), None))
    return bound
