"""One operator as the dispatcher calls it: every argument in schema order, by itself, without defaults."""

from __future__ import annotations

from torchgen_lite.analysis.derive.layout import argument_layout
from torchgen_lite.dialects.cpp import public, torch_types
from torchgen_lite.dialects.cpp.signature import CppParameter, CppSignature
from torchgen_lite.dialects.cpp.torch_types import Conventions, conventions
from torchgen_lite.dialects.cpp.types import CType
from torchgen_lite.loader.entry import NativeFunction
from torchgen_lite.schema import Argument, FunctionSchema


def name(schema: FunctionSchema) -> str:
    """As in the public API: `add`, `add_out`."""
    return public.name(schema)


def argument_type(argument: Argument, how: Conventions) -> CType:
    """As in the public API; `SymInt` is `c10::SymInt` unless `how` says otherwise."""
    return torch_types.argument_type(argument.type, argument.is_write, how)


def returns_type(function: NativeFunction) -> CType:
    """As in the public API."""
    return torch_types.returns_type(function.func.returns, conventions(function, symint=True))


def arguments(function: NativeFunction, *, symint: bool = True) -> tuple[CppParameter, ...]:
    """The parameters in schema order."""
    layout = argument_layout(function.func)
    how = conventions(function, symint=symint)
    ordered = layout.inputs + layout.out
    return tuple([CppParameter(argument_type(a, how), a.name) for a in ordered])


def signature(function: NativeFunction, *, symint: bool = True) -> CppSignature:
    """The signature of the unboxed call, `at::_ops::add_Tensor::call`."""
    parameters = arguments(function, symint=symint)
    return CppSignature(name(function.func), returns_type(function), parameters)
