"""Programs of the target `command`: one gets the operators as JSON on standard input, and gives files and findings.

    {"files": {"ops.pm": "..."}, "findings": [{"severity": "error", "message": "...", "op": "mylib::f", "help": "..."}]}

Nothing that a program says is trusted: what is not in this form, a path that leads elsewhere, an exit code, and a program
that does not end are errors, and nothing is written then.
"""

from __future__ import annotations

import json
import os
import shlex
import signal
import subprocess
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path, PurePosixPath
from tempfile import TemporaryFile
from typing import IO, Any, NamedTuple

from torchgen_lite.diagnostics import Diagnostic
from torchgen_lite.emit.format import first_lines, not_allowed
from torchgen_lite.emit.header import MARKER, has_comments, marked_sources
from torchgen_lite.targets.output import AskedProgram

_SEVERITIES = ("error", "warning")
_FIELDS = ("severity", "message", "op", "field", "help")


class Answer(NamedTuple):
    """The texts of a program by path, and its findings."""

    files: Mapping[str, str] = {}
    findings: Sequence[Mapping[str, str]] = ()


class _Refused(Exception):
    """What is wrong with a program, and the lines that it said."""

    def __init__(self, problem: str, output: str = "") -> None:
        super().__init__(problem)
        self.output = output


def run_program(asked: AskedProgram, source: str, root: Path) -> Answer | Diagnostic:
    """What a program answers, or what went wrong. It runs in `root`; `source` is named in the markers of files."""
    refusal = not_allowed(asked.name, asked.command)
    if refusal is not None:
        return refusal
    given = {**asked.given(), "marker": f"{MARKER}{source}. Do not edit."}
    try:
        return _answer(_run(asked, json.dumps(given), root))
    except _Refused as error:
        message = f"the program `{asked.name}` {error}"
        return Diagnostic("TG563", message, notes=first_lines(asked.name, error.output))


def _run(asked: AskedProgram, given: str, root: Path) -> bytes:
    """What a program writes to standard output. Files in the place of pipes can't block."""
    with TemporaryFile() as stdin, TemporaryFile() as stdout, TemporaryFile() as stderr:
        stdin.write(given.encode())
        stdin.seek(0)
        try:
            process = subprocess.Popen(
                shlex.split(asked.command),
                cwd=root,
                stdin=stdin,
                stdout=stdout,
                stderr=stderr,
                start_new_session=True,
            )
        except OSError as error:
            raise _Refused(f"can't be started: {error.strerror or error}") from error
        code = _wait(process, asked.seconds)
        if code is None:
            raise _Refused(f"has not ended after {asked.seconds} seconds", _text(stderr))
        if code:
            raise _Refused(f"exited with {code}", _text(stderr))
        stdout.seek(0)
        return stdout.read()


def _wait(process: subprocess.Popen[bytes], seconds: int) -> int | None:
    """The exit code; None for one that does not end, which is ended with all that it has started."""
    try:
        return process.wait(seconds)
    except subprocess.TimeoutExpired:
        return None
    finally:
        if process.poll() is None:
            _end(process)


def _end(process: subprocess.Popen[bytes]) -> None:
    if hasattr(os, "killpg"):
        os.killpg(process.pid, signal.SIGKILL)
    else:
        process.kill()
    process.wait()


def _text(file: IO[bytes]) -> str:
    file.seek(0)
    return file.read().decode("utf-8", "replace").strip()


def _answer(output: bytes) -> Answer:
    """What a program says, in the form that it has to have."""
    try:
        answer = json.loads(output.decode("utf-8"), object_pairs_hook=_each_once)
    except (UnicodeDecodeError, ValueError, RecursionError) as error:
        shown = output[:200].decode("utf-8", "replace")
        raise _Refused(f"writes no JSON to standard output: {error}", shown) from error
    if not isinstance(answer, dict) or not answer.keys() <= {"files", "findings"}:
        raise _Refused("has to give an object with `files` and `findings`, and nothing else")
    files = answer.get("files", {})
    findings = answer.get("findings", [])
    if not isinstance(files, dict) or not isinstance(findings, list):
        raise _Refused("has to give `files` as an object and `findings` as a list")
    for path, text in files.items():
        _check_file(path, text)
    _check_apart(files)
    for finding in findings:
        _check_finding(finding)
    return Answer(files, findings)


def _each_once(items: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object of JSON, which has each key once: of two files of one path, one would be lost."""
    members: dict[str, Any] = {}
    for key, value in items:
        if key in members:
            raise _Refused(f"gives `{key}` twice")
        members[key] = value
    return members


def _check_apart(paths: Iterable[str]) -> None:
    """No path is the folder of another one, or differs from it in case alone, which is one file on some systems."""
    known: dict[str, str] = {}
    for path in paths:
        folded = path.casefold()
        other = known.get(folded)
        if other is not None:
            raise _Refused(f"gives `{other}` and `{path}`, which are one file on some systems")
        known[folded] = path
    for folded, path in known.items():
        folders = PurePosixPath(folded).parents
        for folder in folders:
            other = known.get(str(folder))
            if other is not None:
                raise _Refused(f"gives `{other}` as a file, and in it `{path}`")


def _check_file(path: str, text: Any) -> None:
    if not isinstance(text, str):
        raise _Refused(f"gives no text for `{path}`")
    if not _is_inside(path):
        raise _Refused(f"gives `{path}`, which is no path below its folder")
    try:
        text.encode("utf-8")
    except UnicodeEncodeError as error:
        raise _Refused(f"gives a text for `{path}` that is not Unicode") from error
    if not (has_comments(path) or marked_sources(text)):
        raise _Refused(
            f"gives `{path}`, whose format has no comments, without the `marker` on its first line"
        )


def _is_inside(path: str) -> bool:
    """Whether a path leads below a folder, on every system, and is written in its shortest form."""
    is_plain = path.isprintable() and not set(path) & set('\\:*?"<>|')
    parts = PurePosixPath(path).parts
    is_short = "/".join(parts) == path != ""
    return is_plain and is_short and ".." not in parts and not path.startswith("/")


def _check_finding(finding: Any) -> None:
    is_read = isinstance(finding, dict) and all(
        key in _FIELDS and isinstance(value, str) for key, value in finding.items()
    )
    if not is_read or finding.get("severity") not in _SEVERITIES or not finding.get("message"):
        raise _Refused(
            "has a finding that is no object of strings, with `severity` (`error` or `warning`) and `message`, and "
            "perhaps `op`, `field` and `help`"
        )
