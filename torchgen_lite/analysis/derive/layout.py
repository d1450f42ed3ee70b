"""How the arguments of a schema are divided into parts: self, tensor options, out arguments.

    empty.memory_format(SymInt[] size, *, ScalarType? dtype=None, Layout? layout=None,
        Device? device=None, bool? pin_memory=None, MemoryFormat? memory_format=None) -> Tensor

has the positional argument `size`, tensor options (which C++ takes as one `TensorOptions`), and
`memory_format` behind them. torchgen `Arguments`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, TypeVar

from torchgen_lite.schema import (
    AliasAnnotation,
    Argument,
    BaseType,
    FunctionSchema,
    GenericType,
    ListType,
    OptionalType,
    Return,
    Type,
    find_annotation,
    walk_type,
)
from torchgen_lite.schema.grouped import names_of
from torchgen_lite.schema.model import bare_type

_Value = TypeVar("_Value", Argument, Return)


class TensorOptions(NamedTuple):
    """The four keyword arguments that say what kind of tensor to make; always these, in this order."""

    dtype: Argument
    layout: Argument
    device: Argument
    pin_memory: Argument


class ArgumentLayout(NamedTuple):
    """The arguments of one schema. Without tensor options every keyword is in `before_options`."""

    positional: tuple[Argument, ...]
    before_options: tuple[Argument, ...]
    options: TensorOptions | None
    after_options: tuple[Argument, ...]
    out: tuple[Argument, ...]

    @property
    def keywords(self) -> tuple[Argument, ...]:
        """The keyword-only arguments except the out arguments, in schema order."""
        return self.before_options + (self.options or ()) + self.after_options

    @property
    def without_options(self) -> tuple[Argument, ...]:
        """The arguments except the out arguments and the tensor options."""
        return self.positional + self.before_options + self.after_options

    @property
    def inputs(self) -> tuple[Argument, ...]:
        """The arguments except the out arguments, in schema order."""
        return self.positional + self.keywords


_OPTIONS = dict(zip(TensorOptions._fields, ("ScalarType", "Layout", "Device", "bool")))


def argument_layout(schema: FunctionSchema) -> ArgumentLayout:
    """Sort the arguments into parts. Only the first run of tensor options counts."""
    keywords = schema.kwarg_only
    for start in range(len(keywords) - 3):
        options = keywords[start : start + 4]
        is_run = options[0].name == "dtype" and names_of(options) == list(_OPTIONS)
        if is_run and all(map(_is_option, options)):
            before = keywords[:start]
            after = keywords[start + 4 :]
            run = TensorOptions(*options)
            return ArgumentLayout(schema.positional, before, run, after, schema.out)
    return ArgumentLayout(schema.positional, keywords, None, (), schema.out)


def _is_option(argument: Argument) -> bool:
    """Whether it has the name and the type, which may be optional, of a tensor option."""
    return bare_type(argument.type).removesuffix("?") == _OPTIONS.get(argument.name)


def tensor_options(schema: FunctionSchema) -> dict[str, Argument]:
    """The tensor options that a schema has, by name, at any position."""
    return {a.name: a for a in schema.arguments if a.name in _OPTIONS and _is_option(a)}


def strip_type(type_: Type) -> Type:
    """A type without alias annotations; the same object if there are none."""
    if find_annotation(type_) is None:
        return type_
    return annotate_type(type_, None)


def annotate_type(type_: Type, annotation: AliasAnnotation | None) -> Type:
    """Annotate a bare type where PyTorch does, on the innermost type: `Tensor(a!)[]`."""
    if isinstance(type_, BaseType):
        return BaseType(type_.name, annotation)
    if isinstance(type_, OptionalType):
        return OptionalType(annotate_type(type_.elem, annotation))
    if isinstance(type_, ListType):
        return ListType(annotate_type(type_.elem, annotation), type_.size)
    return type_


def element_name(type_: Type) -> str:
    """The name inside options and lists: `Tensor` of `Tensor?[]`; empty for tuples."""
    while isinstance(type_, (OptionalType, ListType)):
        type_ = type_.elem
    if not isinstance(type_, (BaseType, GenericType)):
        return ""
    return type_.name


def tensors_in(values: Sequence[_Value]) -> list[_Value]:
    """The arguments, or results, that are tensors, or options or lists of them."""
    return [value for value in values if is_tensor_like(value.type)]


def is_tensor_like(type_: Type) -> bool:
    """Tensors, and options and lists of them (torchgen `Type.is_tensor_like`)."""
    return element_name(type_) == "Tensor"


def has_tensors_by_name(type_: Type) -> bool:
    """Whether there is a dictionary with tensors in a type, which no trace can hold."""
    for part in walk_type(type_):
        if isinstance(part, GenericType) and any(map(is_tensor_like, walk_type(part))):
            return True
    return False


def has_symint(schema: FunctionSchema) -> bool:
    """Whether an input takes a `SymInt`; such a schema has two C++ signatures."""
    return any(element_name(argument.type) == "SymInt" for argument in schema.inputs)
