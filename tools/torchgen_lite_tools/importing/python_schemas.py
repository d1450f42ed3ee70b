"""Schemas from the annotations of Python functions, as `torch.library.custom_op` infers them.

The source of each rule is `torch.library.infer_schema`.
"""

from __future__ import annotations

import ast
from collections.abc import Collection, Sequence
from typing import NamedTuple

from torchgen_lite_tools.importing.python_modules import Function, Module

_TYPES = {
    "torch.Tensor": "Tensor",
    "int": "SymInt",
    "float": "float",
    "bool": "bool",
    "str": "str",
    "torch.types.Number": "Scalar",
    "torch.types._Number": "Scalar",
    "torch.dtype": "ScalarType",
    "torch.device": "Device",
}
# `torch.types.Number`.
_NUMBERS = {"int", "float", "bool"}
_LISTS = {"List", "Sequence", "list"}
# Which of them may be in lists, and which lists may be None, or have it in them.
_FITTING = {
    *_TYPES.values(),
    *(f"{one}?" for one in _TYPES.values()),
    *(f"{one}[]" for one in ("Tensor", "SymInt", "float", "bool", "Scalar")),
    *("Tensor?[]", "SymInt[]?", "float[]?", "bool[]?"),
}
_RETURNED = {"Tensor", "Tensor[]", "SymInt", "float", "bool", "Scalar"}


def infer_python_schema(module: Module, function: Function, mutates: Collection[str] | str) -> str:
    """`(Tensor x) -> Tensor`; raises ValueError, which says why there is none. `mutates` has the names of arguments that
    are written, or is "unknown"."""
    given = function.args
    if given.posonlyargs or given.vararg or given.kwarg:
        raise ValueError("it takes positional-only or any arguments")
    arguments = [*given.args, *given.kwonlyargs]
    without_default = [None] * (len(given.args) - len(given.defaults))
    defaults = [*without_default, *given.defaults, *given.kw_defaults]
    if not isinstance(mutates, str):
        unknown = {*mutates} - {argument.arg for argument in arguments}
        if unknown:
            raise ValueError(f"`{min(unknown)}` of `mutates_args` is no argument")
    parts = list[str]()
    for at, (argument, default) in enumerate(zip(arguments, defaults)):
        if at == len(given.args):
            parts.append("*")
        type_ = _type_of(module, argument.annotation)
        is_tensor = type_.startswith("Tensor")
        if mutates == "unknown":
            is_written = is_tensor
        else:
            is_written = argument.arg in mutates
        if is_written:
            if not is_tensor:
                raise ValueError(f"`{argument.arg}` of `mutates_args` is no tensor")
            type_ = f"Tensor(a{at}!){type_.removeprefix('Tensor')}"
        shown = f"{type_} {argument.arg}"
        if default:
            shown += f"={_default(module, default)}"
        parts.append(shown)
    returns = _returns(module, function.returns)
    return f"({', '.join(parts)}) -> {returns}"


def _type_of(module: Module, node: ast.expr | None) -> str:
    """The type of an annotation; raises ValueError."""
    if node is None:
        raise ValueError("an argument has no annotation")
    type_ = _read(module, node)
    if type_ not in _FITTING:
        raise ValueError(f"no schema has the type `{ast.unparse(node)}`")
    return type_


def _returns(module: Module, node: ast.expr | None) -> str:
    if node is None:
        raise ValueError("its result has no annotation")
    home, meant = _meant(module, node)
    if _is_none(meant):
        return "()"
    if isinstance(meant, ast.Subscript) and _word(home, meant.value) in ("Tuple", "tuple"):
        parts = meant.slice.elts if isinstance(meant.slice, ast.Tuple) else [meant.slice]
        types = [_read(home, part) for part in parts]
        shown = f"({', '.join(types)})"
    else:
        shown = _read(home, meant)
        types = [shown]
    has_sequence = "Sequence" in ast.unparse(meant)
    if has_sequence or not _RETURNED.issuperset(types):
        raise ValueError(f"no schema returns `{ast.unparse(node)}`")
    return shown


def _word(module: Module, node: ast.expr) -> str:
    """The last word of a name, such as `Optional`."""
    return module.path(node).rpartition(".")[2]


def _meant(module: Module, node: ast.expr) -> tuple[Module, ast.expr]:
    """What an annotation stands for: that of a name, or that in quotes."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        try:
            return _meant(module, ast.parse(node.value, mode="eval").body)
        except SyntaxError:
            return module, node
    home, value = module.value(node) or (module, None)
    if not isinstance(value, ast.expr) or value is node:
        return module, node
    return _meant(home, value)


def _read(module: Module, node: ast.expr) -> str:
    """A type, in the words of schemas; "" for no type of theirs."""
    module, node = _meant(module, node)
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitOr):
        return _union(module, [node.left, node.right])
    if not isinstance(node, ast.Subscript):
        return _TYPES.get(module.path(node), "")
    word = _word(module, node.value)
    if word == "Optional":
        return _union(module, [node.slice, ast.Constant(None)])
    if word == "Union" and isinstance(node.slice, ast.Tuple):
        return _union(module, node.slice.elts)
    if word not in _LISTS:
        return ""
    inner = _read(module, node.slice)
    return inner and f"{inner}[]"


def _union(module: Module, parts: Sequence[ast.expr]) -> str:
    """`T | None` as `T?`, and all numbers as PyTorch's `Number`; no other union is a type."""
    members: list[_Member] = []
    for part in parts:
        members += _members(module, part)
    types = [member for member in members if not _is_none(member.node)]
    inner = ""
    if len(types) == 1:
        inner = _read(types[0].home, types[0].node)
    elif {member.home.path(member.node) for member in types} == _NUMBERS:
        inner = "Scalar"
    has_none = len(types) < len(members)
    if inner and has_none:
        return f"{inner}?"
    return inner


class _Member(NamedTuple):
    """A type of a union, and the module where it is written."""

    home: Module
    node: ast.expr


def _members(module: Module, node: ast.expr) -> list[_Member]:
    """The types of a union and of unions in it."""
    home, meant = (module, node) if isinstance(node, ast.Constant) else _meant(module, node)
    parts: Sequence[ast.expr] = ()
    if isinstance(meant, ast.BinOp) and isinstance(meant.op, ast.BitOr):
        parts = [meant.left, meant.right]
    elif isinstance(meant, ast.Subscript):
        word = _word(home, meant.value)
        if word == "Optional":
            parts = [meant.slice, ast.Constant(None)]
        elif word == "Union" and isinstance(meant.slice, ast.Tuple):
            parts = meant.slice.elts
    members: list[_Member] = []
    for part in parts:
        members += _members(home, part)
    return members or [_Member(home, meant)]


def _is_none(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is None


def _is_plain_device(module: Module, call: ast.Call) -> bool:
    """`torch.device("cuda")`, of which the schema has the text."""
    is_device = module.path(call.func) == "torch.device"
    return is_device and len(call.args) == 1 and not call.keywords


def _default(module: Module, node: ast.expr) -> str:
    """A default as the schema has it; raises ValueError."""
    path = module.path(node)
    if path.startswith("torch."):
        return path.removeprefix("torch.")
    if isinstance(node, ast.Call) and _is_plain_device(module, node):
        node = node.args[0]
    try:
        value = module.constant(node)
    except (ValueError, TypeError):
        value = node
    if isinstance(value, str):
        return f'"{value}"'
    if value is None or isinstance(value, (bool, int, float)):
        return str(value)
    raise ValueError(f"the default `{ast.unparse(node)}` is not a literal")
