"""An expression of Python, which a reference is, as a formula: what means the same in both is said alike.

x * torch.sigmoid(x) if s is None else (x + s) ** 2      !s.defined() ? x * sigmoid(x) : pow(x + s, 2)
"""

from __future__ import annotations

import ast
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import reduce

from torchgen_lite.diagnostics import Span
from torchgen_lite.formulas import model as nodes
from torchgen_lite.formulas.kinds import BOOL, DTYPE, Sort
from torchgen_lite.formulas.model import Expression
from torchgen_lite.formulas.tree import Typed
from torchgen_lite.schema.defaults import ENUMERATORS
from torchgen_lite.schema.grouped import first_text

_DTYPES = {name: nodes.Name(f"at::k{enum}") for name, enum in ENUMERATORS["ScalarType"].items()}
KINDS = {name.text: DTYPE for name in _DTYPES.values()}
# What C++ calls otherwise: there a number, and a list of one, is a truth or an integer before it is a list.
_OTHERS = frozenset("dsplit hsplit std std_mean stft tensor_split var var_mean vsplit".split())
# Methods that C++ does not have, or that are others there.
_PYTHONS = frozenset("""
    apply_ as_subclass bfloat16 byte cdouble cfloat char dim_order double half is_shared long map2_ map_ nelement new
    new_tensor numpy resize resize_as short storage_type to_sparse_coo tolist type unique unique_consecutive
    untyped_storage
    """.split())
_FUNCTIONS = {"Pow": "pow", "MatMult": "matmul", "FloorDiv": "floor_divide"}
NUMBER_FUNCTIONS = frozenset(_FUNCTIONS.values())
"""The functions that operators are said as, which Python has for numbers, too."""

_BINARY = "Add Sub Mult Div Mod BitAnd BitOr BitXor And Or Eq NotEq Lt LtE Gt GtE"
_SIGNS = {
    **dict(zip(_BINARY.split(), "+ - * / % & | ^ && || == != < <= > >=".split())),
    **dict(zip("Not USub UAdd Invert".split(), "!-+~")),
}

_Read = Callable[[ast.AST], Expression]


def in_formulas(
    part: ast.AST, given: Mapping[str, Expression], place: Callable[[ast.AST], Span | None]
) -> Expression:
    """The formula, in which names are what is `given` for them. A `Lambda` has what formulas cannot say."""
    known = {}

    def read(part: ast.AST) -> Expression:
        # What formulas cannot say is asked for twice: once as it is, once as a part of a `Lambda`.
        if part not in known:
            known[part] = replace(_read(part, given, read), span=place(part))
        return known[part]

    return read(part)


def _read(part: ast.AST, given: Mapping[str, Expression], read: _Read) -> Expression:
    node: Expression = nodes.Lambda(ast.unparse(part))
    match part:
        case ast.Name(name):
            node = given.get(name, node)
        case ast.Constant(None | bool() as value):
            node = nodes.Name(str(value))
        case ast.Constant(int() | float() as value) if math.isfinite(value) and value < 1 << 63:
            node = nodes.Literal(repr(value))
        case ast.Constant(str(value)) if value.isidentifier():
            node = nodes.Literal(f'"{value}"')
        case ast.Attribute(ast.Name("torch"), name) if "torch" not in given:
            node = _DTYPES.get(name, node)
        case ast.Attribute(value, name) if not isinstance(of := read(value), nodes.Lambda):
            node = nodes.Member(of, name)
        case ast.Call(ast.Attribute(value, name), [], []) if name in _DTYPES:
            node = nodes.Call(nodes.Member(read(value), "to"), (_DTYPES[name],))
        case ast.Call(ast.Attribute(value, name) as method, items, keywords):
            is_torch = isinstance(value, ast.Name) and value.id == "torch"
            is_function = is_torch and "torch" not in given
            called = nodes.Name(name) if is_function else read(method)
            named = tuple([(str(k.arg), read(k.value)) for k in keywords])
            if not isinstance(called, nodes.Lambda) and all(k.arg for k in keywords):
                node = nodes.Call(called, tuple(map(read, items)), named)
        case ast.BinOp(left, sign, right) if _name(sign) in _FUNCTIONS:
            node = nodes.Call(nodes.Name(_FUNCTIONS[_name(sign)]), (read(left), read(right)))
        case ast.Compare(left, [ast.Is() | ast.IsNot() as sign], [ast.Constant(None)]):
            node = nodes.Call(nodes.Member(read(left), "defined"), ())
            if isinstance(sign, ast.Is):
                node = nodes.Unary("!", node)
        case ast.BinOp(left, sign, right) | ast.Compare(left, [sign], [right]):
            if _name(sign) in _SIGNS:
                node = nodes.Binary(_SIGNS[_name(sign)], read(left), read(right))
        case ast.BoolOp(sign, items):
            operator = _SIGNS[_name(sign)]
            node = reduce(lambda left, right: nodes.Binary(operator, left, right), map(read, items))
        case ast.UnaryOp(sign, value):
            node = nodes.Unary(_SIGNS[_name(sign)], read(value))
        case ast.IfExp(test, yes, no):
            node = nodes.Conditional(read(test), read(yes), read(no))
        case ast.Subscript(value, index) if not isinstance(index, (ast.Slice, ast.Tuple)):
            node = nodes.Subscript(read(value), read(index))
        case ast.List(items) | ast.Tuple(items):
            node = nodes.ListDisplay(tuple(map(read, items)))
    if isinstance(node, nodes.Lambda):
        parts = tuple([read(inner) for inner in _operands(part)])
        return replace(node, parts=parts, called=_called(part, given))
    return node


