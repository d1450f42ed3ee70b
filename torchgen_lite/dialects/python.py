"""One operator in Python: types, defaults, parameters, calls.

    add.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor

is, as a signature,

    (self: Tensor, other: Tensor, *, alpha: Number = 1) -> Tensor

and, as a call that passes everything on, `kernel(self, other, alpha=alpha)`.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from torchgen_lite.dialects.python_names import identifier, unshadowed
from torchgen_lite.dialects.text import literal
from torchgen_lite.schema import Argument, FunctionSchema, NamedConstant, Return, default_value
from torchgen_lite.schema.model import BaseType, GenericType, ListType, OptionalType, Type

_BASE_TYPES = {
    "Tensor": "Tensor",
    "Scalar": "Number",
    "number": "Number",
    "int": "int",
    "SymInt": "int",
    "DeviceIndex": "int",
    "QScheme": "int",
    "float": "float",
    "complex": "complex",
    "bool": "bool",
    "SymBool": "bool",
    "str": "str",
    "Dimname": "str",
    "ScalarType": "dtype",
    "Layout": "layout",
    "Device": "device",
    "MemoryFormat": "memory_format",
    "Generator": "Generator",
    "Storage": "Storage",
    "Stream": "Stream",
    "NoneType": "None",
}
# One number stands for a fixed-size list of equal ones, as the JIT's broadcasting lists allow.
_BROADCASTING = frozenset({"int", "SymInt", "float", "bool"})
# Named constants that are numbers in Python; the others are the framework's (`contiguous_format`).
_NUMBERED_CONSTANTS = {"Mean": 1, "Sum": 2}


@lru_cache(maxsize=4096)
def argument_type(type_: Type) -> str:
    """`int[2]?` -> `int | Sequence[int] | None`: what a caller may pass."""
    if isinstance(type_, OptionalType):
        elem = argument_type(type_.elem)
        return elem if elem in ("Any", "None") or elem.endswith("| None") else f"{elem} | None"
    if isinstance(type_, ListType):
        elem = argument_type(type_.elem)
        is_broadcasting = isinstance(type_.elem, BaseType) and type_.elem.name in _BROADCASTING
        if type_.size is not None and is_broadcasting:
            return f"{elem} | Sequence[{elem}]"
        return f"Sequence[{elem}]"
    return _base_type(type_, argument_type)


@lru_cache(maxsize=4096)
def return_type(type_: Type) -> str:
    """`Tensor[]` -> `list[Tensor]`: what an operator gives back."""
    if isinstance(type_, OptionalType):
        elem = return_type(type_.elem)
        return elem if elem in ("Any", "None") else f"{elem} | None"
    if isinstance(type_, ListType):
        return f"list[{return_type(type_.elem)}]"
    return _base_type(type_, return_type)


def _base_type(type_: Type, recur: object) -> str:
    if isinstance(type_, BaseType):
        return _BASE_TYPES.get(type_.name, "Any")
    assert callable(recur)
    if isinstance(type_, GenericType):
        if type_.name == "Dict" and len(type_.args) == 2:
            return f"dict[{', '.join(recur(t) for t in type_.args)}]"
        return "Any"
    return f"tuple[{', '.join(recur(t) for t in getattr(type_, 'elems', ()))}]"


def returns(values: Sequence[Return]) -> tuple[str, ...]:
    """The types of the return values, one each."""
    return tuple([return_type(r.type) for r in values])


def returns_annotation(types: Sequence[str]) -> str:
    """`None`, `Tensor`, or `tuple[Tensor, Tensor]`."""
    if len(types) == 1:
        return types[0]
    return f"tuple[{', '.join(types)}]" if types else "None"


def default(argument: Argument) -> object:
    """The Python value of a default; a framework's constant is a `NamedConstant`."""
    value = default_value(argument)
    if isinstance(value, NamedConstant) and value.name in _NUMBERED_CONSTANTS:
        return _NUMBERED_CONSTANTS[value.name]
    return value


def default_text(value: object) -> str:
    """A default as it stands in a signature: a literal, or the name of the framework's constant."""
    return identifier(value.name) if isinstance(value, NamedConstant) else literal(value)


def parameter(argument: Argument, *, with_default: bool) -> str:
    """`alpha: Number = 1`."""
    text = f"{identifier(argument.name)}: {argument_type(argument.type)}"
    return f"{text} = {default_text(default(argument))}" if with_default else text


def parameters(schema: FunctionSchema) -> list[str]:
    """The parameters of the stub, `*` before the first keyword-only one.

    Python has no required positional parameter after one with a default, which schemas may have; such
    a default is then left to the schema.
    """
    lines: list[str] = []
    positional = [a for a in schema.arguments if not a.kwarg_only]
    required = [i for i, a in enumerate(positional) if a.default is None]
    first_default = required[-1] + 1 if required else 0
    for index, argument in enumerate(positional):
        with_default = argument.default is not None and index >= first_default
        lines.append(parameter(argument, with_default=with_default))
    keywords = [a for a in schema.arguments if a.kwarg_only]
    if keywords:
        lines.append("*")
    lines += [parameter(a, with_default=a.default is not None) for a in keywords]
    return lines


def unshadow(lines: Sequence[str], shadowed: frozenset[str]) -> Sequence[str]:
    """The parameters with an underscore before every type that the module hides."""
    return [_unshadow(line, shadowed) for line in lines] if shadowed else lines


def _unshadow(line: str, shadowed: frozenset[str]) -> str:
    name, colon, rest = line.partition(": ")
    annotation, equals, value = rest.partition(" = ")
    return f"{name}{colon}{unshadowed(annotation, shadowed)}{equals}{value}"


def forwarded(schema: FunctionSchema) -> list[str]:
    """The arguments of a call that passes everything on: `["self", "other", "alpha=alpha"]`."""
    items = []
    for argument in schema.arguments:
        name = identifier(argument.name)
        items.append(f"{name}={name}" if argument.kwarg_only else name)
    return items


_KEYSET_OF = {"T": "{}._dispatch_keyset", "L": "_list({})", "P": "_list({})"}


def keyset_of(kind: str, name: str) -> str:
    """The expression for an argument's keyset: `x._dispatch_keyset`, `_optional(x)`, `_list(x)`."""
    return _KEYSET_OF.get(kind, "_optional({})").format(name)
