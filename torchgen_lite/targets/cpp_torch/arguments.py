"""From the parameters of the public API to the arguments of the dispatcher.

`at::TensorOptions` becomes four arguments, and numbers become `c10::SymInt` where the schema says so.
"""

from __future__ import annotations

from torchgen_lite.analysis.derive.layout import TensorOptions, argument_layout, element_name
from torchgen_lite.languages.cpp.public import Style
from torchgen_lite.languages.cpp.text import identifier
from torchgen_lite.languages.cpp.types import Expression
from torchgen_lite.schema import Argument, BaseType, OptionalType
from torchgen_lite.targets.cpp.model import CppOperator

# The header with the functions that convert arguments.
_HELPERS = ("arguments.h",)


def pass_on(operator: CppOperator, style: Style, *, self: str = "self") -> tuple[Expression, ...]:
    """An expression for each parameter of `operator.signature`, with the library's header that it needs."""
    layout = argument_layout(operator.schema)
    options = None if style.faithful else layout.options
    found: dict[str, Expression] = {}
    for argument in layout.inputs + layout.out:
        name = identifier(argument.name)
        if style.method and argument.name == "self":
            name = self
        found[argument.name] = Expression(name) if style.symint else _symbolic(argument, name)
    if options is not None:
        found |= _unpacked(options)
        if "memory_format" in found and any(a.name == "memory_format" for a in layout.inputs):
            text = "detail::memory_format(options, memory_format)"
            found["memory_format"] = Expression(text, _HELPERS)
    return tuple([found[p.name] for p in operator.signature.parameters])


def _symbolic(argument: Argument, name: str) -> Expression:
    """A number, or numbers, as `c10::SymInt`; a single number converts by itself."""
    if element_name(argument.type) != "SymInt" or isinstance(argument.type, BaseType):
        return Expression(name)
    return Expression(f"detail::symbolic({name})", _HELPERS)


def _unpacked(options: TensorOptions) -> dict[str, Expression]:
    """The parts of `at::TensorOptions`; required ones are read as such."""
    found = {}
    for argument, optional, value in (
        (
            options.dtype,
            "c10::optTypeMetaToScalarType(options.dtype_opt())",
            "c10::typeMetaToScalarType(options.dtype())",
        ),
        (options.layout, "options.layout_opt()", "options.layout()"),
        (options.device, "options.device_opt()", "options.device()"),
        (options.pin_memory, "options.pinned_memory_opt()", "options.pinned_memory()"),
    ):
        text = optional if isinstance(argument.type, OptionalType) else value
        found[argument.name] = Expression(text)
    return found
