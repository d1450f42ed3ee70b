"""Options that several targets have: the same name, the same values and the same words everywhere."""

from __future__ import annotations

import keyword
import shlex
import zlib
from collections.abc import Collection, Sequence, Sized
from dataclasses import dataclass
from functools import partial
from pathlib import PurePosixPath
from typing import Any

from torchgen_lite.languages.python.names import identifier
from torchgen_lite.loader.config.options import (
    PATH,
    TEXT,
    Kind,
    Unfit,
    choice,
    list_of,
    matching,
    number,
    option,
)
from torchgen_lite.loader.entry.entry import TORCH_NAMESPACES, NativeFunction

_DOTTED = r"[^\W\d]\w*(?:\.[^\W\d]\w*)*"
# Modules that generated packages import: a package of such a name would import itself.
_IMPORTED = frozenset(
    "collections contextlib functools importlib itertools operator re sys torch torchgen_lite torchgen_lite_runtime types "
    "typing warnings".split()
)


def _is_importable(text: str) -> bool:
    return not any(map(keyword.iskeyword, text.split(".")))


def _is_imported(text: str) -> bool:
    return text.partition(".")[0] in _IMPORTED


MODULE = matching(_DOTTED, "is not the name of a Python module", _is_importable)
PACKAGE = matching(
    _DOTTED,
    "cannot be the name of the package",
    lambda text: _is_importable(text) and not _is_imported(text),
    lambda text: (
        "the generated code imports a module of that name" if _is_imported(text) else None
    ),
)
MODULES = list_of(MODULE, "a list of module names")


def _read_folder(value: object, others: Collection[str]) -> str:
    text = PATH.read(value)
    path = PurePosixPath(text)
    is_below = bool(path.parts) or text in others
    is_plain = not {*":\\"} & {*text}
    if not is_below or path.is_absolute() or ".." in path.parts or not is_plain:
        raise Unfit(f": `{text}` is not a path below the output folder")
    return path.as_posix()


@dataclass(frozen=True, slots=True, kw_only=True)
class NoOptions:
    """For a target without options."""


def _is_command(text: str) -> bool:
    try:
        return bool(shlex.split(text))
    except ValueError:
        return False


COMMAND = matching(r"[^\x00-\x1f\x7f]*", "is not a command", _is_command)


@dataclass(frozen=True, slots=True, kw_only=True)
class CommonOptions:
    """What every target takes, unless it declares an option of the same name itself."""

    format: str = option(
        "The formatter of the generated code: `black`, `ruff`, `clang-format`, or a command that "
        "gets names of files after its arguments and formats them in place. A command runs only "
        "if the environment has `TORCHGEN_LITE_RUN_FORMAT=1`.",
        COMMAND,
        "",
        shown="none",
    )


def folder_option(
    default: str,
    doc: str = "The folder below the output directory.",
    *,
    others: Collection[str] = (),
    shown: str = "",
) -> Any:
    """A folder below the output directory, or one of the `others`: `.` is the directory itself."""
    kind = Kind("a string", {**PATH.schema, "minLength": 1}, partial(_read_folder, others=others))
    return option(doc, kind, default, shown=shown)


AUTOMATIC_SHARDS = 16
# The numbers of the files that an output is split into; None is the only one.
Shards = tuple[int | None, ...]


def library_option() -> Any:
    return option(
        "`fragment` if another library defines the namespace.",
        choice("def", "fragment"),
        "def",
    )


def shards_option(what: str, many: int) -> Any:
    doc = f"Into how many files {what} are split; 0 means one, or 16 above {many:,} operators."
    return option(doc, number(0, 256), 0, torch=16)


def shards_of(operators: Sized, wanted: int, many: int) -> Shards:
    """The shards by the option, or more than one if there are more operators than `many`."""
    count = wanted or (AUTOMATIC_SHARDS if len(operators) > many else 1)
    return tuple(range(count)) if count > 1 else (None,)


def shard_of(base: str, shards: Shards) -> int | None:
    """The shard of a base name; it depends on nothing else, so adding an entry changes only one."""
    return shards[zlib.crc32(base.encode()) % len(shards)]


def modules_option(doc: str) -> Any:
    """The author's Python modules, whose functions are read with the program."""
    return option(doc, MODULES, (), names_modules=True)


def skip_option() -> Any:
    doc = "Operators that the target leaves out, by their full names: `mylib::add.out`."
    return option(doc, list_of(TEXT), ())


def default_namespace(functions: Sequence[NativeFunction]) -> str:
    """The namespace of the first entry; `at` and everything in it belong to PyTorch."""
    first = functions[0].namespace if functions else "ops"
    return "aten_ops" if first == "aten" else first


def home_namespace(functions: Sequence[NativeFunction]) -> str:
    """The first namespace that is not PyTorch's, if there is one, else the first."""
    namespaces = [function.namespace for function in functions]
    others = [namespace for namespace in namespaces if namespace not in TORCH_NAMESPACES]
    return (others or namespaces or ["aten"])[0]


def default_package(functions: Sequence[NativeFunction]) -> str:
    """The package of `torch-python` is named after the home of its operators."""
    return f"{identifier(home_namespace(functions))}_ops"
