"""Python programs that import PyTorch, without the seconds that this takes each time.

Each is a process of its own, forked from one that has imported PyTorch and nothing of ours, so no program sees what
another has registered or imported. A process of tests has such servers while it runs.
"""

from __future__ import annotations

import atexit
import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path

from tests.fork_client import ask

_SERVER = Path(__file__).with_name("fork_server.py")
CLIENT = Path(__file__).with_name("fork_client.py")
# What a program imports by its first `import torch`.
PLAIN = ("torch",)
# What it imports, too, once it compiles a function or tests an operator by PyTorch's means.
COMPILING = (
    *PLAIN,
    "pytest",
    "torch._dynamo",
    "torch._inductor.compile_fx",
    "torch.testing._internal.optests",
)


def run_forked(
    arguments: Sequence[str],
    folder: Path,
    environment: Mapping[str, str],
    imported: tuple[str, ...] = PLAIN,
) -> subprocess.CompletedProcess[str]:
    """Python in a folder, which has imported these modules, and then gets these arguments.

    They are options `-W`, then `-c` with a program, `-m` with a module or the path of a script, and what it gets. What
    the modules read from the environment while they are imported is what this process has there.
    """
    if not hasattr(os, "fork"):
        command = [sys.executable, *arguments]
        return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True)
    with open(os.devnull) as stdin, _output() as stdout, _output() as stderr:
        streams = [stdin.fileno(), stdout.fileno(), stderr.fileno()]
        code = ask(socket_of(imported), arguments, str(folder), environment, streams)
        stdout.seek(0)
        stderr.seek(0)
        return subprocess.CompletedProcess(list(arguments), code, stdout.read(), stderr.read())


def _output() -> tempfile._TemporaryFileWrapper[str]:
    return tempfile.NamedTemporaryFile("w+", encoding="utf-8")


def forking_python(program: Path, compiling: tuple[str, ...] = COMPILING) -> None:
    """Make a program of a shell that is Python, and that forks where it is called with what is often typed.

    `compiling` is what has been imported by what compiles or runs tests, as its arguments say.
    """
    servers = {"plain": socket_of(PLAIN), "compiling": socket_of(compiling)}
    program.write_text(_PYTHON.format(python=sys.executable, client=CLIENT, **servers))
    program.chmod(0o755)


_PYTHON = """\
#!/bin/sh
case "$1" in
  -c | -m | -W | [!-]*) ;;
  *) exec "{python}" "$@" ;;
esac
case "$*" in
  *pytest* | *compile*) server={compiling} ;;
  *) server={plain} ;;
esac
exec "{python}" -E -S "{client}" "$server" "$@"
"""


@cache
def socket_of(imported: tuple[str, ...]) -> str:
    """The socket of a process that has imported these modules. It ends with this one."""
    # The names of sockets are short.
    folder = tempfile.TemporaryDirectory(prefix="forks")
    path = f"{folder.name}/socket"
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    server = subprocess.Popen(
        [sys.executable, str(_SERVER), path, *imported],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env=environment,
    )
    atexit.register(folder.cleanup)
    atexit.register(server.communicate)
    assert server.stdout is not None and server.stdout.readline() == b"listens\n"
    return path
