"""Locations of the built-in templates and of the modules to copy, and the version of the templates'
context."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Mapping
from contextlib import suppress
from functools import cache
from pathlib import Path

import jinja2
from jinja2 import BytecodeCache, FileSystemBytecodeCache
from jinja2.bccache import Bucket

from torchgen_lite.version import __version__

TEMPLATE_API = 1
"""The version in the opening comment of an override; it changes when names that templates use change."""

_DECLARED = re.compile(r"\A\{#.*?\btemplate-api:[ \t]*(\d+).*?#\}", re.DOTALL)


class _Kept(FileSystemBytecodeCache):
    """A file for each template. A full disk is no mistake: as with Python's own, the next run compiles again."""

    def dump_bytecode(self, bucket: Bucket) -> None:
        with suppress(OSError):
            super().dump_bytecode(bucket)


def byte_code() -> BytecodeCache | None:
    """Where compiled templates are kept: with this module's own byte code, if Python keeps that."""
    folder = os.path.dirname(__spec__.cached or "")
    if sys.dont_write_bytecode or not os.access(folder, os.W_OK):
        return None
    return _Kept(folder, f"%s.{__version__}-{jinja2.__version__}.j2c")


@cache
def find_templates() -> Path:
    """Inside the installed package, or beside it in a checkout."""
    package = Path(__file__).resolve().parent.parent
    installed = package / "templates"
    return installed if installed.is_dir() else package.parent / "templates"


def template_names(folder: Path) -> list[str]:
    """The templates below a folder, by the names that overrides use; none if the folder doesn't
    exist."""
    # A path raises if the name is too long.
    paths = folder.rglob("*.j2") if os.path.isdir(folder) else ()
    return sorted(path.relative_to(folder).as_posix() for path in paths)


def read_copied(name: str, defines: Mapping[str, object]) -> str:
    """The text of a file that generated code carries: `copied/torch_python/_library.py`.

    Each of the macros `defines`, which the file gives a value for itself, gets its own.
    """
    text = (Path(__file__).resolve().parent.parent / name).read_text("utf-8")
    for macro, value in defines.items():
        text = re.sub(
            rf"^#define {macro} .*$", f"#define {macro} {value}", text, flags=re.MULTILINE
        )
    return text


def with_api(text: str) -> str:
    """A built-in template as an override begins: its opening comment says what it is made for."""
    if declared_api(text)[0] is not None:
        return text
    return re.sub("(?=-?#})", f"template-api: {TEMPLATE_API}\n", text, count=1)


def declared_api(text: str) -> tuple[int | None, int, int]:
    """The `template-api` of a template, and the span of the number; (None, 0, 0) without one.

    >>> declared_api("{#- One file. template-api: 1 -#}")
    (1, 28, 29)
    """
    head = text[: text.find("#}") + 2]
    match = _DECLARED.match(head)
    if match is None:
        return None, 0, 0
    return int(match[1]), match.start(1), match.end(1)
