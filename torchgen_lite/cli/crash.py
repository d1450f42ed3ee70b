"""What to report about an internal error (TG900), and where."""

from __future__ import annotations

import os
import platform
import shlex
import tempfile
import traceback
from collections.abc import Sequence

from torchgen_lite.diagnostics import Diagnostic
from torchgen_lite.version import __version__


def describe_crash(error: BaseException, place: str | None) -> Diagnostic:
    """The diagnostic; the report is in a file at `place`, or else follows it."""
    first_line = str(error).partition("\n")[0]
    named = "what follows" if place is None else f"the text of `{place}`"
    help_ = f"please report it in the issue tracker of torchgen-lite, with {named} and the entry that causes it"
    return Diagnostic("TG900", f"internal error: {type(error).__name__}: {first_line}", help=help_)


def report_of(error: BaseException, argv: Sequence[str]) -> str:
    """What a maintainer needs to know about an error."""
    lines = (
        f"torchgen-lite {__version__}",
        f"{platform.python_implementation()} {platform.python_version()}, {platform.platform()}",
        f"command: {shlex.join(('torchgen-lite', *argv))}",
    )
    return "\n".join(lines) + "\n" + "".join(traceback.format_exception(error))


def save(report: str) -> str | None:
    """Write the report to a new file in the folder for temporary files; None if that fails."""
    try:
        descriptor, name = tempfile.mkstemp(".txt", "torchgen-lite-crash-", text=True)
        with os.fdopen(descriptor, "w", encoding="utf-8", errors="backslashreplace") as stream:
            stream.write(report)
    except OSError:
        return None
    return name
