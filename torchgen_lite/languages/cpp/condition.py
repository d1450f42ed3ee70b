"""A condition of `dispatch`, by which one of several kernels is chosen, in C++.

    x.dtype in {half, bfloat16} and x.size(-1) % 8 == 0

is, for libtorch,

    (x.scalar_type() == at::ScalarType::Half || x.scalar_type() == at::ScalarType::BFloat16) &&
        x.sym_size(-1) % 8 == 0

Note [Numbers of conditions]
Conditions calculate as Python does: a quotient is rounded down, a negative index counts from the end, and an index that
is not there or a divisor of zero is an error. Where C++ differs, functions of `selection_numbers.h` are called.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial, reduce
from typing import NamedTuple

from torchgen_lite.formulas import model as nodes
from torchgen_lite.formulas.kinds import BOOL, FLOAT, INT, TENSOR, Kind, Sort
from torchgen_lite.formulas.language import TRUTH
from torchgen_lite.formulas.model import Expression
from torchgen_lite.formulas.tree import Typed
from torchgen_lite.languages.cpp.formula import SYNTAX, is_narrow, plain_number
from torchgen_lite.languages.cpp.text import identifier, quote
from torchgen_lite.schema import FunctionSchema, OptionalType, Type
from torchgen_lite.schema.defaults import ENUMERATORS
from torchgen_lite.schema.model import bare_type

_EQUALITIES = ("==", "!=")
# What a tensor is asked under two names.
_SAME = {"ndim": "dim"}
# What methods give without arguments: all sizes.
_EVERY = {"size": "shape", "stride": "strides"}
_ONE = {fact: method for method, fact in _EVERY.items()}
# What is never less than zero, so that the remainders of C++ are those of Python.
_COUNTS = frozenset({"dim", "ndim", "numel", "shape", "size", "storage_offset"})

FACTS = (
    "dim",
    "dtype",
    "is_aligned",
    "is_complex",
    "is_contiguous",
    "is_floating_point",
    "numel",
    "requires_grad",
    "shape",
    "size",
    "storage_offset",
    "stride",
    "strides",
)
"""What conditions ask a tensor."""


class Library(NamedTuple):
    """The C++ of a library's tensors, for an operator whose `arguments` have these types.

    `facts` says how a tensor is asked: by a member, `.sym_size`, or by a function, `toy::size`. A `constant` is a dtype
    or a memory format, and None if the library has none of that name. What C++ calculates otherwise than Python is in
    the namespace `helpers`. Sizes are `number`s there; tensors check the places of sizes if it `checks_places`. The
    numbers of schemas are an `at::Scalar` if it `has_scalars`. `who` and `advice` are words of messages.
    """

    who: str
    helpers: str
    error: str
    facts: Mapping[str, str]
    constant: Callable[[str], str | None]
    arguments: Mapping[str, Type] = {}
    number: str = "int64_t"
    checks_places: bool = True
    has_scalars: bool = False
    advice: str = "ask something else, or leave the operator out with `skip`"

    def call(self, helper: str, *arguments: Expression) -> Expression:
        """A call of what C++ calculates otherwise than Python."""
        return nodes.call(f"{self.helpers}::{helper}", *arguments)


def types_of(schema: FunctionSchema) -> Mapping[str, Type]:
    return {argument.name: argument.type for argument in schema.arguments}


_IN_TORCH = {
    "defined": ".defined",
    "dim": ".dim",
    "dtype": ".scalar_type",
    "is_complex": ".is_complex",
    "is_contiguous": ".is_contiguous",
    "is_floating_point": ".is_floating_point",
    "numel": ".sym_numel",
    "requires_grad": ".requires_grad",
    "shape": ".sym_sizes",
    "size": ".sym_size",
    "storage_offset": ".sym_storage_offset",
    "stride": ".sym_stride",
    "strides": ".sym_strides",
}
_IN_STABLE = {
    "defined": ".defined",
    "dim": ".dim",
    "dtype": ".scalar_type",
    "is_contiguous": ".is_contiguous",
    "numel": ".numel",
    "shape": ".sizes",
    "size": ".size",
    "storage_offset": ".storage_offset",
    "stride": ".stride",
    "strides": ".strides",
}


def torch_library(namespace: str, schema: FunctionSchema) -> Library:
    """libtorch, whose sizes may be symbols."""
    helpers = f"::{namespace}::selection"
    return Library(
        "target `cpp-torch`",
        helpers,
        f"{helpers}::Uncovered",
        {**_IN_TORCH, "is_aligned": f"{helpers}::is_aligned"},
        enumerators("at"),
        types_of(schema),
        number="c10::SymInt",
        has_scalars=True,
    )


def stable_library(namespace: str, schema: FunctionSchema) -> Library:
    """libtorch's stable ABI, which does not say whether a tensor requires a gradient."""
    helpers = f"::{namespace}::selection"
    asked = ("is_aligned", "is_complex", "is_floating_point")
    functions = {fact: f"{helpers}::{fact}" for fact in asked}
    return Library(
        "target `cpp-torch-stable`",
        helpers,
        "std::runtime_error",
        {**_IN_STABLE, **functions},
        enumerators("torch::headeronly"),
        types_of(schema),
    )


