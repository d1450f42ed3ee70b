"""Default values: their Python value, and whether they fit the type of their argument."""

from __future__ import annotations

import ast
from itertools import chain
from pathlib import Path
from typing import NamedTuple

from .lexer import IDENT, NUMBER, PUNCT, STRING, tokenize
from .model import Argument, BaseType, ListType, OptionalType, Type


class NamedConstant(NamedTuple):
    """A default that is a name from the library: `contiguous_format`, `Mean`, `long`."""

    name: str


# The numbers that names stand for where an `int` is wanted (PyTorch `parseSingleConstant`, at::Reduction).
INT_CONSTANTS = {"Mean": 1, "Sum": 2}
_DECLARED = [
    line.split()
    for line in Path(__file__).with_suffix(".txt").read_text("utf-8").splitlines()
    if not line.startswith("#")
]


def _enumerators() -> dict[str, dict[str, str]]:
    by_type: dict[str, dict[str, str]] = {}
    for kind, enumerator, *names in _DECLARED:
        by_type.setdefault(kind, {}).update(dict.fromkeys(names, enumerator))
    return by_type


# The enumerators that names in a schema stand for, by type.
ENUMERATORS = _enumerators()


def _first_names() -> dict[str, str]:
    first: dict[str, str] = {}
    for kind, _, *names in _DECLARED:
        if kind == "ScalarType":
            first |= dict.fromkeys(names, names[0])
    return first


# The first name of a dtype, by each of its names: PyTorch's Python has all of the first, and not all others.
FIRST_NAMES = _first_names()
DTYPES = tuple(dict.fromkeys(FIRST_NAMES.values()))
NAMED_CONSTANTS = {
    # PyTorch's parser reads dtypes, memory formats and layouts as integers.
    "int": (*INT_CONSTANTS, *chain.from_iterable(ENUMERATORS.values())),
    "SymInt": tuple(INT_CONSTANTS),
    **{name: tuple(names) for name, names in ENUMERATORS.items()},
}
_KEYWORDS = {"None": None, "True": True, "False": False}


def default_value(argument: Argument) -> object:
    """The Python value of an argument's default: None, bool, int, float, complex, str or a list.

    A name gives a `NamedConstant`. For a `float` argument, `1` gives `1.0`. A number as the default
    of a fixed-size list (`int[2] x=1`) stays a number. Raises ValueError if there is no default.
    """
    if argument.default is None:
        raise ValueError(f"argument {argument.name} has no default")
    value = _value(argument.default)
    type_ = argument.type
    while isinstance(type_, (OptionalType, ListType)):
        type_ = type_.elem
    if isinstance(type_, BaseType):
        value = _coerce(value, type_.name)
    return value


def as_received(type_: Type, value: object) -> object:
    """A default as a Python function receives it.

    Lists become tuples, and so does a value that stands for a list, `int[2]` or `int[]`; `Mean` is its number.
    """
    if isinstance(value, NamedConstant):
        value = INT_CONSTANTS.get(value.name, value)
    if isinstance(value, list):
        return tuple(value)
    if isinstance(type_, OptionalType):
        type_ = type_.elem
    if not isinstance(type_, ListType) or value is None or isinstance(value, NamedConstant):
        return value
    return (value,) * (type_.size or 1)


def _coerce(value: object, type_name: str) -> object:
    if isinstance(value, list):
        return [_coerce(item, type_name) for item in value]
    if type_name == "float" and isinstance(value, int) and not isinstance(value, bool):
        return float(value)
    if type_name == "bool" and isinstance(value, int):
        return bool(value)
    return value


def _value(text: str) -> object:
    if text in _KEYWORDS:
        return _KEYWORDS[text]
    if text[:1] in "\"'":
        return unescape(text)
    if text[:1] in "[(":
        return _list_value(text)
    if text.startswith("float("):
        return float(unescape(text[6:-1].strip()))
    return _scalar(text)


def _scalar(text: str) -> object:
    for convert in (int, float, complex):
        try:
            return convert(text.replace(" ", ""))
        except ValueError:
            continue
    return NamedConstant(text)


