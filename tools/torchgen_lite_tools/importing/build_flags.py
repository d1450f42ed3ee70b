"""What a library's own build gives the compiler: of `compile_commands.json`, else of what its build files say."""

from __future__ import annotations

import ast
import json
import os
import re
import shlex
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from torchgen_lite.loader.sources import read_source
from torchgen_lite_tools.importing.build_files import cmake_commands

# What decides how a text is read: folders, macros, and what the machine can do. No other word of a library's files is
# passed on: a plug-in or a wrapper would be run, and nobody has asked for that.
_READING = re.compile(r"-[IDU].+|-isystem.+|-iquote.+|-fopenmp|-pthread|-m[\w.=-]+")
_WITH_NEXT = frozenset({"-I", "-D", "-U", "-isystem", "-iquote"})
_FOLDERS = re.compile(r"(?i)(?:target_)?include_directories")
_DEFINES = re.compile(r"(?i)(?:target_compile|add_compile|add)_definitions")
_MACRO = re.compile(r"(?:-D)?([A-Za-z_]\w*(?:=[\w.\"]*)?)")
_SCOPES = frozenset({"PUBLIC", "PRIVATE", "INTERFACE", "SYSTEM", "BEFORE", "AFTER"})


class Flags(NamedTuple):
    """The words that a compiler is given, and the folder where they mean what they say.

    `unread` are files named `compile_commands.json` that are none.
    """

    folder: Path
    words: Sequence[str]
    unread: Sequence[Path] = ()


def flags_of(root: Path, registered: Collection[str]) -> Flags:
    """The flags with which the build compiles one of these files, or what its build files say of folders and macros."""
    databases = [*root.glob("compile_commands.json"), *root.glob("*/compile_commands.json")]
    wanted = {(root / path).resolve() for path in registered}
    unread = list[Path]()
    for path in sorted(databases):
        compilations = _compilations(path)
        if compilations is None:
            unread.append(path)
            continue
        for flags, file in compilations:
            if file in wanted:
                return flags._replace(unread=unread)
    words = [word for path in sorted(root.rglob("setup.py")) for word in _of_setup(path)]
    for path in sorted(root.rglob("CMakeLists.txt")):
        words += _of_cmake(path)
    return Flags(root.resolve(), list(dict.fromkeys(words)), unread)


def _compilations(path: Path) -> list[tuple[Flags, Path]] | None:
    """The compilations of a `compile_commands.json`; None if that is not one."""
    compilations = list[tuple[Flags, Path]]()
    try:
        for command in json.loads(path.read_text("utf-8")):
            folder = Path(path.parent, command["directory"]).resolve()
            words = command.get("arguments") or shlex.split(command["command"])
            compilations.append(
                (Flags(folder, _flags(words[1:])), (folder / command["file"]).resolve())
            )
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return None
    return compilations


def _flags(words: Sequence[str]) -> list[str]:
    """Those of the words that decide how a text is read."""
    kept = list[str]()
    rest = iter(words)
    for word in rest:
        if word in _WITH_NEXT:
            # In one word: compilers read `@name` as the words of a file.
            kept.append(word + next(rest, ""))
        elif _READING.fullmatch(word):
            kept.append(word)
    return kept


def _of_setup(path: Path) -> Iterator[str]:
    """The folders of the library that a `setup.py` names, and the macros that it defines on no condition."""
    source, _ = read_source(path, Path.cwd())
    try:
        tree = ast.parse(source.text if source else "")
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield from _folder(path.parent, node.value)
        elif isinstance(node, ast.keyword) and node.arg == "extra_compile_args":
            words = [part.value for part in ast.walk(node) if isinstance(part, ast.Constant)]
            yield from (word for word in words if isinstance(word, str) and word.startswith("-D"))


def _of_cmake(path: Path) -> Iterator[str]:
    """The folders and macros of a `CMakeLists.txt` that no `if` is around."""
    source, _ = read_source(path, Path.cwd())
    if source is None:
        return
    depth = 0
    for match, words in cmake_commands(source.text):
        command = match[2].lower()
        depth += (command == "if") - (command == "endif")
        if _FOLDERS.fullmatch(command):
            for word in words:
                yield from _folder(path.parent, word)
        elif _DEFINES.fullmatch(command) and not depth:
            given = words[command.startswith("target") :]
            macros = (_MACRO.fullmatch(word) for word in given if word not in _SCOPES)
            yield from (f"-D{macro[1]}" for macro in macros if macro)


def _folder(around: Path, name: str) -> Iterator[str]:
    """The flag for a folder, if the text names one of the library's. A text that no path can be names none."""
    path = around / name
    if name and os.path.isdir(path):
        yield f"-I{os.path.abspath(path)}"
