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


def describe_crash(
    error: BaseException, argv: Sequence[str], *, in_full: bool
) -> tuple[Diagnostic, str]:
    """The diagnostic and what follows it: the report, if `in_full` or if it cannot be saved."""
    report = _report(error, argv)
    place = None if in_full else _save(report)
    said = str(error).partition("\n")[0]
    named = "what follows" if place is None else f"the text of `{place}`"
    help_ = f"please report it in the issue tracker of torchgen-lite, with {named} and the entry that causes it"
    message = f"internal error: {type(error).__name__}: {said}"
    return Diagnostic("TG900", message, help=help_), "" if place is not None else f"\n{report}"


def _report(error: BaseException, argv: Sequence[str]) -> str:
    lines = (
        f"torchgen-lite {__version__}",
        f"{platform.python_implementation()} {platform.python_version()}, {platform.platform()}",
        f"command: {shlex.join(('torchgen-lite', *argv))}",
    )
    return "\n".join(lines) + "\n" + "".join(traceback.format_exception(error))


def _save(report: str) -> str | None:
    """Write the report to a new file in the folder for temporary files."""
    try:
        descriptor, name = tempfile.mkstemp(".txt", "torchgen-lite-crash-", text=True)
        with os.fdopen(descriptor, "w", encoding="utf-8", errors="backslashreplace") as stream:
            stream.write(report)
    except OSError:
        return None
    return name
