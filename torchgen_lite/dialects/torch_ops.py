"""One operator as `torch.ops` takes it: `torch.ops.aten.add.Tensor(x, y, alpha=2)`.

    add.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor

is

    def __call__(_op, /, self: Tensor, other: Tensor, *, alpha: Number = 1) -> Tensor: ...

The operator itself comes first and has no name for callers, as in `OpOverload.__call__`: schemas may well have
an argument `self`. What is accepted follows `toIValue` of torch/csrc/jit/python/pybind_utils.cpp.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from torchgen_lite.dialects import python
from torchgen_lite.dialects.python_names import identifier, is_reserved
from torchgen_lite.schema import Argument, FunctionSchema
from torchgen_lite.schema.model import BaseType, GenericType, ListType, OptionalType, Type

OPERATOR_PARAMETER = "_op"
_BASE_TYPES = {
    "Tensor": "Tensor",
    "Scalar": "Number | complex",
    "number": "Number | complex",
    "int": "int",
    "DeviceIndex": "int",
    "SymInt": "int | SymInt",
    "SymFloat": "float | SymFloat",
    "SymBool": "bool | SymBool",
    "QScheme": "qscheme",
    "float": "float",
    "complex": "complex",
    "bool": "bool",
    "str": "str",
    "Dimname": "str",
    "ScalarType": "dtype",
    "Layout": "layout",
    "Device": "device",
    "MemoryFormat": "memory_format",
    "Generator": "Generator",
    "Storage": "UntypedStorage",
    "Stream": "Stream",
    "NoneType": "None",
}
# A caller may name a device; what comes back is one.
_ARGUMENT_TYPES = {"Device": "device | str"}
# The names of types that this dialect writes, and where a stub imports them from.
TYPE_MODULES = {
    "Any": "typing",
    "Sequence": "collections.abc",
    "Generator": "torch",
    "Number": "torch.types",
    "ScriptObject": "torch",
    "Stream": "torch",
    "SymBool": "torch",
    "SymFloat": "torch",
    "SymInt": "torch",
    "Tensor": "torch",
    "UntypedStorage": "torch",
    "device": "torch",
    "dtype": "torch",
    "layout": "torch",
    "memory_format": "torch",
    "overload": "typing",
    "qscheme": "torch",
    "bool": "builtins",
    "complex": "builtins",
    "dict": "builtins",
    "float": "builtins",
    "int": "builtins",
    "list": "builtins",
    "str": "builtins",
    "tuple": "builtins",
}
_CLASS_PREFIX = "__torch__."
# One element stands for a fixed-size list of equal ones.
_BROADCASTING = frozenset({"int", "SymInt", "float"})


def argument_type(type_: Type) -> str:
    """What a caller may pass: `int | Sequence[int] | None` for `int[2]?`."""
    if isinstance(type_, OptionalType):
        return _optional(argument_type(type_.elem))
    if isinstance(type_, ListType):
        elem = argument_type(type_.elem)
        single = isinstance(type_.elem, BaseType) and type_.elem.name in _BROADCASTING
        if type_.size is not None and single:
            return f"{elem} | Sequence[{elem}]"
        return f"Sequence[{elem}]"
    if isinstance(type_, BaseType) and type_.name in _ARGUMENT_TYPES:
        return _ARGUMENT_TYPES[type_.name]
    return _other_type(type_, argument=True)


def return_type(type_: Type) -> str:
    """What comes back: lists are lists."""
    if isinstance(type_, OptionalType):
        return _optional(return_type(type_.elem))
    if isinstance(type_, ListType):
        return f"list[{return_type(type_.elem)}]"
    return _other_type(type_, argument=False)


def _other_type(type_: Type, *, argument: bool) -> str:
    recur = argument_type if argument else return_type
    if isinstance(type_, BaseType):
        if type_.name.startswith(_CLASS_PREFIX):
            return "ScriptObject"
        return _BASE_TYPES.get(type_.name, "Any")
    if isinstance(type_, GenericType):
        if type_.name == "Dict" and len(type_.args) == 2:
            return f"dict[{', '.join(recur(t) for t in type_.args)}]"
        return "Any"
    elems = [recur(t) for t in getattr(type_, "elems", ())]
    return f"tuple[{', '.join(elems)}]" if elems else "tuple[()]"


def _optional(type_: str) -> str:
    return type_ if type_ in ("Any", "None") or type_.endswith("| None") else f"{type_} | None"


def returns_type(schema: FunctionSchema) -> str:
    """`None`, one type, or a tuple; `Any` where a schema gives any number of values."""
    if schema.is_varret:
        return "Any"
    types = [return_type(r.type) for r in schema.returns]
    if len(types) == 1:
        return types[0]
    return f"tuple[{', '.join(types)}]" if types else "None"


def parameters(schema: FunctionSchema) -> list[str]:
    """The parameters with `/`, `*` and defaults.

    Python has no keyword arguments called `from`: everything up to such a name goes by position, and a
    keyword-only one can be passed by `**`. Nor has it a required positional parameter after one that has a default,
    as a few schemas do; there such a default is `...`, and the later ones have it too, for the operator to refuse.
    """
    arguments = _distinct(schema.arguments)
    positional = [a for a in arguments if not a.kwarg_only]
    keywords = [a for a in arguments if a.kwarg_only]
    by_position = max([i + 1 for i, a in enumerate(positional) if not _is_name(a)], default=0)
    lines = [OPERATOR_PARAMETER]
    if by_position == 0:
        lines.append("/")
    has_default = False
    for index, argument in enumerate(positional):
        has_default = has_default or argument.default is not None
        lines.append(_parameter(argument, forced=has_default))
        if index + 1 == by_position:
            lines.append("/")
    if schema.is_vararg:
        lines.append("*args: Any")
    elif any(map(_is_name, keywords)):
        lines.append("*")
    lines += [_parameter(a) for a in keywords if _is_name(a)]
    if not all(map(_is_name, keywords)):
        lines.append("**kwargs: Any")
    return lines


def _distinct(arguments: Sequence[Argument]) -> list[Argument]:
    """A name that comes again gets an underscore: PyTorch's parser lets `posinf` stand twice."""
    names: set[str] = set()
    found: list[Argument] = []
    for argument in arguments:
        name = argument.name
        while name in names:
            name += "_"
        names.add(name)
        found.append(argument if name == argument.name else replace(argument, name=name))
    return found


def _is_name(argument: Argument) -> bool:
    return not is_reserved(argument.name)


def _parameter(argument: Argument, *, forced: bool = False) -> str:
    text = f"{identifier(argument.name)}: {argument_type(argument.type)}"
    if argument.default is None:
        return f"{text} = ..." if forced else text
    return f"{text} = {default_text(argument)}"


def default_text(argument: Argument) -> str:
    """The default as a literal; `...` for a constant that is no literal, such as `contiguous_format`."""
    text = python.default_text(python.default(argument))
    return text if text[0] in "\"'(-0123456789" or text in ("None", "True", "False") else "..."


def overload_attribute(schema: FunctionSchema) -> str:
    """The attribute of the packet: the overload's name, or `default`."""
    return schema.overload_name or "default"
