"""`lsp`: the command that an editor starts."""

from __future__ import annotations

import gc
import os
import sys

from torchgen_lite.cli.exit_codes import FINE
from torchgen_lite.cli.extras import lacks
from torchgen_lite.cli.session import Session, command


@command("lsp")
def lsp_command(session: Session) -> int:
    """Run the language server for schema files. Editors start it, and talk to it over stdin and
    stdout.

    \b
    torchgen-lite lsp
    """
    try:
        from torchgen_lite.cli.lsp.server import create_server
    except ModuleNotFoundError as error:
        message = f"`lsp` needs the package `{(error.name or '').partition('.')[0]}`"
        raise lacks(message, "lsp") from None
    # Other commands exit before garbage matters.
    gc.enable()
    # The server closes the stream that it writes to; stdout is flushed at the end of every command.
    with open(os.dup(sys.stdout.fileno()), "wb") as output:
        create_server().start_io(stdout=output)
    return FINE
