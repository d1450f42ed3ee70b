"""Questions to the installed PyTorch about libraries.

Note [Libraries load in a process of their own]
A library may print, change global state, or abort if a kernel's type does not match its schema.
So another Python process loads it, and sends back what it finds.
"""

from __future__ import annotations

import os
import pickle
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TypeVar

from torchgen_lite.cli.session import Refused
from torchgen_lite.diagnostics import Diagnostic
from torchgen_lite.loader.torch.files import import_torch

_Answer = TypeVar("_Answer")
_SCRIPT = f"""
import sys
sys.path[:] = sys.argv[1:]
from {__name__} import send_answer
send_answer()
"""


def ask_torch(
    question: Callable[..., _Answer],
    *arguments: object,
    what: str,
    folder: Path = Path(),
    variables: Mapping[str, str] | None = None,
) -> _Answer | Diagnostic:
    """Call `question(torch, *arguments)` in another process, in `folder`, which is on the search path.

    `variables` are for its environment, which takes precedence. Else TG011 without PyTorch, and TG012 if the function raises ImportError, or `what` it does ends Python.
    """
    # Imported here: most runs start no other process.
    import subprocess

    # What is no path stays: finders of packages that are installed for editing have words of their own.
    path = []
    for entry in (*sys.path, str(folder)):
        path.append(os.path.abspath(entry) if os.path.exists(entry) else entry)
    command = [sys.executable, "-c", _SCRIPT, *path]
    asked = pickle.dumps((question, arguments))
    pipe = subprocess.PIPE
    environment = {**(variables or {}), **os.environ}
    done = subprocess.run(command, input=asked, stdout=pipe, cwd=folder, env=environment)
    # A module may end Python with code 0, too; then there is no answer.
    if done.returncode == 0 and done.stdout:
        answer, problem = pickle.loads(done.stdout)
        return Diagnostic(*problem) if problem else answer
    return Diagnostic("TG012", f"{what} ended Python: {said_code(done.returncode)}")


def said_code(code: int) -> str:
    """How a process ended."""
    if code >= 0:
        return f"exit code {code}"
    return f"signal {-code}"


def send_answer() -> None:
    """Write the answer, and an error's code and message, to the real stdout; print to stderr."""
    question, arguments = pickle.load(sys.stdin.buffer)
    with os.fdopen(os.dup(1), "wb") as out:
        os.dup2(2, 1)
        pickle.dump(answer(question, arguments), out)
    # Skip whatever a library does when Python exits: it may crash.
    os._exit(0)


def answer(
    question: Callable[..., object], arguments: tuple[Any, ...]
) -> tuple[object, tuple[str, str] | None]:
    """What a function gives, or an error's code and message."""
    try:
        torch = import_torch()
    except ImportError:
        return None, ("TG011", "PyTorch is not installed")
    try:
        return question(torch, *arguments), None
    except Refused as refused:
        return None, (refused.diagnostics[0].code, refused.diagnostics[0].message)
    except ImportError as error:
        return None, ("TG012", str(error))
