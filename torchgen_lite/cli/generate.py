"""`generate`, `check` and `diff`: three ways to look at the same plan."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from time import perf_counter
from typing import Any, NamedTuple

import click

from torchgen_lite.analysis.program import Program
from torchgen_lite.cli import plans
from torchgen_lite.cli.exit_codes import CANNOT_RUN
from torchgen_lite.cli.projects import each_project, projects_argument
from torchgen_lite.cli.session import (
    Session,
    command,
    input_options,
    require,
    require_places,
    writing,
)
from torchgen_lite.cli.steps import lines_of_rendering
from torchgen_lite.diagnostics import Diagnostic, errors_among, has_errors, sort_diagnostics
from torchgen_lite.diagnostics.text import counted, ended
from torchgen_lite.emit.lock import locked_folder
from torchgen_lite.emit.plan import Plan
from torchgen_lite.emit.render import Rendered
from torchgen_lite.emit.write import WriteError, remove_leftovers, write_plan
from torchgen_lite.pipeline import Generated, ask_torch, generate_all
from torchgen_lite.targets import asks_torch


class Request(NamedTuple):
    """What the options of the three commands say.

    For `--watch`, `loaded` is called with the program, and `rendered` is what the last run rendered.
    """

    targets: Sequence[str]
    schema: Sequence[str]
    output_dir: str | None
    torch: bool
    check: bool = False
    diff: bool = False
    dry_run: bool = False
    depfile: str | None = None
    stamp: str | None = None
    allow_empty: bool = False
    watch: bool = False
    against: str | None = None
    loaded: Callable[[Program], None] = lambda program: None
    rendered: Rendered | None = None

    @property
    def about_one(self) -> list[str]:
        """The given options that apply to a single project only."""
        names = ("schema", "output_dir", "depfile", "stamp")
        return [f"--{name.replace('_', '-')}" for name in names if getattr(self, name)]

    @property
    def is_whole(self) -> bool:
        """Whether this run makes everything that the configuration describes."""
        return not (self.targets or self.schema or self.torch)

    @property
    def writes(self) -> bool:
        """Whether the run writes files rather than only listing them."""
        return not (self.check or self.diff or self.dry_run)


@command("generate")
@click.option("--check", is_flag=True, help="Write nothing; exit 1 if anything is out of date.")
@click.option("--diff", is_flag=True, help="Write nothing; print a patch.")
@click.option("--dry-run", is_flag=True, help="Write nothing; print the plan.")
@click.option("--watch", is_flag=True, help="Generate again after each save.")
@projects_argument
@input_options
@click.option("--depfile", metavar="PATH", help="Write a depfile for ninja or CMake.")
@click.option(
    "--stamp", metavar="PATH", help="Update the time of this file, the target of the depfile."
)
@click.option("--allow-empty", is_flag=True, help="Write outputs even if no operator is left.")
def generate_command(session: Session, /, projects: Sequence[str], **asked: Any) -> int:
    """Write the generated code.

    \b
    torchgen-lite generate
    torchgen-lite generate --torch --target python --output-dir build
    """
    request = Request(**asked)
    _require_sense(request)
    if not request.watch:
        return _run_each(session, projects, request)
    if not request.writes:
        raise click.UsageError("`--watch` cannot be combined with --check, --diff or --dry-run.")
    from torchgen_lite.cli.watch import watch

    again = request._replace(rendered={})
    return watch(session, lambda to: _run_each(session, projects, again._replace(loaded=to)))


def _require_sense(request: Request) -> None:
    """Raise UsageError for options of which one would have no effect."""
    if request.dry_run and (request.check or request.diff):
        raise click.UsageError("`--dry-run` prints the plan: give it without --check and --diff.")
    if not request.writes and (request.depfile or request.stamp):
        raise click.UsageError(
            "`--depfile` and `--stamp` are for a build: give them without --check, --diff and --dry-run."
        )


@command("check")
@projects_argument
@input_options
def check_command(session: Session, /, projects: Sequence[str], **asked: Any) -> int:
    """Check that generated code is up to date; exit 1 and list the files that are not. Writes nothing.

    \b
    torchgen-lite check
    torchgen-lite check --output-format github a b
    torchgen-lite check --for-torch 2.9,2.11,2.13
    """
    if session.releases:
        from torchgen_lite.cli.releases import check_releases

        request = Request(**asked)
        run = partial(check_releases, schema=request.schema, targets=request.targets)
        return each_project(session, projects, request.about_one, run)
    return _run_each(session, projects, Request(**asked, check=True))


@command("diff")
@projects_argument
@input_options
@click.option(
    "--against", metavar="REF|PATH", help="Compare with what this version generates, not the disk."
)
def diff_command(session: Session, /, projects: Sequence[str], **asked: Any) -> int:
    """Show what `generate` would change, as a patch on stdout. Writes nothing.

    \b
    torchgen-lite diff
    torchgen-lite diff | git apply
    torchgen-lite diff --against main
    """
    return _run_each(session, projects, Request(**asked, check=True, diff=True))


def _run_each(session: Session, projects: Sequence[str], request: Request) -> int:
    def run(project: Session) -> int:
        if request.against is not None:
            return _diff_against(project, request, request.against)
        return _generate(project, request)

    return each_project(session, projects, request.about_one, run)


def _diff_against(session: Session, request: Request, against: str) -> int:
    """`diff --against`: compare two versions of the project, ignoring generated files on disk."""
    from torchgen_lite.cli.against.version import other_version
    from torchgen_lite.cli.breaking import judged_changes
    from torchgen_lite.cli.tables.registrations import pytorchs_of_both

    program = session.load(request.schema, torch=request.torch, output_dir=request.output_dir)
    generated = generate_all(program, targets=request.targets)
    require(generated.diagnostics)
    with other_version(session, against, program, request.schema) as old:
        before = old.generate(request.targets)
        beneath = pytorchs_of_both(session, old.program, program)
        judged = judged_changes(old, program, "source", beneath)
    root, shown = plans.output_folder(program.config)
    plan = Plan(root, list(plans.changed_files(before, generated)), shown=shown)
    patches = plans.patches_of(plan)
    outcome = plans.Outcome(program, generated, plan, generated.diagnostics)
    plans.report_files(session, "diff", outcome, patches)
    if session.is_text:
        session.print_patch("".join(patches.values()))
    size = f"{counted(len(plan.changes), 'file')} changed" if plan.changes else "no file changed"
    if judged.summary:
        session.talk(f"{judged.summary} against {against}")
    session.talk(f"{size} against {against}")
    return session.exit_code(outcome.diagnostics)


def _generate(session: Session, request: Request) -> int:
    """Load, generate and compare with the disk; a run that writes locks the output folder."""
    program = session.load(request.schema, torch=request.torch, output_dir=request.output_dir)
    if request.torch and asks_torch(request.targets):
        program = ask_torch(program)
    request.loaded(program)
    started = perf_counter()
    progress = partial(session.progress, label="rendering")
    generated = generate_all(
        program, targets=request.targets, rendered=request.rendered, progress=progress
    )
    for line in lines_of_rendering(program, generated, perf_counter() - started):
        session.note(line)
    if has_errors(generated.diagnostics):
        return _give_up(session, request, generated.diagnostics)
    if not request.writes:
        return _compare(session, request, program, generated)
    root, shown = plans.output_folder(program.config)
    waiting = f"waiting for another `generate` in `{shown or '.'}`"
    with locked_folder(root, lambda: session.talk(waiting)) as is_locked:
        return _compare(session, request, program, generated, is_locked)


def _compare(
    session: Session,
    request: Request,
    program: Program,
    generated: Generated,
    is_locked: bool = False,
) -> int:
    """Plan, then write or list what would be written.

    Leftover temporary files are removed if this run holds the folder.
    """
    plan = plans.plan_of(program, generated, is_whole=request.is_whole)
    diagnostics = [
        *generated.diagnostics,
        *plan.diagnostics,
        *_nothing_left(request, program, plan),
    ]
    outcome = plans.Outcome(program, generated, plan, sort_diagnostics(diagnostics))
    if has_errors(diagnostics):
        return _give_up(session, request, outcome.diagnostics)
    if is_locked:
        remove_leftovers(plan)
    for change in plan.changes:
        if change.action == "keep":
            session.note(f"unchanged {plan.path(change.path)}")
    if request.writes:
        return _write(session, request, outcome)
    if request.dry_run:
        plans.report_files(session, "generate", outcome)
        if session.is_text:
            lines = [f"{plans.STATUS[c.action]:<9} {plan.path(c.path)}" for c in plan.changes]
            click.echo(ended(lines), nl=False)
        return session.exit_code(outcome.diagnostics)
    patches = plans.patches_of(plan) if request.diff else None
    return plans.report_freshness(session, outcome, patches)


def _nothing_left(request: Request, program: Program, plan: Plan) -> Iterator[Diagnostic]:
    """TG018: the outputs have operators, but the schema files no longer do."""
    taken = any(change.action in ("update", "delete") for change in plan.changes)
    if not program.functions and taken and not (request.check or request.allow_empty):
        files = ", ".join(f"`{source.path}`" for source in program.sources)
        message = f"{files} has no operators, but the outputs have some"
        yield Diagnostic("TG018", message, help="`--allow-empty` writes outputs without any")


def _write(session: Session, request: Request, outcome: plans.Outcome) -> int:
    plan = outcome.plan
    require_places({"--depfile": request.depfile, "--stamp": request.stamp}, made=plan.root)
    try:
        write_plan(plan)
    except WriteError as error:
        message = f"cannot write `{plan.path(error.path)}`: {error.reason}"
        help_ = (
            "other files are new already: `check` names those that are not, the next run writes them"
            if error.is_begun
            else "nothing was written"
        )
        diagnostic = Diagnostic("TG009", message, help=help_)
        session.report([*outcome.diagnostics, diagnostic], kind="generate")
        return CANNOT_RUN
    plans.report_files(session, "generate", outcome)
    with writing():
        plans.write_build_files(request.depfile, request.stamp, outcome)
    for change in plan.pending:
        if change.action == "delete":
            session.talk(f"deleted   {plan.path(change.path)}    (no longer produced)")
    session.talk(plans.summary_line(plan))
    return session.exit_code(outcome.diagnostics)


def _give_up(session: Session, request: Request, diagnostics: Sequence[Diagnostic]) -> int:
    session.report(diagnostics, kind="check" if request.check else "generate")
    errors = len(errors_among(diagnostics))
    if session.is_text:
        blank = "\n" if session.output_format == "full" else ""
        session.warn(f"{blank}{counted(errors, 'error')}; nothing was written.")
    return session.exit_code(diagnostics)
