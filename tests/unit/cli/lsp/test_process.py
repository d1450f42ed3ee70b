"""The server's process, started and ended as an editor does it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import ROOT

pytest.importorskip("pygls", reason="the extra `lsp` is not installed")


def test_an_editor_that_says_goodbye_gets_exit_code_0_and_no_traceback(tmp_path: Path) -> None:
    messages = [
        {"id": 1, "method": "initialize", "params": {"processId": None, "capabilities": {}}},
        {"method": "initialized", "params": {}},
        {"id": 2, "method": "shutdown"},
        {"method": "exit"},
    ]
    given = b"".join(map(_framed, messages))
    command = [sys.executable, "-P" if sys.version_info >= (3, 11) else "-B"]
    done = subprocess.run(
        [*command, "-m", "torchgen_lite", "lsp"],
        input=given,
        capture_output=True,
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        timeout=60,
    )
    assert (done.returncode, done.stderr.decode()) == (0, "")
    assert done.stdout.count(b"Content-Length:") >= 2


def _framed(message: dict[str, object]) -> bytes:
    text = json.dumps({"jsonrpc": "2.0", **message}).encode()
    return b"Content-Length: %d\r\n\r\n%s" % (len(text), text)
