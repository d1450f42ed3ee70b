"""The global options, and how commands write: data to stdout, everything else to stderr."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from functools import partial, wraps
from pathlib import Path
from shutil import get_terminal_size
from time import perf_counter
from typing import TYPE_CHECKING, NoReturn, TypeVar

import click
from click.decorators import FC

from torchgen_lite.cli.exit_codes import ATTENTION, CANNOT_RUN, FINE
from torchgen_lite.cli.reports import MACHINE_FORMATS, Report, render_reports, seen_from_here
from torchgen_lite.diagnostics import Diagnostic, Help, did_you_mean, errors_among, has_errors

if TYPE_CHECKING:
    from torchgen_lite.analysis.program import Program
    from torchgen_lite.loader.config.project import Config

_Item = TypeVar("_Item")
EPILOG = "Options of every command: torchgen-lite --help"
FORMATS = ("full", "concise", *MACHINE_FORMATS)

# Codes that mean "could not run"; every other error is about the user's operators or outputs.
_CANNOT_RUN = {f"TG00{n}" for n in range(1, 10)} | frozenset(
    {"TG011", "TG012", "TG014", "TG015", "TG020", "TG384", "TG510", "TG514", "TG900"}
)


class Refused(Exception):
    """A command cannot do what was asked, or has nothing to work on; `diagnostics` say why."""

    def __init__(self, *diagnostics: Diagnostic) -> None:
        super().__init__()
        self.diagnostics = diagnostics
        context = click.get_current_context(silent=True)  # The language server runs no command.
        self.command = (context.info_name if context is not None else None) or ""


def require(diagnostics: Sequence[Diagnostic]) -> None:
    """Raise Refused if there are errors."""
    if has_errors(diagnostics):
        raise Refused(*diagnostics)


@contextmanager
def writing(path: str | Path = "") -> Iterator[None]:
    """A context for writing a file that the user named. Raises Refused (TG009) if writing fails."""
    try:
        yield
    except OSError as error:
        from torchgen_lite.loader.sources import reason_of

        message = f"cannot write `{str(path) or error.filename}`: {reason_of(error)}"
        raise Refused(Diagnostic("TG009", message)) from None


def write_content(path: str | Path, content: str | bytes) -> None:
    """Write a file that the user named. Raises Refused if writing fails."""
    write_contents({Path(path): content})


def write_contents(contents: Mapping[Path, str | bytes]) -> None:
    """Write files that the user named, all or none. Raises Refused if writing fails."""
    from torchgen_lite.emit.write import replace_files

    with writing():
        replace_files(contents)


def require_places(outputs: Mapping[str, str | Path | None], *, made: Path | None = None) -> None:
    """Before anything is written, raise UsageError for two options that name one file, which the second would replace,
    and Refused for a place where no file can be. Of the folder `made`, the command makes what there is not.
    """
    from torchgen_lite.emit.write import check_file

    options: dict[str, str] = {}
    for option, path in outputs.items():
        if path is None:
            continue
        before = options.setdefault(os.path.realpath(path), option)
        if before != option:
            raise click.UsageError(f"`{before}` and `{option}` name the same file.")
        if made is not None and Path(path).resolve().is_relative_to(made.resolve()):
            continue
        with writing(path):
            check_file(Path(path))


def refuse_to_replace(path: Path, help: str) -> NoReturn:
    """Raise Refused (TG009) for a file that has, or may have, work of the author's."""
    raise Refused(
        Diagnostic("TG009", f"`{path}` is not replaced: it may have work of yours", help=help)
    )


def unknown(
    what: str,
    name: str,
    known: Iterable[str],
    hint: Help | None = None,
) -> Diagnostic:
    """TG012 about a name on the command line; `hint` is for names that are near to none."""
    help_ = did_you_mean(name, known) or hint
    return Diagnostic("TG012", f"unknown {what} `{name}`", help=help_)


