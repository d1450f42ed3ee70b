"""How plans are shown: the lines of `check`, the patch of `diff`, the table of `--dry-run`."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from torchgen_lite import version
from torchgen_lite.analysis.program import Program
from torchgen_lite.cli.exit_codes import ATTENTION
from torchgen_lite.cli.places import is_passed_over, patch_folder, shown_folder
from torchgen_lite.cli.session import Refused, Session, refuse_to_replace
from torchgen_lite.diagnostics import Diagnostic
from torchgen_lite.diagnostics.text import counted
from torchgen_lite.emit.diff import count_lines, first_difference, render_diff
from torchgen_lite.emit.plan import Action, Change, Plan, build_plan
from torchgen_lite.emit.templates import find_templates, template_names
from torchgen_lite.emit.write import WriteError, replace_files, write_plan
from torchgen_lite.loader.config.options import Json
from torchgen_lite.loader.config.project import Config
from torchgen_lite.loader.sources import reason_of
from torchgen_lite.pipeline import Generated, template_packages

STATUS = {"create": "missing", "update": "changed", "delete": "orphan", "keep": "unchanged"}


class Outcome(NamedTuple):
    """What is generated from a program, what this changes, and the findings of both."""

    program: Program
    generated: Generated
    plan: Plan
    diagnostics: Sequence[Diagnostic]


def output_folder(config: Config) -> tuple[Path, str]:
    """The folder of all outputs, and what messages call it."""
    root = config.root / config.output_dir
    return root, shown_folder(root, config.root)


def plan_of(program: Program, generated: Generated, *, is_whole: bool = True) -> Plan:
    """The plan that brings the disk up to date. Raises Refused if a file cannot be read."""
    project = program.config.root
    try:
        return build_plan(
            generated.files,
            *output_folder(program.config),
            project=project,
            schemas=[project / source.path for source in program.sources],
            is_whole=is_whole,
        )
    except OSError as error:
        message = f"cannot read `{error.filename}`: {reason_of(error)}"
        raise Refused(Diagnostic("TG009", message)) from None


def report_freshness(session: Session, outcome: Outcome, patches: Mapping[str, str] | None) -> int:
    """`check` and `diff`: exit 1 and name every file that is out of date."""
    plan = outcome.plan
    stale = plan.pending
    message = outcome.program.config.check_message
    report_files(session, "check", outcome, patches, [] if session.is_text else out_of_date(plan))
    if patches is not None and session.is_text:
        session.print_patch("".join(patches.values()))
        if stale and is_passed_over(plan.root):
            such = f", such as `{plan.shown}`" if plan.shown else ""
            session.warn(f"`git apply` skips files outside the folder it runs in{such}")
    if stale and session.output_format != "json":
        session.warn(render_freshness(plan))
        if message:
            session.warn(message)
    elif not stale and session.is_text:
        session.talk(f"{counted(len(plan.changes), 'file')} up to date{_in(plan)}")
    if stale:
        return ATTENTION
    return session.exit_code(outcome.diagnostics)


def out_of_date(plan: Plan) -> list[Diagnostic]:
    """TG016 at the first line that differs in each file."""
    diagnostics = []
    help_ = "run `torchgen-lite generate`"
    for change in plan.pending:
        path = plan.path(change.path)
        status = STATUS[change.action]
        place = first_difference(change, path, status)
        diagnostics.append(
            Diagnostic("TG016", f"`{path}` is out of date: {status}", place, help=help_)
        )
    return diagnostics


def render_freshness(plan: Plan) -> str:
    """
    changed   generated/python/ops.pyi        +3 -1
    orphan    generated/python/old_ops.py     (no longer produced)
    2 files out of date. Run `torchgen-lite generate` and commit the result.
    """
    stale = plan.pending
    names = [plan.path(change.path) for change in stale]
    width = max(map(len, names)) + 4
    lines = []
    for change, name in zip(stale, names):
        note = "(no longer produced)" if change.action == "delete" else ""
        if change.action == "update":
            note = "+{} -{}".format(*count_lines(change))
        lines.append(f"{STATUS[change.action]:<9} {name:<{width}}{note}".rstrip())
    files = counted(len(stale), "file")
    lines.append(f"{files} out of date. Run `torchgen-lite generate` and commit the result.")
    return "\n".join(lines)


def summary_line(plan: Plan) -> str:
    """`3 files written, 1 deleted, 18 unchanged in generated`, without zero counts."""
    actions = [change.action for change in plan.changes]
    counts = {
        "written": actions.count("create") + actions.count("update"),
        "deleted": actions.count("delete"),
        "unchanged": actions.count("keep"),
    }
    parts: list[str] = []
    for done, count in counts.items():
        if count:
            # The first one says what is counted.
            parts.append(f"{count if parts else counted(count, 'file')} {done}")
    return f"{', '.join(parts) or '0 files written'}{_in(plan)}"


def _in(plan: Plan) -> str:
    """The folder of the outputs, unless it is this one."""
    return f" in {plan.shown}" if plan.shown else ""


def report_files(
    session: Session,
    kind: str,
    outcome: Outcome,
    patches: Mapping[str, str] | None = None,
    more: Sequence[Diagnostic] = (),
) -> None:
    """Report the findings and, in machine-readable formats, each file with its line counts."""
    if session.is_text:
        parts = {}
    else:
        parts = json_parts(outcome.plan, outcome.generated, patches)
    session.report([*outcome.diagnostics, *more], kind=kind, **parts)


def changed_files(old: Generated, new: Generated) -> Iterator[Change]:
    """The files that two versions generate differently, sorted by path; the disk is not looked at."""
    for path in sorted({*old.files, *new.files}):
        was = old.files.get(path)
        now = new.files.get(path)
        if was == now:
            continue
        action: Action = "update"
        if was is None:
            action = "create"
        elif now is None:
            action = "delete"
        yield Change(path, action, was, now)


def patches_of(plan: Plan) -> dict[str, str]:
    """The patch of each file, empty for those that stay, by path."""
    folder = patch_folder(plan.root)
    return {change.path: render_diff([change], folder) for change in plan.changes}


def json_parts(
    plan: Plan, generated: Generated, patches: Mapping[str, str] | None = None
) -> dict[str, Any]:
    """The parts of the JSON output about files."""
    files: list[Json] = []
    summary = dict.fromkeys(STATUS.values(), 0)
    for change in plan.changes:
        summary[STATUS[change.action]] += 1
        added, removed = (0, 0) if change.action == "keep" else count_lines(change)
        file: Json = {
            "path": plan.path(change.path),
            "target": generated.target_of.get(change.path),
            "status": STATUS[change.action],
            "added": added,
            "removed": removed,
        }
        files.append(file if patches is None else {**file, "diff": patches[change.path]})
    return {"summary": summary, "extra": {"files": files}}


def carry_out(plan: Plan) -> None:
    """Write the files of a plan. Raises Refused if that fails."""
    try:
        write_plan(plan)
    except WriteError as error:
        message = f"cannot write `{plan.path(error.path)}`: {error.reason}"
        raise Refused(Diagnostic("TG009", message)) from None


def write_build_files(depfile: str | None, stamp: str | None, outcome: Outcome) -> None:
    """Write the files that build tools ask for, even if no output changed: they expect them.

    Unchanged outputs keep their timestamps, so that nothing is rebuilt from them; the stamp tells a
    build tool that the command has run.
    """
    contents = {}
    if depfile is not None:
        first = outcome.plan.root / next(iter(outcome.generated.files), "")
        inputs = build_inputs(outcome.program)
        # Build tools know it by its path from where they run commands, or by the absolute one.
        output = stamp or shown_folder(first, Path.cwd()) or "."
        _check_build_file(Path(depfile), _RULE, outcome.program)
        contents[Path(depfile)] = render_depfile(output, inputs)
    if stamp is not None:
        _check_build_file(Path(stamp), _EMPTY, outcome.program)
        contents[Path(stamp)] = ""
    replace_files(contents)


# What the file for a build tool may be that is replaced: the last input of each rule is `build_inputs`' own.
_EMPTY = re.compile(r"\s*")
_RULE = re.compile(r"\s*|.*: .*/version\.py\n")


def _check_build_file(path: Path, earlier: re.Pattern[str], program: Program) -> None:
    """Refused for a file that no earlier run can have written."""
    if not path.is_file():
        return
    is_input = os.path.realpath(path) in map(os.path.realpath, build_inputs(program))
    if is_input or not earlier.fullmatch(path.read_text("utf-8", "replace")):
        refuse_to_replace(path, "write to a new file, or delete this one")


def render_depfile(output: str, inputs: Iterable[str]) -> str:
    """The rule that ninja and CMake read: the output depends on every input.

    generated/python/ops/__init__.py: native_functions.yaml templates/python/ops.py.j2 pyproject.toml
    """
    return f"{_escape(output)}: {' '.join(map(_escape, dict.fromkeys(inputs)))}\n"


def _escape(path: str) -> str:
    return path.replace("\\", "/").replace("$", "$$").replace("#", "\\#").replace(" ", "\\ ")


def build_inputs(program: Program) -> list[str]:
    """Every file that the outputs depend on, and one that changes with each release."""
    config = program.config
    inputs = [config.root / source.path for source in program.sources]
    folders = [*map(Path, config.template_folders), find_templates()]
    folders += [package.folder for package in template_packages(config.targets)]
    for folder in folders:
        inputs += map(folder.joinpath, template_names(folder))
    if config.path is not None:
        inputs.append(config.path)
    return list(map(Path.as_posix, [*inputs, Path(version.__file__)]))
