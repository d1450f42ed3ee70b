"""Whether a C++ compiler takes what is generated for a library, before anything of it moves.

Note [What moves compiles]
The registrations are generated into a folder that is gone afterwards, and compiled without making anything of them. An
error is that of the operators which it names, else of those whose kernels its header declares, else of all that were
generated. What is missing on this machine, such as a compiler or a header of another project, says nothing about an
operator: then what was not compiled is said.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
from collections.abc import Iterator, Mapping
from dataclasses import replace
from importlib.util import find_spec
from itertools import repeat
from pathlib import Path
from typing import NamedTuple

from torchgen_lite.cli.session import Session, require
from torchgen_lite.loader.sources import shown_path
from torchgen_lite.pipeline import generate_all
from torchgen_lite_tools.importing.build_flags import Flags
from torchgen_lite_tools.importing.library import Library

_COMPILERS = ("c++", "g++", "clang++")
# Warnings are the author's, and PyTorch's headers need this version of the language.
_OPTIONS = ("-w", "-std=c++20", "-fsyntax-only", "-fno-diagnostics-color")
_ERROR = re.compile(
    r"^(?P<path>[^\s:][^:\n]*):\d+:(?:\d+:)? (?P<fatal>fatal )?error: (?P<message>.+)", re.M
)
# The lines of a message that show the code.
_SHOWN = re.compile(r"^\s*\d*\s\|.*", re.M)


class Attempt(NamedTuple):
    """What was compiled and what was not, for people to read, and the first error about each operator that has one."""

    said: list[str]
    errors: Mapping[str, str]


def compile_generated(
    session: Session, root: Path, library: Library, written: Mapping[str, str], flags: Flags
) -> Attempt:
    """Generate code for the project `written`, and compile it with the library below `root`, whose operators move."""
    command = _command()
    torch = _torch_folders()
    unread = [
        f"not read: {shown_path(path, Path.cwd())}: not as CMake writes it" for path in flags.unread
    ]
    if not command:
        return Attempt([*unread, "not compiled: there is no C++ compiler"], {})
    if not torch:
        return Attempt([*unread, "not compiled: PyTorch is not installed"], {})
    # Imported here: most runs compile nothing.
    from concurrent.futures import ThreadPoolExecutor
    from tempfile import TemporaryDirectory

    with TemporaryDirectory() as name:
        folder = Path(os.path.realpath(name))
        sources = _generate(session, folder, written)
        below = sorted({f"-I{include}" for include in folder.glob("*/include")})
        below += [f"-I{folder}", f"-I{root.resolve()}"]
        words = [*command, *flags.words, *below, *torch, *_OPTIONS]
        commands = [[*words, str(source)] for source in sources]
        with ThreadPoolExecutor(os.cpu_count()) as pool:
            outputs = list(pool.map(_compile, commands, repeat(flags.folder)))
        attempt = _judged(dict(zip(sources, outputs)), library, (folder, root.resolve()))
        return attempt._replace(said=[*unread, *attempt.said])


def _command() -> list[str]:
    """The compiler, as PyTorch's builds choose it; [] if there is none."""
    named = shlex.split(os.environ.get("CXX", ""))
    for one in named[:1] or _COMPILERS:
        if shutil.which(one):
            return [one, *named[1:]]
    return []


def _torch_folders() -> list[str]:
    """The flags for the headers of the installed PyTorch, and of Python; [] without PyTorch."""
    from sysconfig import get_paths

    spec = find_spec("torch")
    if spec is None or spec.origin is None:
        return []
    include = Path(spec.origin).parent / "include"
    folders = [include, include / "torch/csrc/api/include", get_paths()["include"]]
    return [f"-isystem{folder}" for folder in folders]


def _generate(session: Session, folder: Path, written: Mapping[str, str]) -> list[Path]:
    """Write the project and its code; the C++ files to compile."""
    _write(folder, written)
    (config,) = (path for path in written if path.endswith(".toml"))
    made = generate_all(replace(session, config=(str(folder / config),)).load())
    require(made.diagnostics)
    _write(folder, made.files)
    return sorted(folder / path for path in made.files if path.endswith(".cpp"))


def _write(folder: Path, files: Mapping[str, str]) -> None:
    for path, text in files.items():
        place = folder / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text, "utf-8")


def _compile(command: list[str], folder: Path) -> str | None:
    """What the compiler says, in English, where it fails."""
    import subprocess

    done = subprocess.run(
        command, cwd=folder, capture_output=True, env={**os.environ, "LC_ALL": "C"}
    )
    if done.returncode == 0:
        return None
    return done.stderr.decode("utf-8", "replace").strip() or "the compiler says nothing"


def _judged(
    outputs: Mapping[Path, str | None], library: Library, ours: tuple[Path, Path]
) -> Attempt:
    lines = list[str]()
    errors = dict[str, str]()
    good = [path.name for path, output in outputs.items() if output is None]
    if good:
        lines.append(f"compiled: {', '.join(good)}")
    for path, output in outputs.items():
        if output is None:
            continue
        blamed = list(_blamed(output, library, ours))
        if not blamed:
            lines.append(f"not compiled: {path.name}: {_first(output)}")
        for name, message in blamed:
            errors.setdefault(name, message)
    return Attempt(lines, errors)


def _first(output: str) -> str:
    """The first error, or else the first line."""
    match = _ERROR.search(output)
    return match["message"] if match else output.splitlines()[0]


def _blamed(output: str, library: Library, ours: tuple[Path, Path]) -> Iterator[tuple[str, str]]:
    """The operators that do not compile, each with the first error about it; none if something is missing here."""
    errors = list(_ERROR.finditer(output))
    if any(error["fatal"] for error in errors):
        return
    # What the compiler shows of an error ends where the next one begins.
    ends = [error.start() for error in errors[1:]]
    ends.append(len(output))
    for error, end in zip(errors, ends):
        path = Path(error["path"])
        is_ours = not path.is_absolute() or any(path.is_relative_to(folder) for folder in ours)
        if is_ours:
            shown = _SHOWN.findall(output, error.end(), end)
            text = "\n".join([error["message"], *shown])
            for name in _named(text, library) or _declared(path, library) or _defined(library):
                yield name, error["message"]


def _defined(library: Library) -> set[str]:
    return {one.name for one in library.definitions}


def _named(text: str, library: Library) -> set[str]:
    """The operators that a text names, or whose kernels it does."""
    words = set(re.findall(r"\w+(?:::\w+)*", text))
    names = _defined(library) & words
    for implementation in library.implementations:
        kernel = implementation.kernel
        if not words.isdisjoint((kernel.removeprefix("::"), kernel.rpartition("::")[2])):
            names.add(implementation.name)
    return names


def _declared(path: Path, library: Library) -> set[str]:
    """The operators with a kernel that a file declares."""
    names = set[str]()
    for implementation in library.implementations:
        files = {
            Path(span.source.path).resolve() for f in implementation.functions for span in f.spans
        }
        if path.resolve() in files:
            names.add(implementation.name)
    return names