def enumerators(prefix: str) -> Callable[[str], str | None]:
    """Dtypes and memory formats as enumerators: `at::ScalarType::Half`."""

    def constant(name: str) -> str | None:
        for kind in ("ScalarType", "MemoryFormat"):
            if name in ENUMERATORS[kind]:
                return f"{prefix}::{kind}::{ENUMERATORS[kind][name]}"
        return None

    return constant


def write(tree: Typed, library: Library) -> str:
    """A condition, of which nothing is `unsayable`."""
    return nodes.write(_in_cpp(tree, library), SYNTAX)


def refusal(place: str, names: Sequence[str], library: Library) -> str:
    """What is thrown where no kernel takes a call: an operator under a key, with what is shown of these arguments."""
    listed = ", ".join(map(quote, names))
    given = ", ".join([quote(place), f"{{{listed}}}", *[_shown(name, library) for name in names]])
    return f"{library.error}({library.helpers}::uncovered({given}))"


def _shown(name: str, library: Library) -> str:
    """The value of an argument, and of a framework's tensor the sizes."""
    value = nodes.Name(identifier(name))
    is_tensor = bare_type(library.arguments[name]) == "Tensor"
    if library.checks_places or not is_tensor or not {"dim", "size"} <= library.facts.keys():
        return value.text
    count = _of_tensor("dim", value, [], library)
    size = _of_tensor("size", value, [nodes.Name("_place")], library)
    return f"{library.helpers}::sizes({count}, [&](int64_t _place) {{ return {size}; }})"


def _in_cpp(tree: Typed, library: Library) -> Expression:
    node = tree.node
    match node:
        case nodes.Name(text):
            return _name(tree, text, library)
        case nodes.Literal(text) if text[0] in "\"'":
            return nodes.Literal(quote(text[1:-1]))
        case nodes.Member(_, name):
            return _asked(name, tree.parts[0], (), library)
        case nodes.Call(nodes.Member(_, name)):
            return _asked(name, tree.parts[0], tree.parts[1:], library)
        case nodes.Subscript():
            return _item(tree, library)
        case nodes.Binary():
            return _binary(node, tree.parts, library)
    parts = [_in_cpp(part, library) for part in tree.parts]
    match node:
        case nodes.Call(nodes.Name("default")):
            is_there = nodes.call(nodes.Member(parts[0], "has_value"))
            return nodes.Conditional(is_there, nodes.Unary("*", parts[0]), parts[1])
        case nodes.Call(nodes.Name("len")):
            return nodes.call("int64_t", nodes.call(nodes.Member(parts[0], "size")))
        case nodes.Call(nodes.Name(name)):
            return reduce(partial(library.call, name), parts)
        case nodes.ListDisplay():
            type_ = f"std::initializer_list<{library.number}>"
            return nodes.ListDisplay(tuple(parts), type=type_)
        case nodes.Unary("+"):
            return parts[0]
    return nodes.rebuild(node, parts)


def _name(tree: Typed, text: str, library: Library) -> Expression:
    """An argument, unpacked where it is known to be there, or a constant."""
    type_ = library.arguments.get(text)
    if type_ is None:
        if text in TRUTH:
            return nodes.Name(text.lower())
        return nodes.Name(library.constant(text) or text)
    name = nodes.Name(identifier(text))
    is_unpacked = isinstance(type_, OptionalType) and not tree.kind.is_optional
    if is_unpacked:
        return nodes.Unary("*", name)
    return name