def unescape(literal: str) -> str:
    """The text that a quoted literal stands for; an unknown escape stays as it is written."""
    try:
        value = ast.literal_eval(literal)
    except (ValueError, SyntaxError):
        return literal[1:-1]
    return value if isinstance(value, str) else literal[1:-1]


def _list_value(text: str) -> list[object]:
    """Read a list without recursion on the Python stack, since the user decides its depth."""
    stack: list[list[object]] = [[]]
    sign = ""
    tokens = tokenize(text)
    for kind, token in zip(tokens.kinds, tokens.texts):
        if kind == PUNCT and token in "[(":
            stack.append([])
        elif kind == PUNCT and token in "])" and len(stack) > 1:
            inner = stack.pop()
            stack[-1].append(inner)
        elif kind == PUNCT and token == "-":
            sign = "-"
        elif kind in (IDENT, NUMBER, STRING):
            stack[-1].append(_value(sign + token))
            sign = ""
    first = stack[0][0] if stack[0] else []
    return first if isinstance(first, list) else []


def misfit(type_: Type, default: str) -> tuple[str, tuple[str, ...]] | None:
    """Why a default doesn't fit its type, and names that would fit; None if it fits.

    Lenient where PyTorch is: `Tensor x=None`, `bool x=1`, a single number for a list.
    """
    value = _value(default)
    optional = False
    lists = 0
    while isinstance(type_, (OptionalType, ListType)):
        optional = optional or isinstance(type_, OptionalType)
        lists += isinstance(type_, ListType)
        type_ = type_.elem
    if isinstance(value, NamedConstant) and value.name.lower() in _NO_VALUES:
        return f"`{value.name}` is not a value of a schema", ("None",)
    if not isinstance(type_, BaseType) or (value is None and optional):
        return None
    if isinstance(value, list):
        if not lists and type_.name in _FITTING:
            return f"`{type_.name}` is not a list", ()
        if lists == 1 and any(isinstance(item, list) for item in value):
            return f"`{type_.name}` is not a list", ()
        return next(filter(None, (_misfit_single(type_.name, item) for item in value)), None)
    return _misfit_single(type_.name, value)


# What other languages write for `None`.
_NO_VALUES = frozenset({"nil", "none", "null", "nullopt", "nullptr"})
# No name stands for a value of these types.
_UNNAMED = frozenset(
    "DeviceIndex Generator Scalar SymBool SymFloat Tensor bool complex float number str".split()
)
_NUMBERS = (bool, int, float, complex)
# The Python types of the values that a type takes; other types take any value.
_FITTING: dict[str, tuple[type, ...]] = {
    **dict.fromkeys(("int", "SymInt", "DeviceIndex"), (int,)),
    # These are numbers to PyTorch's parser.
    **dict.fromkeys(("ScalarType", "Layout", "MemoryFormat", "QScheme"), (int,)),
    **dict.fromkeys(("bool", "SymBool"), (bool, int)),
    **dict.fromkeys(("float", "SymFloat"), (int, float)),
    **dict.fromkeys(("Scalar", "number", "complex"), _NUMBERS),
    **dict.fromkeys(("str", "Device", "Dimname"), (str,)),
    **dict.fromkeys(("Tensor", "Generator", "Storage", "Stream"), (type(None),)),
}


def _misfit_single(type_name: str, value: object) -> tuple[str, tuple[str, ...]] | None:
    if isinstance(value, list):
        return None
    if isinstance(value, NamedConstant):
        known = NAMED_CONSTANTS.get(type_name, ("True", "False") if type_name == "bool" else ())
        takes_any = type_name not in NAMED_CONSTANTS and type_name not in _UNNAMED
        if takes_any or value.name in known:
            return None
        return f"`{value.name}` is not a value of type `{type_name}`", known
    if type(value) not in _FITTING.get(type_name, (type(value),)):
        return f"a {_KINDS[type(value)]} is not a value of type `{type_name}`", ()
    if isinstance(value, int) and type_name != "float" and not -(2**63) <= value < 2**63:
        return "it does not fit into 64 bits", ()
    return None


_KINDS: dict[type, str] = {
    type(None): "`None`",
    bool: "truth value",
    int: "whole number",
    float: "number with a fraction",
    complex: "complex number",
    str: "string",
}