@dataclass(slots=True)
class Session:
    """The global options, accepted before or after the command (the last one wins), and findings.

    `releases` are several for `check`. `root` is the folder of the project that messages are about; None means this
    folder. `shown` has the code of the first error, or else of the first diagnostic, of each report shown in full.
    """

    config: Sequence[str] = ()
    output_format: str = "full"
    color: str = "auto"
    quiet: bool = False
    verbose: bool = False
    max_diagnostics: int = 50
    deny_warnings: bool = False
    releases: Sequence[str] = ()

    root: Path | None = None
    reports: list[Report] = field(default_factory=list)
    shown: list[str] = field(default_factory=list)

    def settings(self) -> tuple[Config, tuple[Diagnostic, ...]]:
        """The configuration that the options select."""
        from torchgen_lite.cli.settings import load_settings

        settings, diagnostics = load_settings(Path.cwd(), self.config)
        self.root = settings.root
        return settings, diagnostics

    def load(
        self,
        schema: Sequence[str] | None = None,
        *,
        torch: bool = False,
        native: str = "",
        output_dir: str | None = None,
    ) -> Program:
        """The program, under the configuration that the options select; see `pipeline.load`.

        `native` and `output_dir` are what the command line gives in place of the configured ones.
        """
        from torchgen_lite.pipeline import load

        started = perf_counter()
        settings, diagnostics = self.settings()
        if native:
            settings = replace(settings, native=native)
        if output_dir is not None:
            settings = replace(settings, output_dir=str(Path.cwd() / output_dir))
        if has_errors(diagnostics):
            from torchgen_lite.analysis.program import Program
            from torchgen_lite.analysis.resolve import Resolved

            return Program(Resolved(()), settings, diagnostics)
        program = load(schema or None, config=settings, torch=torch)
        if self.verbose:
            from torchgen_lite.cli.steps import lines_of_reading

            for line in lines_of_reading(program, perf_counter() - started):
                self.note(line)
        return program

    def talk(self, text: str) -> None:
        """A line for the reader; `-q` silences it."""
        if not self.quiet:
            _say(f"{text}\n")

    def note(self, text: str) -> None:
        """A line that only `-v` shows: what the run does."""
        if self.verbose:
            _say(f"{text}\n")

    def warn(self, text: str) -> None:
        """A line about a problem, which even `-q` shows."""
        _say(f"{text}\n")

    def print_patch(self, text: str) -> None:
        """Write a patch to stdout as bytes: git needs line ends and invalid UTF-8 unchanged."""
        data = text.encode("utf-8", "surrogateescape")
        stream = getattr(sys.stdout, "buffer", None)
        with suppress(BrokenPipeError):  # The exit code already says that there is a patch.
            if stream is None:
                click.echo(data.decode("utf-8", "replace"), nl=False)
            else:
                click.echo(data, stream, nl=False)

    def progress(self, items: Iterable[_Item], label: str) -> Iterator[_Item]:
        """The items, with a bar on stderr once they have taken a second, in a terminal only."""
        started = perf_counter()
        bar = None
        try:
            for number, item in enumerate(items):
                yield item
                if bar is not None:
                    bar.update(1)
                elif not self.quiet and sys.stderr.isatty() and perf_counter() - started > 1:
                    bar = click.progressbar(items, label=label, file=sys.stderr)
                    bar.update(number + 1)
        finally:
            # It has hidden the cursor.
            if bar is not None:
                bar.render_finish()

    @property
    def is_text(self) -> bool:
        return self.output_format not in MACHINE_FORMATS

    @property
    def width(self) -> int:
        """The columns that tables may take: those of the terminal; 0, as many as they need, for a file or a pipe."""
        return get_terminal_size().columns if sys.stdout.isatty() else 0

    def report(
        self,
        diagnostics: Sequence[Diagnostic],
        *,
        kind: str = "lint",
        summary: Mapping[str, int] | None = None,
        extra: Mapping[str, object] | None = None,
    ) -> None:
        """Report diagnostics: text goes to stderr at once, machine formats to stdout at the end."""
        if self.root is not None:
            diagnostics = seen_from_here(diagnostics, self.root)
        if not self.is_text:
            self.reports.append(Report(kind, diagnostics, summary or {}, extra or {}))
        elif diagnostics:
            self._report_text(diagnostics)

    def answer(self, kind: str, text: str, **data: object) -> None:
        """The answer: text on stdout, or data in the JSON document. SARIF has findings only."""
        if self.output_format not in ("json", "sarif"):
            click.echo(text, nl=False)
        self.report([], kind=kind, extra=data)

    def _report_text(self, diagnostics: Sequence[Diagnostic]) -> None:
        from torchgen_lite.diagnostics import colored, plain, render_concise, render_full, sum_up

        if self.output_format == "concise":
            _say(render_concise(diagnostics))
        else:
            errors = [error.code for error in errors_among(diagnostics)]
            self.shown += errors[:1] or [diagnostics[0].code]
            limit = self.max_diagnostics
            paint = colored if self.use_color() else plain
            columns = get_terminal_size().columns if sys.stderr.isatty() else 0
            more = ""
            if limit and not self.verbose:
                diagnostics, more = sum_up(diagnostics, paint)
            _say(render_full(diagnostics, paint=paint, limit=limit, columns=columns) + more)

    def close(self, code: int) -> None:
        """End the run: say where to read on, or write what was reported as one document, which agrees
        with the exit code."""
        if self.shown:
            from torchgen_lite.diagnostics import read_code

            # A warning above an error is not what stops the reader.
            errors = [code for code in self.shown if read_code(code).severity == "error"]
            self.talk(f"for more: torchgen-lite explain {(errors or self.shown)[0]}")
        if self.reports:
            text = render_reports(self.reports, self.output_format, ok=code == FINE)
            click.echo(text, nl=False)

    def use_color(self) -> bool:
        """`--color`, then NO_COLOR, then FORCE_COLOR (when not empty), then whether stderr is a terminal."""
        if self.color != "auto":
            return self.color == "always"
        if os.environ.get("NO_COLOR"):
            return False
        if os.environ.get("FORCE_COLOR"):
            return True
        return sys.stderr.isatty() and os.environ.get("TERM") != "dumb"

    def exit_code(self, diagnostics: Iterable[Diagnostic]) -> int:
        """0, 1 or 2, depending on the codes of the diagnostics."""
        reported = list(diagnostics)
        errors = {error.code for error in errors_among(reported)}
        if errors & _CANNOT_RUN:
            return CANNOT_RUN
        return ATTENTION if errors or (reported and self.deny_warnings) else FINE


