"""The options that the C++ targets share, and how any of them is checked."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass

from torchgen_lite.dialects.cpp_text import KEYWORDS
from torchgen_lite.targets.cpp.module import DEFAULT_MODULE, is_module_name
from torchgen_lite.targets.python.options import OptionError

_IDENTIFIER = re.compile(r"[A-Za-z_][A-Za-z0-9_]*", re.ASCII)
# What a path in `#include <...>` cannot have in it.
_NO_HEADER = frozenset('">\n\\')


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


def check_known(values: Mapping[str, object], target: str, known: Collection[str]) -> None:
    """Raise `OptionError` for an option that the target does not have."""
    for option in values:
        if option not in known:
            raise OptionError(option, f"unknown option `{option}` of target `{target}`")


def load_library_options(values: Mapping[str, object], target: str) -> LibraryOptions:
    """Check what the configuration says; raise `OptionError` for the first thing that is wrong."""
    namespace = text_option(values, "namespace", "")
    if namespace and not is_namespace(namespace):
        raise OptionError("namespace", f"`namespace`: `{namespace}` is no C++ namespace")
    folder = text_option(values, "folder", target).rstrip("/")
    if not folder or folder.startswith("/") or ".." in folder.split("/"):
        raise OptionError("folder", f"`folder`: `{folder}` is no path below the output folder")
    library = text_option(values, "library", "def")
    if library not in ("def", "fragment"):
        raise OptionError("library", "`library` is neither `def` nor `fragment`")
    shards = values.get("shards", 0)
    if not isinstance(shards, int) or isinstance(shards, bool) or not 0 <= shards <= 256:
        raise OptionError("shards", "`shards` is not a number from 0 to 256")
    module = text_option(values, "module", DEFAULT_MODULE)
    if module and not is_module_name(module):
        raise OptionError("module", f"`module`: `{module}` is no name of a Python module in C")
    python_module = text_option(values, "python-module", "")
    if python_module and not all(part.isidentifier() for part in python_module.split(".")):
        message = f"`python-module`: `{python_module}` is not the name of a Python module"
        raise OptionError("python-module", message)
    headers = header_option(values, "headers")
    return LibraryOptions(namespace, folder, library, headers, shards, module, python_module)


def is_namespace(text: str) -> bool:
    """`mylib`, `my::lib`."""
    parts = text.split("::")
    return all(_IDENTIFIER.fullmatch(part) and part not in KEYWORDS for part in parts)


def text_option(values: Mapping[str, object], option: str, default: str) -> str:
    """An option that is a text."""
    value = values.get(option, default)
    if not isinstance(value, str):
        raise OptionError(option, f"`{option}` is not a text")
    return value


def texts_option(values: Mapping[str, object], option: str) -> tuple[str, ...]:
    """An option that is a list of texts."""
    found = values.get(option, ())
    if not isinstance(found, (list, tuple)) or not all(isinstance(text, str) for text in found):
        raise OptionError(option, f"`{option}` is not a list of texts")
    return tuple(map(str, found))


def header_option(values: Mapping[str, object], option: str) -> tuple[str, ...]:
    """An option that is a list of headers."""
    headers = texts_option(values, option)
    if any(_NO_HEADER.intersection(header) for header in headers):
        raise OptionError(option, f"`{option}` has a text that is no path of a header")
    return headers