def _asked(name: str, tensor: Typed, arguments: tuple[Typed, ...], library: Library) -> Expression:
    """A fact about a tensor, or whether an optional value is there."""
    value = _in_cpp(tensor, library)
    if name == "defined":
        return _is_there(value, tensor.kind, library)
    fact = _fact(name, bool(arguments))
    given = [_place(tree, fact, value, library) for tree in arguments]
    return _of_tensor(fact, value, given, library)


def _fact(name: str, is_indexed: bool) -> str:
    """What a method or an attribute asks: `size()` is the `shape`."""
    if is_indexed:
        return _ONE.get(name, name)
    return _EVERY.get(name, _SAME.get(name, name))


def _of_tensor(
    fact: str, value: Expression, given: list[Expression], library: Library
) -> Expression:
    asked = library.facts[fact]
    if not asked.startswith("."):
        return nodes.call(asked, value, *given)
    is_unpacked = isinstance(value, nodes.Unary)
    object_ = value.operand if isinstance(value, nodes.Unary) else value
    return nodes.call(nodes.Member(object_, asked[1:], arrow=is_unpacked), *given)


def _is_there(value: Expression, kind: Kind, library: Library) -> Expression:
    """libtorch may pass a tensor that is not defined for one that is absent."""
    is_there = nodes.call(nodes.Member(value, "has_value"))
    if kind.present != TENSOR or "defined" not in library.facts:
        return is_there
    return nodes.Binary("&&", is_there, nodes.call(nodes.Member(value, "defined", arrow=True)))


def _place(tree: Typed, fact: str, tensor: Expression, library: Library) -> Expression:
    """The number of a dimension, which counts from the end if it is negative."""
    place = _whole(tree, library)
    if library.checks_places or fact not in _EVERY:
        return place
    return library.call("place", place, _of_tensor("dim", tensor, [], library))


def _whole(tree: Typed, library: Library) -> Expression:
    """An integer that is no symbol."""
    value = _in_cpp(tree, library)
    is_written = all(
        isinstance(node, nodes.Literal | nodes.Unary) for node in nodes.walk(tree.node)
    )
    if is_written or library.number == "int64_t":
        return value
    return library.call("whole", value)


def _item(tree: Typed, library: Library) -> Expression:
    """An item of a list; one of all sizes is one size."""
    of, index = tree.parts
    match of.node:
        case nodes.Member(_, "shape" as name) | nodes.Call(nodes.Member(_, name)):
            return _asked(_fact(_fact(name, False), True), of.parts[0], (index,), library)
    return library.call("item", _in_cpp(of, library), _whole(index, library))


def _binary(node: nodes.Binary, sides: tuple[Typed, ...], library: Library) -> Expression:
    operator = node.operator
    parts = [_in_cpp(side, library) for side in sides]
    equal = _equal(sides, parts, library) if operator in _EQUALITIES else None
    if equal is not None:
        return nodes.Unary("!", equal) if operator == "!=" else equal
    if library.has_scalars:
        parts = list(map(plain_number, sides, parts))
    if operator == "/":
        if library.number != "int64_t":
            parts = [library.call("real", part) for part in parts]
        return library.call("divide", *parts)
    if operator == "%" and not _is_natural(*sides):
        return library.call("remainder", *parts)
    if operator in "+-*%" and all(map(is_narrow, sides)):
        parts[0] = nodes.call("int64_t", parts[0])
    return nodes.rebuild(node, parts)


def _equal(
    sides: tuple[Typed, ...], parts: list[Expression], library: Library
) -> Expression | None:
    """Whether lists are equal, or numbers of which one may be complex; None where C++ has an operator."""
    if sides[0].kind.is_list:
        return library.call("equal", *parts)
    if library.has_scalars:
        for scalar, number in ((0, 1), (1, 0)):
            if sides[scalar].kind.sort is Sort.scalar and _is_plain(sides[number]):
                return library.call("same", parts[scalar], parts[number])
    return None


def _is_plain(tree: Typed) -> bool:
    """Whether a number is one that is written, a float or a boolean: no symbol, and no `at::Scalar`."""
    node = tree.node.operand if isinstance(tree.node, nodes.Unary) else tree.node
    return isinstance(node, nodes.Literal) or tree.kind in (FLOAT, BOOL)


