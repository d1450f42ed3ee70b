"""Schemas from the annotations of Python functions, as `torch.library.custom_op` infers them.

The source of each rule is `torch.library.infer_schema`.
"""

from __future__ import annotations

import ast
from collections.abc import Collection, Sequence

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
    left = [None] * (len(given.args) - len(given.defaults))
    defaults = [*left, *given.defaults, *given.kw_defaults]
    if unknown := (
        set() if isinstance(mutates, str) else {*mutates} - {one.arg for one in arguments}
    ):
        raise ValueError(f"`{min(unknown)}` of `mutates_args` is no argument")
    shown = list[str]()
    for at, (one, default) in enumerate(zip(arguments, defaults)):
        type_ = _type_of(module, one.annotation)
        if mutates == "unknown":
            is_written = type_.startswith("Tensor")
        else:
            is_written = one.arg in mutates
        if is_written:
            if not type_.startswith("Tensor"):
                raise ValueError(f"`{one.arg}` of `mutates_args` is no tensor")
            type_ = f"Tensor(a{at}!){type_.removeprefix('Tensor')}"
        shown += ["*"] if at == len(given.args) else []
        shown.append(f"{type_} {one.arg}" + (f"={_default(module, default)}" if default else ""))
    return f"({', '.join(shown)}) -> {_returns(module, function.returns)}"


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
    home, one = _meant(module, node)
    if isinstance(one, ast.Constant) and one.value is None:
        return "()"
    if isinstance(one, ast.Subscript) and home.path(one.value).rpartition(".")[2] in (
        "Tuple",
        "tuple",
    ):
        if isinstance(one.slice, ast.Tuple):
            parts = one.slice.elts
        else:
            parts = [one.slice]
        types = [_read(home, part) for part in parts]
        shown = f"({', '.join(types)})"
    else:
        types = [shown := _read(home, one)]
    if not _RETURNED.issuperset(types) or "Sequence" in ast.unparse(one):
        raise ValueError(f"no schema returns `{ast.unparse(node)}`")
    return shown


def _meant(module: Module, node: ast.expr) -> tuple[Module, ast.expr]:
    """What an annotation stands for: that of a name, or that in quotes."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        try:
            return _meant(module, ast.parse(node.value, mode="eval").body)
        except SyntaxError:
            return module, node
    found = module.value(node)
    if found is None or not isinstance(found[1], ast.expr) or found[1] is node:
        return module, node
    return _meant(found[0], found[1])


def _read(module: Module, node: ast.expr) -> str:
    """A type, in the words of schemas; "" for no type of theirs."""
    module, node = _meant(module, node)
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitOr):
        return _union(module, [node.left, node.right])
    if not isinstance(node, ast.Subscript):
        return _TYPES.get(module.path(node), "")
    word = module.path(node.value).rpartition(".")[2]
    if word == "Optional":
        return _union(module, [node.slice, ast.Constant(None)])
    if word == "Union" and isinstance(node.slice, ast.Tuple):
        return _union(module, node.slice.elts)
    inner = _read(module, node.slice) if word in _LISTS else ""
    return inner and f"{inner}[]"


def _union(module: Module, parts: Sequence[ast.expr]) -> str:
    """`T | None` as `T?`, and all numbers as PyTorch's `Number`; no other union is a type."""
    members = [one for part in parts for one in _members(module, part)]
    types = [(home, one) for home, one in members if not _is_none(one)]
    inner = _read(*types[0]) if len(types) == 1 else ""
    if {home.path(one) for home, one in types} == _NUMBERS:
        inner = "Scalar"
    if inner and len(types) < len(members):
        return f"{inner}?"
    return inner


def _members(module: Module, node: ast.expr) -> list[tuple[Module, ast.expr]]:
    """The types of a union and of unions in it, each with the module where it is written."""
    home, one = (module, node) if isinstance(node, ast.Constant) else _meant(module, node)
    parts: Sequence[ast.expr] = ()
    if isinstance(one, ast.BinOp) and isinstance(one.op, ast.BitOr):
        parts = [one.left, one.right]
    elif isinstance(one, ast.Subscript):
        word = home.path(one.value).rpartition(".")[2]
        if word == "Optional":
            parts = [one.slice, ast.Constant(None)]
        elif word == "Union" and isinstance(one.slice, ast.Tuple):
            parts = one.slice.elts
    return [inner for part in parts for inner in _members(home, part)] or [(home, one)]


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
