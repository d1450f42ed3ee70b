"""The command line: `main(argv, stdout, stderr) -> int`."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from contextlib import redirect_stderr, redirect_stdout, suppress
from io import TextIOWrapper
from typing import TYPE_CHECKING, TextIO

from torchgen_lite.cli.exit_codes import CANNOT_RUN, FINE, INTERRUPTED

if TYPE_CHECKING:
    from torchgen_lite.cli.session import Session


def main(argv: Sequence[str], stdout: TextIO, stderr: TextIO) -> int:
    """Run one command line and return its exit code; never raises."""
    try:
        with redirect_stdout(stdout), redirect_stderr(stderr):
            code = _run(list(argv), stderr)
        with suppress(BrokenPipeError):
            stdout.flush()
            stderr.flush()
        return code
    except KeyboardInterrupt:
        return INTERRUPTED
    except BrokenPipeError:
        # The reader closed the pipe (`torchgen-lite list ops | head`); that is not an error.
        return FINE
    except OSError as error:
        from torchgen_lite.loader.sources import reason_of

        with suppress(OSError):  # stderr itself may be full.
            stderr.write(f"torchgen-lite: cannot write the output: {reason_of(error)}\n")
            stderr.flush()
        return CANNOT_RUN


def _run(argv: list[str], stderr: TextIO) -> int:
    from torchgen_lite.cli.session import Session

    session = Session()
    code = _run_command(argv, session, stderr)
    with suppress(BrokenPipeError):
        session.close(code)
    return code


def _run_command(argv: list[str], session: Session, stderr: TextIO) -> int:
    import click

    from torchgen_lite.cli.app import cli
    from torchgen_lite.cli.session import Refused

    try:
        result = cli.main(argv, "torchgen-lite", standalone_mode=False, obj=session)
        return result if isinstance(result, int) else FINE
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

        error.show(stderr)
        session.output_format = asked_format(argv, session.output_format)
        if not session.is_text:
            session.report([Diagnostic("TG015", error.format_message())], kind="usage")
        return CANNOT_RUN
    except SystemExit as error:
        # click's answer to a broken pipe; its exit code would mean that outputs are stale.
        raise BrokenPipeError from error
    except (KeyboardInterrupt, BrokenPipeError):
        raise
    except Exception as error:
        if isinstance(error, OSError) and error.filename is None:
            raise  # There is no file name, so it is stdout or stderr.
        from torchgen_lite.cli.crash import describe_crash

        found, text = describe_crash(error, argv, in_full=session.verbose)
        session.report([found], kind="crash")
        session.shown.clear()  # The report says what to do.
        stderr.write(text)
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
