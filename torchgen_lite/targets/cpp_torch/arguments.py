"""From the parameters of the public API to the arguments of the dispatcher.

`at::TensorOptions` becomes four arguments, and numbers become `c10::SymInt` where the schema says so.
"""

from __future__ import annotations

from torchgen_lite.analysis.derive.layout import TensorOptions, argument_layout, element_name
from torchgen_lite.languages.cpp.public import Style
from torchgen_lite.languages.cpp.text import identifier
from torchgen_lite.schema import Argument, BaseType, OptionalType
from torchgen_lite.targets.cpp.model import CppOperator


def pass_on(operator: CppOperator, style: Style, *, self: str = "self") -> tuple[str, ...]:
    """An expression for each parameter of `operator.signature`."""
    layout = argument_layout(operator.schema)
    options = None if style.faithful else layout.options
    found: dict[str, str] = {}
    for argument in layout.inputs + layout.out:
        name = identifier(argument.name)
        if style.method and argument.name == "self":
            name = self
        found[argument.name] = name if style.symint else _symbolic(argument, name)
    if options is not None:
        found |= _unpacked(options)
        if "memory_format" in found and any(a.name == "memory_format" for a in layout.inputs):
            found["memory_format"] = "detail::memory_format(options, memory_format)"
    return tuple([found[p.name] for p in operator.signature.parameters])


def _symbolic(argument: Argument, name: str) -> str:
    """A number, or numbers, as `c10::SymInt`; a single number converts by itself."""
    if element_name(argument.type) != "SymInt" or isinstance(argument.type, BaseType):
        return name
    return f"detail::symbolic({name})"


def _unpacked(options: TensorOptions) -> dict[str, str]:
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
        found[argument.name] = optional if isinstance(argument.type, OptionalType) else value
    return found
