"""Run `generate` in forked processes: stop it at its steps, or start many runs at once.

    python -m tests.unit.cli.forked SIGTERM SIGKILL     stop runs at every second step, with each signal in turn
    python -m tests.unit.cli.forked 4 10                four rounds of ten runs at once

It prints counts as JSON. The current folder has to be a project. Forks are fast because the parent has run once.
"""

from __future__ import annotations

import io
import json
import os
import signal
import sys
from collections import Counter
from pathlib import Path
from typing import Any

from torchgen_lite.cli import main, run

OUTPUT = Path.cwd() / "generated"
_STEPS = ("open", "os.mkdir", "os.rename", "os.remove", "os.chmod")


def start(
    arguments: list[str],
    stop_at: int = 0,
    number: int = 0,
    gate: tuple[int, int] | None = None,
) -> int:
    """Fork a run of the console script, and send it signal `number` at its step `stop_at` in the output folder.

    It starts when every process has closed the writing end of the pipe `gate`.
    """
    process = os.fork()
    if process:
        return process
    try:
        devnull = os.open(os.devnull, os.O_WRONLY)
        os.dup2(devnull, 2)
        if gate is not None:
            os.close(gate[1])
            os.read(gate[0], 1)
        steps = 0

        def watch(event: str, values: tuple[Any, ...]) -> None:
            nonlocal steps
            if event in _STEPS and str(values[0]).startswith(str(OUTPUT)):
                steps += 1
                if steps == stop_at:
                    os.kill(os.getpid(), number)

        sys.addaudithook(watch)
        sys.argv = ["torchgen-lite", *arguments]
        run()
    except SystemExit as stopped:
        os._exit(int(stopped.code or 0))
    finally:
        os._exit(70)


def finish(process: int) -> int:
    """The exit code as a shell reports it."""
    status = os.waitpid(process, 0)[1]
    return 128 + os.WTERMSIG(status) if os.WIFSIGNALED(status) else os.WEXITSTATUS(status)


def tree() -> dict[str, bytes]:
    return {str(p.relative_to(OUTPUT)): p.read_bytes() for p in OUTPUT.rglob("*") if p.is_file()}


def generate(package: str) -> list[str]:
    """The command for a package; each package has different files with different texts."""
    return ["-q", "generate", "--config", f"target.python.package = '{package}'"]


def run_here(arguments: list[str]) -> tuple[int, str]:
    said = io.StringIO()
    code = main(arguments, said, said)
    return code, said.getvalue()


def stop_everywhere(names: list[str]) -> dict[str, int]:
    """Stop a run that replaces one package by another at every second step, and check what is left."""
    signals = [getattr(signal, name) for name in names]
    # A shell's background processes ignore SIGINT, and these would inherit that.
    for number in {*signals} - {signal.SIGKILL}:
        signal.signal(number, signal.SIG_DFL)
    expected = {}
    for package in ("first", "second"):
        run_here(generate(package))
        expected[package] = tree()
    known = [*expected["first"].items(), *expected["second"].items()]
    count: Counter[str] = Counter()
    while True:
        run_here(generate("first"))
        number = signals[count["runs"] % len(signals)]
        code = finish(start(generate("second"), 2 * count["runs"] + 1, number))
        if code == 0:
            return dict(count)
        left = tree()
        temporary = [path for path in left if ".torchgen-lite" in path]
        count["runs"] += 1
        count["other exit codes"] += code != 128 + number
        count["with temporary files"] += number != signal.SIGKILL and bool(temporary)
        count["torn files"] += sum(
            item not in known for item in left.items() if item[0] not in temporary
        )
        run_here(generate("second"))
        count["healed"] += tree() == expected["second"]


def all_at_once(rounds: int, several: int) -> dict[str, int]:
    """Start several runs at the same time, while other runs check."""
    count: Counter[str] = Counter()
    for number in range(rounds):
        command = generate("first" if number % 2 else "second")
        gate = os.pipe()
        processes = [start(command, gate=gate) for _ in range(several)]
        for end in gate:
            os.close(end)
        said = [run_here(["check"])[1] for _ in range(3)]
        count["seen by check"] += any(".torchgen-lite" in text for text in said)
        for process in processes:
            count[f"exit code {finish(process)}"] += 1
        count["fresh"] += run_here(["check", *command[2:]])[0] == 0
        count["with other files"] += len(tree()) != 12
    return dict(count)


if __name__ == "__main__":
    run_here(generate("first"))
    if sys.argv[1].startswith("SIG"):
        print(json.dumps(stop_everywhere(sys.argv[1:])))
    else:
        print(json.dumps(all_at_once(int(sys.argv[1]), int(sys.argv[2]))))
