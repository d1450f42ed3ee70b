"""The library's own build and tests, and what it registers then, before a move and after it."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import click

from torchgen_lite.cli.session import Refused, Session
from torchgen_lite.diagnostics import Diagnostic
from torchgen_lite.diagnostics.text import counted
from torchgen_lite_tools.importing.registered import (
    Compared,
    Generated,
    Registered,
    compare,
    read_registered,
)
from torchgen_lite_tools.importing.torch_process import ask_torch, said_code

_SHOWN_LINES = 10
# What PyTorch loads by itself may be an earlier build of the very library.
_VARIABLES = {"TORCH_DEVICE_BACKEND_AUTOLOAD": "0"}


class Trial(NamedTuple):
    """Commands of the user's, which are run in the folder of the library, and the modules and shared libraries that
    register its operators once they are loaded."""

    folder: Path
    build: str
    test: str
    load: Sequence[str]


class Done(NamedTuple):
    """How a command ended, and the last line that it printed."""

    code: int
    last: str

    def __str__(self) -> str:
        if self.last:
            return f"{said_code(self.code)}, {self.last}"
        return said_code(self.code)


class Run(NamedTuple):
    """What one run of a trial found: the commands, by option, and what is registered; None if PyTorch was not asked."""

    done: Mapping[str, Done]
    registered: Mapping[str, Registered] | None
    problems: Sequence[Diagnostic]


def trial_of(folder: Path, build: str, test: str, load: Sequence[str]) -> Trial | None:
    """The trial that options ask for, if they do."""
    if not load and (build or test):
        given = "--build" if build else "--test"
        raise click.UsageError(f"`{given}` needs `--load`: what registers the operators.")
    if load:
        return Trial(folder, build, test, load)
    return None


def run_before(session: Session, trial: Trial, names: Collection[str]) -> Run:
    """Raises Refused if anything fails, or none of the operators that are to move is registered."""
    run = _run(session, trial, "before anything was moved")
    if run.problems:
        raise Refused(*run.problems)
    if run.registered is None or run.registered.keys().isdisjoint(names):
        loaded = ", ".join(f"`{module}`" for module in trial.load)
        raise Refused(Diagnostic("TG012", f"{loaded} registers no operator that moves"))
    return run


def run_after(
    session: Session, trial: Trial, before: Run, generated: Generated
) -> tuple[list[Diagnostic], dict[str, object]]:
    """Report what differs and what fails; it is returned, with the rest of the report as data."""
    after = _run(session, trial, "after the move")
    compared = None
    # The same could be loaded before, so it is the move that stands in the way.
    problems = []
    for problem in after.problems:
        problems.append(
            problem
            if problem.code == "TG618"
            else Diagnostic("TG618", f"{problem.message}, after the move")
        )
    if before.registered is not None and after.registered is not None:
        compared = compare(before.registered, after.registered, generated)
        problems += compared.differences
    session.report(problems, kind="adopt")
    for line in _report_lines(before, after, compared):
        session.talk(line)
    if compared is not None and compared.absent:
        names = ", ".join(compared.absent)
        session.warn(f"registered neither before nor after, so not compared: {names}")
    return problems, _report_data(before, after, compared)


def _run(session: Session, trial: Trial, when: str) -> Run:
    done = dict[str, Done]()
    problems = list[Diagnostic]()
    if trial.build:
        done["build"], problems = _call(session, trial.folder, trial.build, when)
        if problems:
            return Run(done, None, problems)
    what = f"loading `{', '.join(trial.load)}`"
    registered = ask_torch(
        read_registered, trial.load, what=what, folder=trial.folder, variables=_VARIABLES
    )
    if isinstance(registered, Diagnostic):
        return Run(done, None, [registered])
    if trial.test:
        done["test"], problems = _call(session, trial.folder, trial.test, when)
    return Run(done, registered, problems)


def _call(session: Session, folder: Path, command: str, when: str) -> tuple[Done, list[Diagnostic]]:
    """Run a command, and say what is wrong if it fails."""
    import subprocess

    session.talk(f"$ {command}")
    nothing = subprocess.DEVNULL
    both = subprocess.STDOUT
    run = subprocess.run(
        command, shell=True, cwd=folder, stdin=nothing, stdout=subprocess.PIPE, stderr=both
    )
    printed = run.stdout.decode("utf-8", "replace").splitlines()
    lines = [line.rstrip() for line in printed if line.strip()]
    done = Done(run.returncode, lines[-1].strip() if lines else "")
    if done.code == 0:
        return done, []
    message = f"`{command}` ends with {said_code(done.code)}, {when}"
    return done, [Diagnostic("TG618", message, notes=tuple(lines[-_SHOWN_LINES:]))]


def _report_lines(before: Run, after: Run, compared: Compared | None) -> Iterator[str]:
    for when, run in (("before", before), ("after", after)):
        for option, done in run.done.items():
            yield f"{option} {when}: {done}"
    if compared is None:
        yield "what is registered was not compared"
        return
    alike = compared.operators - len({difference.operator for difference in compared.differences})
    counts = f"{alike} of {counted(compared.operators, 'operator')}"
    yield f"{counts} registered as before: schema, tags, dispatch table"
    if compared.inferred:
        yield f"names of arguments, new in {counted(compared.inferred, 'schema')} that PyTorch had inferred"
    if compared.added:
        each = []
        for key, number in compared.added.items():
            each.append(f"{key} ({counted(number, 'operator')})")
        yield f"kernels that generated code adds: {', '.join(each)}"


def _report_data(before: Run, after: Run, comparison: Compared | None) -> dict[str, object]:
    compared = None
    if comparison is not None:
        differ = sorted({difference.operator for difference in comparison.differences})
        compared = {**comparison._asdict(), "differences": differ}
    return {"before": _done(before), "after": _done(after), "compared": compared}


def _done(run: Run) -> dict[str, object]:
    return {option: done._asdict() for option, done in run.done.items()}
