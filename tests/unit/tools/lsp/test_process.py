"""The server's process, started and ended as an editor does it."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import IO, Any

import pytest

from tests.conftest import ROOT

COMMAND = (
    sys.executable,
    "-P" if sys.version_info >= (3, 11) else "-B",
    *("-m", "torchgen_lite", "lsp"),
)
ENVIRONMENT = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), str(ROOT / "tools")])}
START: dict[str, object] = {
    "id": 1,
    "method": "initialize",
    "params": {"processId": None, "capabilities": {}},
}
GOODBYE: list[dict[str, object]] = [{"id": 2, "method": "shutdown"}, {"method": "exit"}]


def test_an_editor_that_says_goodbye_gets_exit_code_0_and_no_traceback(tmp_path: Path) -> None:
    done = talk(tmp_path, [START, {"method": "initialized", "params": {}}, *GOODBYE])
    assert (done.returncode, done.stderr.decode()) == (0, "")
    assert set(answers(done.stdout)) >= {1, 2}


def test_the_server_says_what_it_can(tmp_path: Path) -> None:
    renames = {"textDocument": {"rename": {"prepareSupport": True}}}
    start = {**START, "params": {"processId": None, "capabilities": renames}}
    can = answers(talk(tmp_path, [start, *GOODBYE]).stdout)[1]["result"]["capabilities"]
    for feature in ("definition", "documentFormatting", "documentSymbol", "hover", "references"):
        assert can[f"{feature}Provider"], feature
    assert can["renameProvider"] == {"prepareProvider": True}


def test_a_refused_rename_leaves_no_traceback(tmp_path: Path) -> None:
    """The editor is told why, and shows it."""
    path = tmp_path / "ops.yaml"
    document: dict[str, object] = {"uri": path.as_uri(), "languageId": "yaml", "version": 1}
    document["text"] = "- func: mylib::f(Tensor x) -> Tensor\n"
    opened: dict[str, object] = {
        "method": "textDocument/didOpen",
        "params": {"textDocument": document},
    }
    at = {"textDocument": {"uri": path.as_uri()}, "position": {"line": 0, "character": 19}}
    asked: dict[str, object] = {
        "id": 9,
        "method": "textDocument/rename",
        "params": {**at, "newName": "y"},
    }
    prepared: dict[str, object] = {
        "id": 10,
        "method": "textDocument/prepareRename",
        "params": at,
    }
    with subprocess.Popen(
        COMMAND,
        cwd=tmp_path,
        env=ENVIRONMENT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as server:
        assert server.stdin and server.stdout and server.stderr
        server.stdin.write(b"".join(map(_framed, [START, opened, asked, prepared])))
        server.stdin.flush()
        found: dict[object, Any] = {}
        while not {9, 10} <= found.keys():
            message = _read(server.stdout)
            found[message.get("id")] = message
        server.stdin.write(b"".join(map(_framed, GOODBYE)))
        server.stdin.close()
        assert server.stderr.read() == b""
    assert found[9]["error"]["message"].startswith("only arguments, kernels")
    assert found[10]["result"] is None


@pytest.mark.parametrize(
    "params",
    [
        {},
        {"textDocument": {}, "position": {"line": 0, "character": 0}},
        {"textDocument": {"uri": "file:///a"}, "position": {"line": "x"}},
        [],
        None,
    ],
)
def test_a_request_that_cannot_be_read_is_refused(params: object, tmp_path: Path) -> None:
    asked: dict[str, object] = {"id": 9, "method": "textDocument/hover", "params": params}
    done = talk(tmp_path, [START, asked, *GOODBYE])
    assert done.returncode == 0
    assert answers(done.stdout)[9]["error"]["code"] == -32602  # invalid parameters


def test_a_request_after_shutdown_is_refused(tmp_path: Path) -> None:
    at = {"textDocument": {"uri": "file:///a"}, "position": {"line": 0, "character": 0}}
    asked: dict[str, object] = {"id": 9, "method": "textDocument/hover", "params": at}
    again: dict[str, object] = {"id": 10, "method": "shutdown"}
    done = talk(tmp_path, [START, GOODBYE[0], asked, again, GOODBYE[1]])
    assert done.returncode == 0
    found = answers(done.stdout)
    assert found[2]["result"] is None
    refused = {"code": -32600, "message": "the server is shutting down"}
    assert found[9]["error"] == found[10]["error"] == refused


def talk(folder: Path, messages: list[dict[str, object]]) -> subprocess.CompletedProcess[bytes]:
    """Send messages to a server in a folder, and wait until it ends."""
    return subprocess.run(
        COMMAND,
        input=b"".join(map(_framed, messages)),
        capture_output=True,
        cwd=folder,
        env=ENVIRONMENT,
        timeout=60,
    )


def _read(stream: IO[bytes]) -> Any:
    """The next message of a server."""
    length = 0
    while line := stream.readline().strip():
        name, _, value = line.partition(b": ")
        length = int(value) if name == b"Content-Length" else length
    return json.loads(stream.read(length))


def answers(output: bytes) -> dict[int, Any]:
    """The answers of a server, by the number of the request."""
    found, rest = dict[int, Any](), output
    while rest:
        head, _, rest = rest.partition(b"\r\n\r\n")
        length = int(re.findall(rb"Content-Length: (\d+)", head)[0])
        message = json.loads(rest[:length])
        found.update({message["id"]: message} if "id" in message else {})
        rest = rest[length:]
    return found


def _framed(message: dict[str, object]) -> bytes:
    text = json.dumps({"jsonrpc": "2.0", **message}).encode()
    return b"Content-Length: %d\r\n\r\n%s" % (len(text), text)
