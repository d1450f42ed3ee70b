"""The two functions of a structured kernel: `meta` computes shape and type, `impl` writes the result.

Neither returns anything: meta calls `set_output`, impl writes to the out arguments. `precomputed`
lists what meta passes to impl in place of some arguments:

    precomputed:
    - kernel_size -> int poolSizeH, int poolSizeW
    - int outputHeight, int outputWidth
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
from typing import NamedTuple

from torchgen_lite.analysis.derive.layout import argument_layout
from torchgen_lite.analysis.derive.model import VariantGroup
from torchgen_lite.languages.cpp import torch_types
from torchgen_lite.languages.cpp.signature import CppParameter
from torchgen_lite.languages.cpp.types import CType, bare, const_ref, std
from torchgen_lite.loader.entry.entry import NativeFunction
from torchgen_lite.schema import Argument, BaseType, ListType, OptionalType, Type, parse_schema
from torchgen_lite.schema.model import bare_type

_OPTIONALS = {
    "Tensor": CType("at::OptionalTensorRef"),
    "Scalar": CType("at::OptionalScalarRef"),
    "int[]": torch_types.INT_LIST_OPTION,
}
_LISTS = {
    "Tensor": torch_types.TENSOR_LIST_REF,
    "Tensor?": CType("at::IOptTensorListRef"),
    "int": torch_types.INT_LIST,
}


class Precomputed(NamedTuple):
    """Parameters by the argument that they replace, and those that come before the out arguments."""

    replace: tuple[tuple[str, tuple[Argument, ...]], ...] = ()
    add: tuple[Argument, ...] = ()

    @property
    def elements(self) -> tuple[Argument, ...]:
        """Everything that meta has to set, in order."""
        return (*chain.from_iterable([arguments for _, arguments in self.replace]), *self.add)


def precomputed(function: NativeFunction) -> Precomputed:
    """The parsed field `precomputed`; the loader has already rejected malformed lines."""
    replace: list[tuple[str, tuple[Argument, ...]]] = []
    add: tuple[Argument, ...] = ()
    for line in function.precomputed:
        target, arrow, parameters = line.partition("->")
        schema, _ = parse_schema(f"f({(parameters if arrow else target).strip()}) -> ()")
        if schema is None:
            continue
        if arrow:
            replace.append((target.strip(), schema.arguments))
        else:
            add = schema.arguments
    return Precomputed(tuple(replace), add)


def name(group: VariantGroup) -> str:
    """The class that meta belongs to, without `structured_`: `add_Tensor`."""
    return group.functional.func.flat_name


def base_class(group: VariantGroup) -> str:
    """What that class derives from; usually `TensorIteratorBase` or `at::impl::MetaBase`."""
    return group.out.structured_inherits or "at::impl::MetaBase"


def argument_type(type_: Type) -> CType:
    """Non-owning references. `SymInt` is a plain integer here, since kernels compute with it."""
    value = torch_types.value_type(type_, "int")
    if value is not None:
        return value
    if isinstance(type_, BaseType):
        return const_ref(torch_types.TENSOR if type_.name == "Tensor" else torch_types.SCALAR)
    if isinstance(type_, OptionalType):
        elem = type_.elem
        # The size of a list does not count: it says what a caller may leave out.
        key = f"{bare_type(elem.elem)}[]" if isinstance(elem, ListType) else bare_type(elem)
        return _OPTIONALS.get(key) or std("optional", argument_type(elem))
    assert isinstance(type_, ListType)
    return _LISTS.get(bare_type(type_.elem)) or torch_types.array_ref(argument_type(type_.elem))


def _parameters(arguments: Sequence[Argument]) -> tuple[CppParameter, ...]:
    return tuple([CppParameter(argument_type(a.type), a.name) for a in arguments])


def meta_arguments(group: VariantGroup) -> tuple[CppParameter, ...]:
    """The parameters of meta: the inputs."""
    return _parameters(argument_layout(group.functional.func).inputs)


def impl_arguments(group: VariantGroup) -> tuple[CppParameter, ...]:
    """The parameters of impl: inputs or what replaces them, what is added, out arguments."""
    layout = argument_layout(group.out.func)
    computed = precomputed(group.out)
    replaced = dict(computed.replace)
    inputs = chain.from_iterable([replaced.get(a.name, (a,)) for a in layout.inputs])
    return _parameters((*inputs, *computed.add, *layout.out))


def precomputed_members(group: VariantGroup) -> tuple[CppParameter, ...]:
    """The members of the struct that meta returns, by value."""
    elements = precomputed(group.out).elements
    return tuple([CppParameter(bare(argument_type(a.type)), a.name) for a in elements])
