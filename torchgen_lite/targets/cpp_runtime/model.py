"""What the files of a library for the runtime spell and include."""

from __future__ import annotations

from torchgen_lite.languages.cpp import text as cpp_text
from torchgen_lite.targets.cpp.layout import Blocks
from torchgen_lite.targets.cpp_runtime.options import RuntimeOptions
from torchgen_lite.targets.output import Header

# What the class of the methods has in it and spells.
_IN_METHODS = frozenset({"int64_t", "Self", "self_", "TensorMethods"})


def framework_headers(options: RuntimeOptions) -> Blocks:
    """The block of headers that declare the types of the framework, if there are any."""
    return [[Header(name, True) for name in options.headers]] if options.headers else []


def function_name(name: str) -> str:
    """The name of a function and of a method."""
    return cpp_text.free_name(cpp_text.function_name(name), _IN_METHODS)
