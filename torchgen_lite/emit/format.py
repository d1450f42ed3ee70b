"""A project's own style: the option `format` of a target names a program that formats its files.

Note [Formatters]
All files of a run with the same formatter are written to a temporary folder and formatted by one
process, in place; a project is not touched. Formatters see files without their headers: the marker
must stay on the first line, and what switches formatters off would do so here. Those known by name
get the configuration that they would find beside the outputs. `check` compares with the same text.

A command in a configuration is code of whoever wrote the configuration, so it runs only where the
environment says so (docs/trust.md).
"""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path, PurePosixPath
from tempfile import TemporaryDirectory
from typing import NamedTuple

from torchgen_lite.diagnostics import Diagnostic

CONSENT = "TORCHGEN_LITE_RUN_FORMAT"
"""The environment variable that lets a command of the configuration run, if it is `1`."""
# Command lines have a limit, which is lowest on Windows.
_MOST = 200


def not_allowed(name: str, command: str) -> Diagnostic | None:
    """TG020 for a command of the configuration that the environment does not let run."""
    if os.environ.get(CONSENT) == "1":
        return None
    message = f"`{name}` is the command `{command}`, which nothing allows to run"
    help_ = f"`{CONSENT}=1` in the environment allows commands of the configuration"
    return Diagnostic("TG020", message, help=help_)


def first_lines(name: str, output: str) -> tuple[str, ...]:
    """What a program has said, as notes."""
    return tuple([f"{name}: {line}" for line in output.splitlines()[:5]])


class _Failed(Exception):
    """A formatter is missing, may not run, or failed; the argument is the diagnostic."""


class _Formatter(NamedTuple):
    """A formatter known by name: the endings of its files, its command, the files that configure
    it, each with the text that it must contain, and the option that names one of them."""

    endings: tuple[str, ...]
    command: tuple[str, ...]
    configured_by: Mapping[str, str]
    option: str


_PYTHON = (".py", ".pyi")
_CPP = (".h", ".cpp", ".cu")
_FORMATTERS = {
    "black": _Formatter(
        _PYTHON,
        (sys.executable, "-I", "-m", "black", "--quiet"),
        {"pyproject.toml": "[tool.black]"},
        "--config=",
    ),
    "ruff": _Formatter(
        _PYTHON,
        ("ruff", "format", "--quiet", "--no-cache"),
        {".ruff.toml": "", "ruff.toml": "", "pyproject.toml": "[tool.ruff"},
        "--config=",
    ),
    "clang-format": _Formatter(
        _CPP,
        ("clang-format", "-i"),
        {".clang-format": "", "_clang-format": ""},
        "--style=file:",
    ),
}


def format_texts(
    formatter: str,
    texts: Mapping[str, str],
    root: Path,
    folder: Path,
) -> Mapping[str, str] | Diagnostic:
    """The texts by path, as the formatter leaves those that it is for; or what went wrong.

    `root` is the folder of the configuration, and `folder` the one of the outputs.
    """
    known = _FORMATTERS.get(formatter)
    endings = known.endings if known is not None else _PYTHON + _CPP
    chosen = {path: text for path, text in texts.items() if path.endswith(endings)}
    if not chosen:
        return texts
    try:
        return {**texts, **_run(formatter, _command(formatter, folder), chosen, root)}
    except _Failed as error:
        diagnostic: Diagnostic = error.args[0]
        return diagnostic


def _command(formatter: str, folder: Path) -> list[str]:
    known = _FORMATTERS.get(formatter)
    if known is None:
        refusal = not_allowed("format", formatter)
        if refusal is not None:
            raise _Failed(refusal)
        return shlex.split(formatter)
    name, *arguments = known.command
    # A program that is installed beside the interpreter comes before one on the path.
    beside = str(Path(sys.executable).parent)
    program = shutil.which(name, path=beside) or shutil.which(name)
    if program is None:
        raise _missing(formatter)
    configured = [f"{known.option}{path}" for path in _configured(known, folder)]
    return [program, *arguments, *configured[:1]]


def _configured(known: _Formatter, folder: Path) -> Iterator[Path]:
    """The files that would configure a formatter of files in a folder, nearest first."""
    for parent in (folder, *folder.parents):
        for name, configured in known.configured_by.items():
            path = parent / name
            if os.path.isfile(path) and configured in path.read_text("utf-8", "replace"):
                yield path


def _run(
    name: str,
    command: Sequence[str],
    texts: Mapping[str, str],
    root: Path,
) -> dict[str, str]:
    """The texts after a command has formatted files with them."""
    with TemporaryDirectory(prefix="torchgen-lite-") as temporary:
        places = {path: Path(temporary, *PurePosixPath(path).parts) for path in texts}
        for path, place in places.items():
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_text(texts[path], "utf-8", newline="\n")
        files = list(map(str, places.values()))
        for start in range(0, len(files), _MOST):
            _start(name, [*command, *files[start : start + _MOST]], root, temporary)
        try:
            return {path: place.read_text("utf-8") for path, place in places.items()}
        except (OSError, UnicodeDecodeError) as error:
            raise _failed(name, f"left a file that cannot be read: {error}", temporary) from error


def _start(
    name: str,
    command: Sequence[str],
    root: Path,
    temporary: str,
) -> None:
    try:
        done = subprocess.run(
            command, cwd=root, capture_output=True, check=False, stdin=subprocess.DEVNULL
        )
    except OSError as error:
        raise _missing(command[0]) from error
    if done.returncode:
        output = (done.stderr or done.stdout).decode("utf-8", "replace").strip()
        raise _failed(name, f"exited with {done.returncode}", temporary, output)


def _missing(program: str) -> _Failed:
    help_ = "install it, or remove `format` from the options of the target"
    message = f"the formatter `{program}` is not installed"
    return _Failed(Diagnostic("TG020", message, help=help_))


def _failed(
    name: str,
    problem: str,
    temporary: str,
    output: str = "",
) -> _Failed:
    # Names of temporary files differ from run to run.
    shown = output.replace(temporary + os.sep, "")
    message = f"the formatter `{name}` {problem}"
    return _Failed(Diagnostic("TG503", message, notes=first_lines(name, shown)))