def _say(text: str) -> None:
    click.echo(text, err=True, nl=False, color=True)


def _set_release(context: click.Context, _: click.Parameter, release: str | None) -> None:
    """As `--config 'for-torch = "2.13"'` does; `check` takes several."""
    session = context.ensure_object(Session)
    if release is not None and "," in release and context.command.name == "check":
        session.releases = tuple(release.split(","))
    elif release is not None:
        session.config = (*session.config, f"for-torch = {json.dumps(release)}")


def _store(context: click.Context, parameter: click.Parameter, value: object) -> None:
    source = context.get_parameter_source(parameter.name or "")
    given = source is not None and source.name not in ("DEFAULT", "DEFAULT_MAP")
    if given and value is not None:
        session = context.ensure_object(Session)
        name = parameter.name or ""
        # Repeatable options accumulate before and after the command's name.
        setattr(session, name, (*getattr(session, name), *value) if type(value) is tuple else value)


class _Global(click.Option):
    """An option of every command, which the help of `torchgen-lite` lists once for all of them."""

    def get_help_record(self, ctx: click.Context) -> tuple[str, str] | None:
        record = super().get_help_record(ctx)
        # The help says in words what click would add, such as `[x>=0]`.
        return (record[0], self.help or "") if record and ctx.parent is None else None


# An option whose value is kept in the session, and not passed to the command.
_global = partial(_Global, callback=_store, expose_value=False)


def global_options(more_formats: Sequence[str] = ()) -> list[click.Parameter]:
    """The options that every command has; with more formats, its own help lists those."""
    return [
        _global(
            ["--config"],
            metavar="PATH|'KEY = VALUE'",
            multiple=True,
            help="Configuration file, or one setting in TOML; may be repeated.",
        ),
        (click.Option if more_formats else _Global)(
            ["--output-format"],
            type=click.Choice((*FORMATS, *more_formats)),
            envvar="TORCHGEN_LITE_OUTPUT_FORMAT",
            help="How results and diagnostics are shown (default: full).",
            callback=_store,
            expose_value=False,
        ),
        _global(
            ["--color"],
            type=click.Choice(("auto", "always", "never")),
            help="Color of messages (default: auto).",
        ),
        _global(
            ["--max-diagnostics"],
            type=click.IntRange(0),
            metavar="N",
            help="Show at most N diagnostics (default: 50; 0: all).",
        ),
        _global(["--deny-warnings"], is_flag=True, help="Exit with 1 on warnings, too."),
        _global(["-q", "--quiet"], is_flag=True, help="Print nothing on success."),
        _global(
            ["-v", "--verbose"], is_flag=True, help="Report what is read, rendered and skipped."
        ),
    ]


def command(
    name: str, *, more_formats: Sequence[str] = (), short_help: str | None = None
) -> Callable[[Callable[..., int]], click.Command]:
    """A command: a function of the session and of its own options; it has the global ones, too.

    Only what parses a command line, such as `--help`, ends a run with click's exceptions: see Note [Verdicts].
    """

    def decorate(run: Callable[..., int]) -> click.Command:
        @wraps(run)
        def to_its_end(*arguments: object, **options: object) -> int:
            try:
                return run(click.get_current_context().obj, *arguments, **options)
            except (click.exceptions.Exit, click.Abort) as error:
                raise SystemExit(f"click's {type(error).__name__}") from error

        made = click.command(name, epilog=EPILOG, short_help=short_help)(to_its_end)
        made.params += global_options(more_formats)
        return made

    return decorate


def options(*each: Callable[[FC], FC]) -> Callable[[FC], FC]:
    """Several options as one decorator; the help lists them in this order."""

    def decorate(run: FC) -> FC:
        for option in reversed(each):
            run = option(run)
        return run

    return decorate


# The options of commands that read schema files.
schema_options = options(
    click.option(
        "--schema",
        multiple=True,
        metavar="PATH",
        help="Schema file, instead of the configured ones.",
    ),
    click.option(
        "--for-torch",
        metavar="RELEASE",
        callback=_set_release,
        expose_value=False,
        help="Read entries for this PyTorch; `check` takes several: 2.9,2.13.",
    ),
)
targets_option = click.option(
    "--target", "targets", multiple=True, metavar="NAME", help="Only this target."
)
torch_option = click.option(
    "--torch", is_flag=True, help="Read the schema of the installed PyTorch."
)
# The options of commands that ask what is generated.
input_options = options(
    targets_option,
    schema_options,
    click.option(
        "--output-dir", metavar="DIR", help="Output folder, instead of the configured one."
    ),
    torch_option,
)