def _operands(part: ast.AST) -> Iterator[ast.AST]:
    """The values in an expression that formulas cannot say as a whole."""
    for inner in ast.iter_child_nodes(part):
        if isinstance(inner, ast.keyword):
            yield inner.value
        elif isinstance(part, ast.Call) and inner is part.func:
            # A function is no value, and what a method is of is one.
            if isinstance(inner, ast.Attribute):
                yield inner.value
        elif isinstance(inner, ast.expr):
            yield inner


def _called(part: ast.AST, given: Mapping[str, Expression]) -> str:
    """The function that Python calls by its path, `len` or `torch.nn.functional.relu`; empty if it is none."""
    if not isinstance(part, ast.Call):
        return ""
    first = part.func
    while isinstance(first, ast.Attribute):
        first = first.value
    is_path = isinstance(first, ast.Name) and first.id not in given
    return ast.unparse(part.func) if is_path else ""


def _name(operator: ast.AST) -> str:
    return type(operator).__name__


def differs(part: Typed) -> str:
    """Why the node of a formula is not in C++ what it is in Python; empty if it is."""
    return first_text(rule(part) for rule in _DIFFERENCES)


def _said_in_python(part: Typed) -> str:
    node = part.node
    if isinstance(node, nodes.Lambda):
        return f"`{node.text}` is said in Python alone"
    kinds = part.kinds
    called = nodes.name_called(node)
    is_method = isinstance(node, nodes.Call) and isinstance(node.function, nodes.Member)
    of_list = is_method and kinds[0].is_list and called != "defined"
    of_numbers = called in NUMBER_FUNCTIONS and all(kind.is_number for kind in kinds)
    if of_list or of_numbers or (is_method and called in _PYTHONS):
        return f"`{node.span.text if node.span else node}` is said in Python alone"
    return ""


def _takes_another_argument(part: Typed) -> str:
    node = part.node
    kinds = part.kinds
    called = nodes.name_called(node)
    if isinstance(node, nodes.Subscript):
        # A truth adds a dimension; in C++ it is an index.
        is_other = kinds[-1] == BOOL
    elif called == "expand":
        is_other = any(kind.is_number for kind in kinds)
    elif called in _OTHERS:
        # C++ has keywords only where it knows the schema.
        named = () if part.operator else getattr(node, "keywords", ())
        is_other = len(kinds) > 1 + len(named)
    else:
        is_other = called == "tensor"
    if is_other:
        return f"what `{called or '[]'}` is given is another argument in C++"
    return ""


def _gives_an_operand(part: Typed) -> str:
    is_either = isinstance(part.node, nodes.Binary) and part.node.operator in ("&&", "||")
    if is_either and set(part.kinds) != {BOOL}:
        return "`and` and `or` of others than booleans give an operand"
    return ""


def _has_two_types(part: Typed) -> str:
    if isinstance(part.node, nodes.Conditional):
        _, yes, no = part.kinds
        if yes.is_number and yes != no:
            return "both branches have one type in C++"
    return ""


def _is_of_numbers(part: Typed) -> bool:
    is_operation = isinstance(part.node, (nodes.Unary, nodes.Binary))
    return is_operation and all(kind.is_number for kind in part.kinds)


def _has_another_sign(part: Typed) -> str:
    is_remainder = isinstance(part.node, nodes.Binary) and part.node.operator == "%"
    if is_remainder and _is_of_numbers(part):
        return "a remainder has the sign of the dividend in C++"
    return ""


def _becomes_a_float(part: Typed) -> str:
    sorts = [kind.sort for kind in part.kinds]
    if Sort.scalar in sorts and part.kind != BOOL and _is_of_numbers(part):
        return "C++ makes a float of a `Scalar`, which may be an integer"
    return ""


_DIFFERENCES: Sequence[Callable[[Typed], str]] = (
    _said_in_python,
    _takes_another_argument,
    _gives_an_operand,
    _has_two_types,
    _has_another_sign,
    _becomes_a_float,
)
