"""What an operator or a script calls in the end, from a run: `coverage OP`, `coverage --calls SCRIPT`."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path
from time import sleep
from typing import NamedTuple

from torchgen_lite.cli.exit_codes import FINE
from torchgen_lite.cli.pages import Row, Section, section_text
from torchgen_lite.cli.session import Refused, Session
from torchgen_lite.cli.tables.registrations import require_release, search_path
from torchgen_lite.diagnostics import Diagnostic
from torchgen_lite.diagnostics.text import counted
from torchgen_lite.loader.sources import shown_path
from torchgen_lite_tools.backends.sources import called_names, read_any_text
from torchgen_lite_tools.backends.verdicts import Covered, Overlay, Verdict

_STAND_IN = "PrivateUse1"
_SCRIPT = """
import sys
sys.path[:] = sys.argv[2:]
from torchgen_lite_tools.backends.recorder import answer
answer(sys.argv[1])
"""
# Calls by operator: how many there are, and those below them.
Tree = Mapping[str, tuple[int, "Tree"]]


class Run(NamedTuple):
    """What was called, in how many samples, and what ended the run early."""

    tree: Tree
    samples: int
    stopped: str

    @property
    def leaves(self) -> dict[str, int]:
        """How often each operator was called that called no other."""
        found: dict[str, int] = {}
        for _, name, (count, below) in _every(self.tree):
            if not below:
                found[name] = found.get(name, 0) + count
        return found


def _every(tree: Tree, depth: int = 1) -> Iterator[tuple[int, str, tuple[int, Tree]]]:
    for name, calls in tree.items():
        yield depth, name, calls
        yield from _every(calls[1], depth + 1)


def run(
    session: Session, overlay: Overlay, key: str, modules: Sequence[str], what: Path | str
) -> Run:
    """Run a script, or an operator with inputs of PyTorch's tests, on the backend that modules load or a stand-in.

    Raises Refused if there is no answer.
    """
    script = what if isinstance(what, Path) else None
    if key != _STAND_IN and (not modules or script is None):
        message = f"calls can be followed on a stand-in for {_STAND_IN}, not for {key}"
        help_ = (
            "with `--import` a script runs on the backend itself; `--calls` takes a profile, too"
        )
        raise Refused(Diagnostic("TG012", message, help=help_))
    require_release(overlay.native)
    cells = {name: overlay.cell(name, key) for name in overlay.tables}
    asked = {
        "script": str(script.resolve()) if script is not None else "",
        "operator": what if script is None else "",
        "key": key,
        "modules": list(modules),
        "device": overlay.native.config.privateuse1.lower() or "privateuseone",
        "follow": {n: cell.source for n, cell in cells.items() if "Composite" in cell.source},
        "own": [name for name, cell in cells.items() if cell.source == key and cell.step == 1],
    }
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "request.json").write_text(json.dumps(asked), "utf-8")
        path = [*sys.path, *search_path(overlay.native.config)]
        # What the script prints goes to stderr: the answer is what this process prints.
        with subprocess.Popen([sys.executable, "-c", _SCRIPT, folder, *path], stdout=2) as done:
            for _ in session.progress(_waits(done, Path(folder, "begun")), "loading PyTorch"):
                pass
        try:
            answer = json.loads(Path(folder, "answer.json").read_text("utf-8"))
        except OSError:
            message = f"`{what}` ended Python: exit code {done.returncode}"
            raise Refused(Diagnostic("TG012", message)) from None
    if answer["error"] and not answer["tree"]:
        # It ran on a stand-in, beside which there is no place for a device.
        hint = "if the script loads the backend itself, name that module with `--import`"
        stood_in = script is not None and not modules
        raise Refused(Diagnostic("TG012", answer["error"], help=hint if stood_in else None))
    if answer["failed"] and answer["error"]:
        at = f" in {answer['failed'][0]}"
    else:
        at = ""
    return Run(answer["tree"], answer["samples"], answer["error"] + at)


def _waits(process: subprocess.Popen[bytes], begun: Path) -> Iterator[None]:
    """Ten times a second, until a process ends, or runs the script of its user, which may print."""
    while process.poll() is None and not begun.exists():
        sleep(0.1)
        yield


def called(
    session: Session,
    overlay: Overlay,
    key: str,
    selected: Sequence[Covered],
    modules: Sequence[str],
    calls: Path | None,
) -> tuple[list[Covered], Mapping[str, int], str]:
    """What of the selection is called; of a script, how often, and why it ended early.

    Raises Refused if no operator of PyTorch is: that says nothing about a backend.
    """
    if calls is None:
        return list(selected), {}, ""
    leaves = {}
    stopped = ""
    what = "names"
    if calls.suffix == ".py":
        ran = run(session, overlay, key, modules, calls)
        leaves = ran.leaves
        stopped = ran.stopped
        what = f"runs, on the device of {key},"
        names: Collection[str] = leaves.keys() & overlay.tables.keys()
    else:
        listed = called_names(read_any_text(calls))
        names = {name for name in overlay.tables if _is_called(name, listed)}
    shown = f"`{shown_path(calls, Path.cwd())}`"
    if not names:
        raise Refused(Diagnostic("TG012", f"{shown} {what} no operator of PyTorch"))
    chosen = [entry for entry in selected if entry.operator.name in names]
    return chosen, leaves, f"{shown} stopped early: {stopped}" if stopped else ""


def _is_called(name: str, called: Collection[str]) -> bool:
    """Whether a log names the operator, or its base name without an overload."""
    base, _, overload = name.partition(".")
    return base in called or name in called or (not overload and f"{name}.default" in called)


def _chain(covered: Mapping[str, Covered], name: str) -> list[str]:
    """An operator, the one that serves it, the one that serves that, and so on, each once."""
    chain = [name]
    by = covered[name].by
    while by in covered and by not in chain:
        chain.append(by)
        by = covered[by].by
    return chain


def show_operator(
    session: Session, overlay: Overlay, key: str, every: Sequence[Covered], name: str
) -> int:
    """`coverage OP`: the calls below an operator, as far as files say them, and then a run."""
    covered = {entry.operator.name: entry for entry in every}
    calls = list(enumerate(_chain(covered, name)))
    title = "what files say"
    missing = ""
    if covered[name].verdict is Verdict.composite:
        try:
            seen = run(session, overlay, key, (), name)
        except Refused as refused:
            missing = f"no file says what it calls; {refused.diagnostics[0].message}"
        else:
            _, below = seen.tree.get(name, (0, seen.tree))
            calls = [(0, name)]
            calls += [(depth, called_name) for depth, called_name, _ in _every(below)]
            title = f"what {counted(seen.samples, 'call')} with inputs of PyTorch's tests ran"
            if seen.stopped:
                missing = f"a call stopped early: {seen.stopped}"
    rows: list[Row] = []
    for depth, called_name in calls:
        indented = f"{'  ' * depth}{called_name}"
        if called_name in covered:
            served = covered[called_name]
            rows.append((indented, served.verdict.name, served.by))
        else:
            rows.append((indented,))
    heads = ("operator", "verdict", "served by")
    text = section_text(Section(f"{key}: {title}", rows, heads), session.width)
    session.answer("coverage", text, key=key, tree=rows)
    if missing:
        session.warn(missing)
    return FINE
