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
from torchgen_lite.dialects.python_names import BUILTIN_TYPES, identifier, is_reserved
from torchgen_lite.dialects.python_types import Annotations
from torchgen_lite.schema import Argument, FunctionSchema

OPERATOR_PARAMETER = "_op"
_TYPES = Annotations(
    {
        "Scalar": "Number | complex",
        "number": "Number | complex",
        "SymInt": "int | SymInt",
        "SymFloat": "float | SymFloat",
        "SymBool": "bool | SymBool",
        "QScheme": "qscheme",
        "Storage": "UntypedStorage",
    },
    # A caller may name a device; what comes back is one.
    accepted={"Device": "device | str"},
    custom_class="ScriptObject",
)
argument_type = _TYPES.argument
return_type = _TYPES.returned
# The names of types that this dialect writes, and where a stub imports them from.
_NAMES_OF = {
    "typing": ("Any", "overload"),
    "collections.abc": ("Sequence",),
    "torch.types": ("Number",),
    "torch": (
        *("Generator", "ScriptObject", "Stream", "SymBool", "SymFloat", "SymInt", "Tensor"),
        *("UntypedStorage", "device", "dtype", "layout", "memory_format", "qscheme"),
    ),
    "builtins": BUILTIN_TYPES,
}
TYPE_MODULES = {name: module for module, names in _NAMES_OF.items() for name in names}


def returns_type(schema: FunctionSchema) -> str:
    """`None`, one type, or a tuple; `Any` where a schema gives any number of values."""
    if schema.is_varret:
        return "Any"
    return python.returns_annotation([return_type(r.type) for r in schema.returns])


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
        lines.append(f"*{_free('args', arguments)}: Any")
    elif any(map(_is_name, keywords)):
        lines.append("*")
    lines += [_parameter(a) for a in keywords if _is_name(a)]
    if not all(map(_is_name, keywords)):
        lines.append(f"**{_free('kwargs', arguments)}: Any")
    return lines


def _free(name: str, arguments: Sequence[Argument]) -> str:
    """The name, with underscores as long as an argument has it."""
    while name in [argument.name for argument in arguments]:
        name += "_"
    return name


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
