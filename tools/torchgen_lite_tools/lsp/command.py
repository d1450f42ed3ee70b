"""`lsp`: the command that an editor starts."""

from __future__ import annotations

import gc
import os
import sys

from torchgen_lite.cli.exit_codes import FINE
from torchgen_lite.cli.session import Session, command
from torchgen_lite_tools.lsp.server import create_server


@command("lsp")
def lsp_command(session: Session) -> int:
    """Run the language server for schema files. Editors start it, and talk to it over stdin and
    stdout.

    \b
    torchgen-lite lsp
    """
    # Other commands exit before garbage matters.
    gc.enable()
    # The server closes the stream that it writes to; stdout is flushed at the end of every command.
    with open(os.dup(sys.stdout.fileno()), "wb") as output:
        create_server().start_io(stdout=output)
    return FINE
