"""What a user may set in `[tool.torchgen_lite.target.cpp-runtime]`."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, fields

from torchgen_lite.dialects.cpp_runtime import Types
from torchgen_lite.targets.cpp.options import (
    LibraryOptions,
    header_option,
    load_library_options,
)
from torchgen_lite.targets.options import (
    OptionError,
    check_known,
    flag_option,
    text_option,
    texts_option,
)

TARGET = "cpp-runtime"
# Python imports no library of this target.
_NOT_HERE = frozenset({"module", "python_module"})
KNOWN_OPTIONS = (
    *(f.name.replace("_", "-") for f in fields(LibraryOptions) if f.name not in _NOT_HERE),
    "kernel-headers",
    "tensor",
    "types",
    "constants",
    "skip",
    "calls-only",
)
# A type as it is passed: `toy::Dtype`, `std::shared_ptr<toy::Stream>`, `const toy::Scalar&`, `toy::Plan*`.
_TYPE = re.compile(r"(const )?[A-Za-z_:][A-Za-z0-9_:]*(<[A-Za-z0-9_:<>*, ]*>)?[*&]?", re.ASCII)
# What ends an expression inside a parameter list or a line.
_NO_EXPRESSION = frozenset(";{}\n\\")


@dataclass(frozen=True, slots=True)
class RuntimeOptions:
    """Options of the target.

    `library`: those of every library; its `headers` declare the types of the framework. `types`: what
    these types are called. `kernel_headers`: headers of the author's that declare the kernels.
    `skip`: operators that the target leaves out. `calls_only`: typed calls and nothing else, derived
    operators included.
    """

    library: LibraryOptions
    types: Types
    kernel_headers: tuple[str, ...] = ()
    skip: tuple[str, ...] = ()
    calls_only: bool = False


def load_options(values: Mapping[str, object]) -> RuntimeOptions:
    """Check what the configuration says; raise `OptionError` for the first thing that is wrong."""
    check_known(values, TARGET, KNOWN_OPTIONS)
    library = load_library_options(values, TARGET)
    kernel_headers = header_option(values, "kernel-headers")
    calls_only = flag_option(values, "calls-only", False)
    skip = texts_option(values, "skip")
    return RuntimeOptions(library, _types(values), kernel_headers, skip, calls_only)


def _types(values: Mapping[str, object]) -> Types:
    tensor = text_option(values, "tensor", "")
    if not tensor:
        message = '`tensor` is missing: the C++ type of tensors, such as "toy::Tensor"'
        raise OptionError("tensor", message)
    if not _TYPE.fullmatch(tensor) or tensor.startswith("const ") or tensor[-1] in "*&":
        raise OptionError("tensor", f"`tensor`: `{tensor}` is no C++ type")
    named = _table(values, "types")
    for name, text in named.items():
        if not _TYPE.fullmatch(text):
            raise OptionError("types", f"`types`: `{text}`, given for `{name}`, is no C++ type")
    if "Tensor" in named:
        raise OptionError("types", "`types`: the type of tensors is the option `tensor`")
    constants = _table(values, "constants")
    for name, text in constants.items():
        if not text or _NO_EXPRESSION.intersection(text):
            message = f"`constants`: `{text}`, given for `{name}`, is no C++ expression"
            raise OptionError("constants", message)
    return Types(tensor, named, constants)


def _table(values: Mapping[str, object], option: str) -> dict[str, str]:
    found = values.get(option, {})
    if not isinstance(found, Mapping) or not all(isinstance(v, str) for v in found.values()):
        raise OptionError(option, f"`{option}` is not a table of texts")
    return {str(key): str(value) for key, value in found.items()}
