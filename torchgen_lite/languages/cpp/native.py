"""The kernels of one operator in `at::native`: what the author of a kernel writes."""

from __future__ import annotations

from torchgen_lite.analysis.derive.layout import TensorOptions, argument_layout
from torchgen_lite.analysis.operators import Operator
from torchgen_lite.languages.cpp import public, torch_types
from torchgen_lite.languages.cpp.defaults import EMPTY
from torchgen_lite.languages.cpp.signature import CppParameter, CppSignature
from torchgen_lite.languages.cpp.torch_types import OPTIONAL_TENSOR, Sizes, conventions
from torchgen_lite.languages.cpp.types import ref, std
from torchgen_lite.loader.entry.entry import DispatchEntry, NativeFunction
from torchgen_lite.schema import Argument, FunctionSchema
from torchgen_lite.schema.model import bare_type

_NAMESPACE = "at::native"
# Kernels take tensor options as four optional arguments, whatever the schema says of them.
_OPTION_TYPES = [
    std("optional", torch_types.base_type(name))
    for name in ("ScalarType", "Layout", "Device", "bool")
]


def name(schema: FunctionSchema) -> str:
    """`add_Tensor`, `add_out_out`: the name a kernel has by default."""
    text = public.name(schema)
    if schema.overload_name:
        return f"{text}_{schema.overload_name}"
    return text


def kernel(operator: Operator, entry: DispatchEntry) -> tuple[str, str]:
    """The namespace and name of a kernel: `at::native` unless the YAML names another.

    An implied kernel has the name of the public C++ function: `add`, `add_out`. A scope in the YAML
    is the backend's, whose kernels are in its `native` namespace (torchgen `BackendMetadata`).
    """
    if entry.is_implied:
        return _NAMESPACE, public.name(operator.schema)
    scope, _, name = entry.kernel.replace(".", "::").rpartition("::")
    return f"{scope}::native" if scope else _NAMESPACE, name


def sizes_of(entry: DispatchEntry) -> Sizes:
    """What the kernel takes for a `SymInt`, which PyTorch tells by its name."""
    if "_symint" in entry.kernel.rpartition("::")[2]:
        return "SymInt"
    return "int"


def arguments(function: NativeFunction, sizes: Sizes = "int") -> tuple[CppParameter, ...]:
    """The parameters in schema order, out arguments last; with defaults except for out variants."""
    layout = argument_layout(function.func)
    how = conventions(function, sizes)
    make = public.parameter if layout.out else public.defaulted

    def parameter(argument: Argument) -> CppParameter:
        """As in the public API, except that a written optional tensor stays optional."""
        made = make(argument, how)
        if argument.is_write and not how.const_ref and bare_type(argument.type) == "Tensor?":
            return made._replace(type=ref(OPTIONAL_TENSOR))
        return made

    parameters = list(map(parameter, layout.positional + layout.before_options))
    if layout.options is not None:
        default = None if layout.out else EMPTY
        for type_, option in zip(_OPTION_TYPES, TensorOptions._fields):
            parameters.append(CppParameter(type_, option, default))
    return (*parameters, *map(parameter, layout.after_options + layout.out))


def signature(function: NativeFunction, sizes: Sizes = "int") -> CppSignature:
    """The signature of a kernel, which takes `c10::SymInt` if `sizes` says so."""
    parameters = arguments(function, sizes)
    return CppSignature(name(function.func), public.returns_type(function), parameters)