def _is_natural(value: Typed, by: Typed) -> bool:
    """Whether a remainder is the same in C++ and in Python: of a count, by a number that is written."""
    is_written = isinstance(by.node, nodes.Literal) and int(by.node.text) > 0
    return is_written and _is_count(value)


def _is_count(tree: Typed) -> bool:
    match tree.node:
        case nodes.Literal() | nodes.Call(nodes.Name("len")):
            return True
        case nodes.Member(_, name) | nodes.Call(nodes.Member(_, name)):
            return name in _COUNTS
        case nodes.Subscript():
            return _is_count(tree.parts[0])
        case nodes.Binary("+" | "*"):
            return all(map(_is_count, tree.parts))
    return False


def unsayable(tree: Typed, library: Library) -> Iterator[tuple[Expression, str, str]]:
    """The parts of a condition that the library has no C++ for, each with the problem and a remedy."""
    node = tree.node
    problem = ""
    if tree.mistake is not None:
        return
    for fact in _facts(tree, library):
        if fact not in library.facts:
            yield node, f"{library.who} cannot ask a tensor for its `{fact}`", library.advice
            return
    match node:
        case nodes.Name(text) if text not in library.arguments and text not in TRUTH:
            if library.constant(text) is None:
                problem = f"{library.who} has no C++ for `{text}`"
        case nodes.Call(nodes.Name("capability")):
            problem = f"{library.who} cannot ask what a device is capable of"
        case nodes.Binary("%") if tree.kind.present not in (INT, BOOL):
            problem = "`%` of floats is another one in C++"
        case nodes.Binary("==" | "!=") if _are_boxed(tree.parts, library):
            problem = "values of this kind that may be None are not compared in C++"
    if not problem and not tree.kind.is_known:
        problem = f"{library.who} cannot ask for `{node}`"
    if problem:
        yield node, problem, library.advice
        return
    for part in _operands(tree):
        problem = _alone(part, node)
        if problem:
            yield part.node, f"{problem} can only be compared in C++", "compare its items"
        elif part.kind.sort is Sort.string and tree.kind.sort is Sort.device:
            yield part.node, "a device is no text in C++", library.advice
        else:
            yield from unsayable(part, library)


def _are_boxed(sides: tuple[Typed, ...], library: Library) -> bool:
    """Whether values may be None that C++ does not compare then: lists, and an `at::Scalar`."""
    kinds = [side.kind for side in sides if side.kind.is_optional]
    scalar = Sort.scalar if library.has_scalars else None
    return any(kind.is_list or kind.sort is scalar for kind in kinds)


def _alone(part: Typed, parent: Expression) -> str:
    """What a list is called whose type in C++ depends on where it stands; empty if it stands where it may."""
    if isinstance(parent, nodes.Binary):
        return ""
    if isinstance(part.node, nodes.ListDisplay):
        return "a list in brackets"
    is_choice = isinstance(parent, nodes.Conditional) or nodes.called_name(parent) == "default"
    is_asked = isinstance(part.node, nodes.Member | nodes.Call)
    if is_choice and is_asked and part.kind.is_list:
        return "all sizes"
    return ""


def _operands(tree: Typed) -> tuple[Typed, ...]:
    """The operands; of an item of all sizes the tensor, which is asked for this one."""
    match tree.node:
        case nodes.Subscript(nodes.Member() | nodes.Call(nodes.Member()), _):
            return (*tree.parts[0].parts, tree.parts[1])
    return tree.parts


def _facts(tree: Typed, library: Library) -> list[str]:
    """What a node asks of a tensor."""
    match tree.node:
        case nodes.Call(nodes.Member(_, "defined")):
            return []
        case nodes.Subscript(nodes.Member(_, name) | nodes.Call(nodes.Member(_, name)), _):
            return _with_places(_fact(_fact(name, False), True), library)
        case nodes.Call(nodes.Member(_, name), arguments):
            return _with_places(_fact(name, bool(arguments)), library)
        case nodes.Member(_, name):
            return [_fact(name, False)]
    return []


def _with_places(fact: str, library: Library) -> list[str]:
    """A place among the dimensions is checked by their number."""
    if library.checks_places or fact not in _EVERY:
        return [fact]
    return [fact, "dim"]
