"""One operator in the public C++ API: what `at::add(...)` and `tensor.add(...)` look like.

    add.out(Tensor self, Tensor other, *, Scalar alpha=1, Tensor(a!) out) -> Tensor(a!)

has the usual signature, with the out argument first and with defaults,

    at::Tensor& add_out(at::Tensor& out, const at::Tensor& self, const at::Tensor& other, ...alpha = 1)

and the faithful one, in the order of the schema and without defaults, `add_outf`. Tensor options are one
`at::TensorOptions`, or faithfully four arguments. With a `SymInt` there are two more, `<name>_symint`.
"""

from __future__ import annotations

from itertools import chain
from typing import NamedTuple

from torchgen_lite.analysis.derive.layout import TensorOptions, argument_layout, has_symint
from torchgen_lite.languages.cpp import torch_types
from torchgen_lite.languages.cpp.defaults import EMPTY, as_written
from torchgen_lite.languages.cpp.signature import CppParameter, CppSignature
from torchgen_lite.languages.cpp.torch_types import Conventions, Sizes, conventions
from torchgen_lite.languages.cpp.types import CType
from torchgen_lite.loader.entry.entry import NativeFunction
from torchgen_lite.schema import Argument, FunctionSchema
from torchgen_lite.schema.kind import VARIANTS, Variant

# A hand-written binding finds the one that would have been generated under this prefix.
FALLBACK_PREFIX = "__dispatch_"


class Style(NamedTuple):
    """Which of the signatures of an operator is meant."""

    faithful: bool = False
    symint: bool = False
    method: bool = False


_TENSOR_OPTIONS = CType("at::TensorOptions", headers=("c10/core/TensorOptions.h",))
# The usual signature.
PLAIN = Style()


def name(schema: FunctionSchema, style: Style = PLAIN) -> str:
    """`add`, `add_`, `add_out`; `add_outf` for the faithful one; `zeros_symint`."""
    text = schema.base_name
    if style.symint:
        text += "_symint"
    if schema.out:
        text += "_outf" if style.faithful else "_out"
    return text


def returns_type(function: NativeFunction) -> CType:
    """`at::Tensor`, `::std::tuple<at::Tensor, at::Tensor>`, `void`: the same for every style and dialect."""
    how = conventions(function, "SymInt")
    return torch_types.returns_type(function.func.returns, how)


def arguments(function: NativeFunction, style: Style = PLAIN) -> tuple[CppParameter, ...]:
    layout = argument_layout(function.func)
    how = conventions(function, "SymInt" if style.symint else "int")
    positional = [a for a in layout.positional if not (style.method and a.name == "self")]
    if style.faithful:
        ordered = chain(positional, layout.keywords, layout.out)
        return tuple([parameter(a, how) for a in ordered])

    def shown(argument: Argument) -> CppParameter:
        make = parameter if argument.name in function.cpp_no_default_args else defaulted
        return make(argument, how)

    parameters = list(map(shown, chain(layout.out, positional, layout.before_options)))
    if layout.options is not None:
        parameters.append(_options(layout.options))
    return (*parameters, *map(shown, layout.after_options))


def parameter(argument: Argument, how: Conventions) -> CppParameter:
    """`const at::Scalar& alpha`."""
    type_ = torch_types.argument_type(argument.type, argument.is_write, how)
    return CppParameter(type_, argument.name)


def defaulted(argument: Argument, how: Conventions) -> CppParameter:
    """`const at::Scalar& alpha = 1`."""
    made = parameter(argument, how)
    if argument.default is None:
        return made
    return made._replace(default=as_written(argument.default, argument.type, how.sizes))


def _options(options: TensorOptions) -> CppParameter:
    default = None
    if all(a.default == "None" for a in options):
        default = EMPTY
    elif options.dtype.default == "long":
        default = as_written("long", options.dtype.type, "int")
    return CppParameter(_TENSOR_OPTIONS, "options", default)


def signature(function: NativeFunction, style: Style = PLAIN) -> CppSignature:
    text = name(function.func, style)
    if function.manual_cpp_binding:
        text = FALLBACK_PREFIX + text
    return CppSignature(text, returns_type(function), arguments(function, style))


def dispatched(function: NativeFunction, sizes: Sizes = "SymInt") -> CppSignature:
    """What the dispatcher calls, `at::_ops::add_Tensor::call`: separate arguments in schema order, without defaults,
    under the plain name."""
    parameters = arguments(function, Style(faithful=True, symint=sizes == "SymInt"))
    return CppSignature(name(function.func), returns_type(function), parameters)


def styles(function: NativeFunction, variant: Variant = "function") -> tuple[Style, ...]:
    """The styles an operator has: plain, faithful, and both with SymInt, if they differ."""
    layout = argument_layout(function.func)
    forms = (False, True) if layout.options is not None or layout.out else (False,)
    symints = (False, True) if has_symint(function.func) else (False,)
    return tuple(
        Style(faithful, symint, variant == "method") for symint in symints for faithful in forms
    )


def signatures(function: NativeFunction) -> tuple[CppSignature, ...]:
    """Every signature: those of the function, then those of the method, as `variants` says."""
    declared = []
    for variant in VARIANTS:
        if variant in function.variants:
            declared += [signature(function, style) for style in styles(function, variant)]
    return tuple(declared)
