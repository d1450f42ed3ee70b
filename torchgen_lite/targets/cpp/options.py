"""The options that the C++ targets share."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import PurePosixPath

from torchgen_lite.dialects.cpp_text import KEYWORDS
from torchgen_lite.targets.cpp.module import DEFAULT_MODULE, is_module_name
from torchgen_lite.targets.options import OptionError, shards_option, text_option, texts_option

_IDENTIFIER = re.compile(r"[A-Za-z_][A-Za-z0-9_]*", re.ASCII)
# What a path in `#include <...>` cannot have in it.
_NO_HEADER = frozenset('">\n\r\\')


@dataclass(frozen=True, slots=True)
class LibraryOptions:
    """Options of every target that makes a library of operators.

    `namespace`: C++ namespace of generated code and of kernels; by default that of the first entry.
    `folder`: the folder below the output directory.
    `library`: `def`, or `fragment` for a namespace that another library defines.
    `headers`: headers of the author's that declare the kernels.
    `shards`: into how many files what is long is split; 0 means one, or 16 above 1,000 operators.
    `module`: the last part of the Python module's name; empty for a library that Python does not import.
    `python_module`: the Python module that registers fakes, which libtorch names in errors.
    """

    namespace: str = ""
    folder: str = ""
    library: str = "def"
    headers: tuple[str, ...] = ()
    shards: int = 0
    module: str = DEFAULT_MODULE
    python_module: str = ""


def load_library_options(values: Mapping[str, object], target: str) -> LibraryOptions:
    """Check what the configuration says; raise `OptionError` for the first thing that is wrong."""
    namespace = text_option(values, "namespace", "")
    if namespace and not is_namespace(namespace):
        raise OptionError("namespace", f"`namespace`: `{namespace}` is no C++ namespace")
    path = PurePosixPath(text_option(values, "folder", target))
    if not path.parts or path.is_absolute() or ".." in path.parts:
        raise OptionError("folder", f"`folder`: `{path}` is no path below the output folder")
    library = text_option(values, "library", "def")
    if library not in ("def", "fragment"):
        raise OptionError("library", "`library` is neither `def` nor `fragment`")
    shards = shards_option(values)
    module = text_option(values, "module", DEFAULT_MODULE)
    if module and not is_module_name(module):
        raise OptionError("module", f"`module`: `{module}` is no name of a Python module in C")
    python_module = text_option(values, "python-module", "")
    if python_module and not all(part.isidentifier() for part in python_module.split(".")):
        message = f"`python-module`: `{python_module}` is not the name of a Python module"
        raise OptionError("python-module", message)
    headers = header_option(values, "headers")
    return LibraryOptions(namespace, str(path), library, headers, shards, module, python_module)


def is_namespace(text: str) -> bool:
    """`mylib`, `my::lib`."""
    parts = text.split("::")
    return all(_IDENTIFIER.fullmatch(part) and part not in KEYWORDS for part in parts)


def header_option(values: Mapping[str, object], option: str) -> tuple[str, ...]:
    """An option that is a list of headers."""
    headers = texts_option(values, option)
    if any(_NO_HEADER.intersection(header) for header in headers):
        raise OptionError(option, f"`{option}` has a text that is no path of a header")
    return headers
