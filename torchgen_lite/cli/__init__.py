"""The command line: `main(argv, stdout, stderr) -> int`."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from contextlib import redirect_stderr, redirect_stdout, suppress
from io import TextIOWrapper
from typing import TYPE_CHECKING, Any, TextIO, cast

from torchgen_lite.cli.exit_codes import CANNOT_RUN, INTERRUPTED

if TYPE_CHECKING:
    from torchgen_lite.cli.session import Session


def main(argv: Sequence[str], stdout: TextIO, stderr: TextIO) -> int:
    """Run one command line and return its exit code; never raises.

    Note [Verdicts]
    A run could not do its work until a command says otherwise. Whatever ends it before, `sys.exit(0)` in a package's
    target too, is an internal error. A reader that closes the pipe changes neither what a run does nor how it ends.
    """
    code = CANNOT_RUN
    try:
        out, err = cast("tuple[TextIO, TextIO]", (_Stream(stdout), _Stream(stderr)))
        with redirect_stdout(out), redirect_stderr(err):
            from torchgen_lite.cli.session import Session

            session = Session()
            code = _run_command(list(argv), session)
            session.close(code)
            sys.stdout.flush()
            sys.stderr.flush()
    except KeyboardInterrupt:
        return INTERRUPTED
    except OSError as error:
        from torchgen_lite.loader.sources import reason_of

        with suppress(OSError):  # stderr itself may be full.
            stderr.write(f"torchgen-lite: cannot write the output: {reason_of(error)}\n")
            stderr.flush()
        return CANNOT_RUN
    return code


class _Stream:
    """stdout or stderr; what is written after its reader closed the pipe is lost."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)

    def write(self, text: str) -> int:
        with suppress(BrokenPipeError):
            self._stream.write(text)
        return len(text)

    def flush(self) -> None:
        with suppress(BrokenPipeError):
            self._stream.flush()


def _run_command(argv: list[str], session: Session) -> int:
    import click
    from click.shell_completion import shell_complete

    from torchgen_lite.cli.app import COMPLETE, PROGRAM, cli
    from torchgen_lite.cli.session import Refused

    try:
        if any("\0" in word for word in argv):
            raise click.UsageError("an argument has a NUL character, which no path and no name has")
        if asked := os.environ.get(COMPLETE):
            return shell_complete(cli, {}, PROGRAM, COMPLETE, asked)
        with cli.make_context(PROGRAM, argv, obj=session) as context:
            result = cli.invoke(context)
            return result if isinstance(result, int) else CANNOT_RUN
    except Refused as refused:
        session.report(refused.diagnostics, kind=refused.command)
        return session.exit_code(refused.diagnostics)
    except click.exceptions.Exit as error:
        return error.exit_code
    except click.Abort:
        return INTERRUPTED
    except click.ClickException as error:
        from torchgen_lite.cli.reports import asked_format
        from torchgen_lite.diagnostics import Diagnostic

        error.show(sys.stderr)
        session.output_format = asked_format(argv, session.output_format)
        if not session.is_text:
            session.report([Diagnostic("TG015", error.format_message())], kind="usage")
        return CANNOT_RUN
    except (Exception, SystemExit) as error:
        if isinstance(error, OSError) and error.filename is None:
            raise  # There is no file name, so it is stdout or stderr.
        from torchgen_lite.cli.crash import describe_crash, report_of, save

        report = report_of(error, argv)
        place = None if session.verbose else save(report)
        session.report([describe_crash(error, place)], kind="crash")
        session.shown.clear()  # The report says what to do.
        sys.stderr.write("" if place else f"\n{report}")
        return CANNOT_RUN


def run() -> None:
    """The console script."""
    import gc

    from torchgen_lite.cli.signals import Stopped, stop_on_signals

    # A run makes a hundred thousand objects that live until it ends; collecting them finds nothing.
    gc.disable()
    try:
        stop_on_signals()
        code = main(sys.argv[1:], *_streams())
    except Stopped as stopped:
        code = stopped.code
    # Nor does the interpreter's last collection, before it ends.
    gc.freeze()
    # Failed writes have been reported by now, and the interpreter would try once more.
    sys.stdout = sys.stderr = None
    sys.exit(code)


def _streams() -> tuple[TextIO, TextIO]:
    """stdout and stderr. If either is closed nothing runs: an opened file would get its descriptor,
    and with it its output.
    """
    if sys.stdout is None or sys.stderr is None:
        if sys.stderr is not None:
            sys.stderr.write("torchgen-lite: stdout is closed\n")
        sys.exit(CANNOT_RUN)
    # File names may be invalid text, and not every terminal can show all characters.
    if isinstance(sys.stdout, TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")
    return sys.stdout, sys.stderr
