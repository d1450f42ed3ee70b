"""An editor with an open project."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import Coroutine, Iterator, Sequence
from pathlib import Path
from typing import Any, TypeVar

import pytest

from tests.conftest import ROOT

pytest.importorskip("pytest_lsp", reason="the extra `test` is not installed")

from lsprotocol import types
from pytest_lsp import LanguageClient, client_capabilities, make_test_lsp_client

CONFIG = '[target.python]\npackage = "ops"\nkernels = ["kernels"]\n'
KERNELS = """\
def relu_cpu(self):
    return self


def relu_meta(self):
    return relu_cpu(self)
"""
# Marks the cursor. A line above has characters whose length differs in bytes, code points and UTF-16.
CURSOR = "|"
# The server of a reader who types quickly.
SERVER = """
import sys
from torchgen_lite.cli import run
from torchgen_lite_tools.lsp import server

server.PAUSE = 0.01
sys.argv = ["torchgen-lite", "lsp"]
run()
"""
_Result = TypeVar("_Result")


class Editor:
    """A client of one server. In texts, `|` marks the cursor."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.loop = asyncio.new_event_loop()
        self.client: LanguageClient = make_test_lsp_client()
        self.version = 0
        self.opened: list[str] = []

    def do(self, what: Coroutine[Any, Any, _Result]) -> _Result:
        return self.loop.run_until_complete(asyncio.wait_for(what, 60))

    def start(self) -> None:
        command = (sys.executable, "-P" if sys.version_info >= (3, 11) else "-B")
        environment = {
            **os.environ,
            "PYTHONPATH": os.pathsep.join([str(ROOT), str(ROOT / "tools")]),
        }
        start = self.client.start_io(*command, "-c", SERVER, cwd=self.folder, env=environment)
        self.do(start)
        self.do(
            self.client.initialize_session(
                types.InitializeParams(
                    client_capabilities("visual-studio-code"), root_uri=self.folder.as_uri()
                )
            )
        )

    def stop(self) -> None:
        self.do(self.client.shutdown_session())
        self.do(self.client.stop())
        self.loop.close()

    def uri(self, name: str) -> str:
        return (self.folder / name).as_uri()

    def show(self, text: str, name: str = "ops.yaml") -> list[types.Diagnostic]:
        """Open or change a document, and wait for its diagnostics."""
        self.send(text, name)
        return self.shown(name)

    def send(self, text: str, name: str) -> None:
        """Open or change a document; its earlier diagnostics are forgotten."""
        uri, text = self.uri(name), text.replace(CURSOR, "")
        self.version += 1
        if uri in self.opened:
            self.client.text_document_did_change(
                types.DidChangeTextDocumentParams(
                    types.VersionedTextDocumentIdentifier(self.version, uri),
                    [types.TextDocumentContentChangeWholeDocument(text)],
                )
            )
        else:
            self.opened.append(uri)
            item = types.TextDocumentItem(uri, types.LanguageKind.Yaml, self.version, text)
            self.client.text_document_did_open(types.DidOpenTextDocumentParams(item))
        self.client.diagnostics.pop(uri, None)

    def shown(self, name: str) -> list[types.Diagnostic]:
        """The diagnostics of a document, as soon as the server sends them."""
        uri = self.uri(name)
        while uri not in self.client.diagnostics:
            self.do(self.client.wait_for_notification("textDocument/publishDiagnostics"))
        return list(self.client.diagnostics[uri])

    def said(self, text: str) -> list[str]:
        """The diagnostics of a text: `TG103 3:4-3:8 unknown ...`, with the protocol's lines and columns."""
        return [f"{one.code} {shown(one.range)} {one.message}" for one in self.show(text)]

    def at(self, text: str, name: str = "ops.yaml") -> dict[str, Any]:
        """Show a text; return the position of its cursor."""
        self.show(text, name)
        before = text.partition(CURSOR)[0]
        line = before.rpartition("\n")[2]
        position = types.Position(before.count("\n"), len(line.encode("utf-16-le")) // 2)
        return {
            "text_document": types.TextDocumentIdentifier(self.uri(name)),
            "position": position,
        }

    def hover(self, text: str) -> str:
        found = self.do(self.client.text_document_hover_async(types.HoverParams(**self.at(text))))
        assert found is None or isinstance(found.contents, types.MarkupContent)
        return found.contents.value if found is not None else ""

    def complete(self, text: str) -> dict[str, types.CompletionItem]:
        asked = self.client.text_document_completion_async(types.CompletionParams(**self.at(text)))
        found = self.do(asked)
        items = found.items if isinstance(found, types.CompletionList) else found or []
        return {item.label: item for item in items}

    def definitions(self, text: str) -> list[str]:
        """The definitions of the name at the cursor, such as `kernels.py 0:0-0:8`."""
        params = types.DefinitionParams(**self.at(text))
        found = self.do(self.client.text_document_definition_async(params))
        return self.places(found if isinstance(found, list) else [])

    def references(self, text: str) -> list[str]:
        """Where the name at the cursor stands."""
        context = types.ReferenceContext(include_declaration=True)
        params = types.ReferenceParams(context=context, **self.at(text))
        return self.places(self.do(self.client.text_document_references_async(params)) or [])

    def places(self, found: Sequence[object]) -> list[str]:
        root = f"{self.folder.as_uri()}/"
        return [
            f"{place.uri.removeprefix(root)} {shown(place.range)}"
            for place in found
            if isinstance(place, types.Location)
        ]

    def formatted(self, text: str) -> str | None:
        """The text after formatting; None if nothing changes."""
        self.show(text)
        document = types.TextDocumentIdentifier(self.uri("ops.yaml"))
        options = types.FormattingOptions(tab_size=2, insert_spaces=True)
        params = types.DocumentFormattingParams(document, options)
        found = self.do(self.client.text_document_formatting_async(params))
        return apply(text, found) if found else None

    def outline(self, text: str) -> list[str]:
        """The symbols of a text, and with two spaces those below: the whole range, and for operators that of the name."""
        self.show(text)
        document = types.TextDocumentIdentifier(self.uri("ops.yaml"))
        asked = self.client.text_document_document_symbol_async(
            types.DocumentSymbolParams(document)
        )
        lines = []
        for one in self.do(asked) or []:
            assert isinstance(one, types.DocumentSymbol)
            lines.append(f"{one.name} {shown(one.range)} {shown(one.selection_range)}")
            lines += [f"  {inner.name} {shown(inner.range)}" for inner in one.children or []]
        return lines

    def rename(self, text: str, new: str) -> dict[str, str]:
        """The files after the kernel at the cursor has been renamed."""
        params = types.RenameParams(new_name=new, **self.at(text))
        return self.edited(self.do(self.client.text_document_rename_async(params)), text)

    def actions(self, text: str) -> dict[str, str]:
        """The code actions at the cursor: for each title, the text after the action."""
        at = self.at(text)["position"]
        params = types.CodeActionParams(
            types.TextDocumentIdentifier(self.uri("ops.yaml")),
            types.Range(at, at),
            types.CodeActionContext([]),
        )
        found = self.do(self.client.text_document_code_action_async(params)) or []
        return {
            one.title: self.edited(one.edit, text)["ops.yaml"]
            for one in found
            if isinstance(one, types.CodeAction)
        }

    def edited(self, edit: types.WorkspaceEdit | None, shown: str) -> dict[str, str]:
        texts = {}
        for uri, edits in (edit.changes or {}).items() if edit else ():
            name = uri.removeprefix(f"{self.folder.as_uri()}/")
            text = shown.replace(CURSOR, "") if name == "ops.yaml" else ""
            texts[name] = apply(text or (self.folder / name).read_text(), edits)
        return texts


def shown(where: types.Range) -> str:
    start, end = where.start, where.end
    return f"{start.line}:{start.character}-{end.line}:{end.character}"


def apply(text: str, edits: Any) -> str:
    """A text after edits whose columns are in UTF-16 units."""
    lines = [line.encode("utf-16-le") for line in text.split("\n")]
    for edit in sorted(edits, key=lambda one: one.range.start, reverse=True):
        start, end = edit.range.start, edit.range.end
        head, tail = lines[start.line][: 2 * start.character], lines[end.line][2 * end.character :]
        middle = edit.new_text.encode("utf-16-le")
        joined = (head + middle + tail).decode("utf-16-le").split("\n")
        lines[start.line : end.line + 1] = [line.encode("utf-16-le") for line in joined]
    return "\n".join(line.decode("utf-16-le") for line in lines)


@pytest.fixture(scope="module")
def editor(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Editor]:
    """An editor in a project whose schema file is `ops.yaml`."""
    folder = tmp_path_factory.mktemp("project").resolve()
    (folder / "torchgen_lite.toml").write_text(f'schema = ["ops.yaml"]\n{CONFIG}')
    (folder / "ops.yaml").write_text("")
    (folder / "kernels.py").write_text(KERNELS)
    editor = Editor(folder)
    editor.start()
    yield editor
    editor.stop()
