"""A process that has imported modules, and forks for each that asks: `fork_server.py SOCKET MODULE...`.

What it is asked for is what Python would be called with: `fork_client.py` says how. It ends when its input does. It is
a script, so that no process which it has forked has imported modules of ours.
"""

from __future__ import annotations

import atexit
import ctypes
import gc
import importlib
import json
import os
import runpy
import select
import signal
import socket
import sys
import types
import warnings
from typing import Any, NamedTuple


class Command(NamedTuple):
    """What Python is called with: `[-W WARNINGS]... (-c PROGRAM | -m MODULE | SCRIPT) [ARGUMENT]...`."""

    warnings: list[str]
    # `-c`, `-m`, or nothing before a script.
    option: str
    what: str
    arguments: list[str]


def parsed(arguments: list[str]) -> Command:
    chosen: list[str] = []
    while arguments[0] == "-W":
        chosen.append(arguments[1])
        arguments = arguments[2:]
    option = arguments[0] if arguments[0] in ("-c", "-m") else ""
    what, *rest = arguments[1:] if option else arguments
    return Command(chosen, option, what, rest)


def serve(listening: socket.socket) -> tuple[dict[str, Any], list[int]] | None:
    """Answer each request. In a process that was forked for one: the request and its streams. At the end: None."""
    # Nobody waits for those that answer.
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    while listening in select.select([listening, sys.stdin], [], [])[0]:
        connection, _ = listening.accept()
        with connection:
            if os.fork() == 0:
                listening.close()
                return answer(connection)
    return None


def answer(connection: socket.socket) -> tuple[dict[str, Any], list[int]]:
    """Fork once more, and say how that process ended; it alone returns, with its request."""
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    _, streams, _, _ = socket.recv_fds(connection, 1, 3)
    request: dict[str, Any] = json.loads(connection.makefile().read())
    child = os.fork()
    if child == 0:
        return request, streams
    for stream in streams:
        os.close(stream)
    _, status = os.waitpid(child, 0)
    connection.sendall(str(os.waitstatus_to_exitcode(status)).encode())
    os._exit(0)


def become(request: dict[str, Any], streams: list[int], command: Command, paths: list[str]) -> None:
    """Have the files, the folder, the environment and the path of a new process."""
    for number, stream in enumerate(streams):
        os.dup2(stream, number)
        os.close(stream)
    sys.stdin = os.fdopen(0, closefd=False)
    os.chdir(request["folder"])
    os.environ.clear()
    os.environ.update(request["environment"])
    given = os.environ.get("PYTHONPATH", "").split(os.pathsep)
    sys.path[:] = [first_path(command), *filter(None, given), *paths]
    importlib.invalidate_caches()


def first_path(command: Command) -> str:
    """Where Python looks for modules first."""
    if command.option == "-c":
        return ""
    if command.option == "-m":
        return os.getcwd()
    return os.path.dirname(os.path.realpath(command.what))


def filter_warnings(chosen: list[str], of_imported: list[Any]) -> None:
    """The options of `-W` count less than what imported modules have asked for, as if these were imported later."""
    sys.warnoptions[:] = chosen
    filters: Any = warnings.filters
    filters[:] = [each for each in filters if each not in of_imported]
    process_options: Any = vars(warnings)["_processoptions"]
    process_options(chosen)
    filters[:0] = of_imported


def run(command: Command) -> None:
    sys.argv[:] = [command.option if command.option == "-c" else command.what, *command.arguments]
    if command.option == "-m":
        runpy.run_module(command.what, run_name="__main__", alter_sys=True)
    elif command.option == "-c":
        module = types.ModuleType("__main__")
        sys.modules["__main__"] = module
        exec(compile(command.what, "<string>", "exec"), module.__dict__)
    else:
        runpy.run_path(command.what, run_name="__main__")


def code_of(command: Command) -> int:
    """Run it; 1 if it ends by an exception, whose traceback has no lines of this file."""
    try:
        run(command)
    except Exception as error:
        traceback = error.__traceback__
        while traceback is not None and traceback.tb_frame.f_code.co_filename == __file__:
            traceback = traceback.tb_next
        sys.excepthook(type(error), error.with_traceback(traceback), traceback)
        return 1
    return 0


def keep_whole(modules: dict[str, types.ModuleType]) -> None:
    """Have the end of the interpreter leave these as they are; what a program has made and imported itself ends as usual.

    To take PyTorch apart takes longer than most programs do, since its memory is copied for that.
    """
    for name in modules:
        sys.modules.pop(name, None)
    # One reference more than there are, so that nothing lets go of them.
    ctypes.pythonapi.Py_IncRef(ctypes.py_object(modules))
    # What C has printed is written by its own end, which `keep_libraries` leaves out.
    ctypes.CDLL(None).fflush(None)


def keep_libraries() -> None:
    """Have the end of a process leave the libraries that are loaded by now; those that a program loads end before that."""
    libc = ctypes.CDLL(None)
    # What is registered last runs first. Only glibc has it.
    if hasattr(libc, "on_exit"):
        libc.on_exit(libc._exit, None)


def main(path: str, *imported: str) -> None:
    # No program has the folder of this script on its path.
    paths = sys.path[1:]
    sys.path[:] = paths
    usual = list(warnings.filters)
    before = set(sys.modules)
    modules: dict[str, types.ModuleType] = {}
    # The first function that is registered is the last to run, so the others still find what they import.
    atexit.register(keep_whole, modules)
    for name in imported:
        importlib.import_module(name)
    modules |= {name: module for name, module in sys.modules.items() if name not in before}
    keep_libraries()
    of_imported = [each for each in warnings.filters if each not in usual]
    # What is there by now is not looked through again by each process.
    gc.collect()
    gc.freeze()
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(path)
        listening.listen()
        print("listens", flush=True)
        asked = serve(listening)
    if asked is not None:
        request, streams = asked
        command = parsed(request["arguments"])
        become(request, streams, command, paths)
        filter_warnings(command.warnings, of_imported)
        sys.exit(code_of(command))


if __name__ == "__main__":
    main(*sys.argv[1:])
