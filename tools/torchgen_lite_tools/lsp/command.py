"""`lsp`: the command that an editor starts."""

from __future__ import annotations

import gc
import io
import os
import sys
from typing import Any

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
    with _Output(io.FileIO(os.dup(sys.stdout.fileno()), "w")) as output:
        create_server().start_io(stdout=output)
    if output.error is not None:
        raise output.error
    return FINE


class _Output(io.BufferedWriter):
    """What cannot be written is said at the end of the command: pygls would log each failure, and send
    the editor a message about it, which cannot be written either."""

    error: OSError | None = None

    def write(self, data: Any) -> int:
        try:
            return super().write(data)
        except OSError as error:
            self.error = error
            return 0

    def flush(self) -> None:
        try:
            super().flush()
        except OSError as error:
            self.error = error
