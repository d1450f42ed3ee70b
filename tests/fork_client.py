"""Ask the process of `fork_server.py` for one that runs Python.

As a script it is Python, with the socket of a server as its first argument: `fork_client.py SOCKET [ARGUMENT]...`.
"""

from __future__ import annotations

import json
import os
import socket
import sys
from collections.abc import Mapping, Sequence


def ask(
    server: str,
    arguments: Sequence[str],
    folder: str,
    environment: Mapping[str, str],
    streams: Sequence[int] = (0, 1, 2),
) -> int:
    """Run Python with these arguments and standard streams; how it ended, as `subprocess` has it."""
    request = {
        "arguments": list(arguments),
        "folder": folder,
        "environment": dict(environment),
    }
    with socket.socket(socket.AF_UNIX) as connection:
        connection.connect(server)
        socket.send_fds(connection, [b"."], streams)
        connection.sendall(json.dumps(request).encode())
        connection.shutdown(socket.SHUT_WR)
        return int(connection.makefile().read())


if __name__ == "__main__":
    code = ask(sys.argv[1], sys.argv[2:], os.getcwd(), os.environ)
    # Of a signal a shell makes this number.
    sys.exit(code if code >= 0 else 128 - code)
