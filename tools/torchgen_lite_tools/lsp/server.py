"""The connection: receives texts, analyzes them in a background thread, and sends answers.

Note [Typing does not wait]
An analysis takes as long as `lint`. It starts after a short pause in typing, in its own thread,
so that edits are still read; if another edit arrives before it ends, it reports nothing. Requests
about a position wait for the analysis of the current text. Completion uses the last one instead.
"""

from __future__ import annotations

import asyncio
import logging
import traceback
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from lsprotocol import types
from pygls.exceptions import JsonRpcException, JsonRpcInvalidParams, JsonRpcInvalidRequest
from pygls.lsp.server import LanguageServer
from pygls.protocol import LanguageServerProtocol
from pygls.uris import to_fs_path

from torchgen_lite.diagnostics import Source, Span
from torchgen_lite.loader.formats.fmt import format_text
from torchgen_lite.pipeline import each_after_others, entry_reader
from torchgen_lite.version import __version__
from torchgen_lite_tools.lsp import diagnostics
from torchgen_lite_tools.lsp.analysis import Analysis, analyze, project_of
from torchgen_lite_tools.lsp.completion import complete
from torchgen_lite_tools.lsp.definition import definitions
from torchgen_lite_tools.lsp.hover import hover
from torchgen_lite_tools.lsp.outline import outline
from torchgen_lite_tools.lsp.places import Place, Units, find_place, offset_of, range_of
from torchgen_lite_tools.lsp.references import references
from torchgen_lite_tools.lsp.rename import CannotRename, rename, renamed_span

if TYPE_CHECKING:
    from pygls.server import ServerErrors

PAUSE = 0.2
"""The seconds without typing after which an analysis begins."""

_Answer = TypeVar("_Answer")


class _At(Protocol):
    """The parameters of a request about a position."""

    @property
    def text_document(self) -> types.TextDocumentIdentifier: ...
    @property
    def position(self) -> types.Position: ...


class Project:
    """The state of a project: the running analysis, the last one, and the files it reported on."""

    def __init__(self) -> None:
        self.task: asyncio.Task[None] | None = None
        self.latest: Analysis | None = None
        self.reported: set[Path] = set()


class _Protocol(LanguageServerProtocol):
    """Refuses what pygls drops, since an editor would wait for the answer: requests whose parameters
    cannot be read, and those after `shutdown`."""

    def structure_message(self, data: dict[str, Any]) -> Any:
        try:
            return super().structure_message(data)
        except JsonRpcException as error:
            if "method" in data and "id" in data:
                self._send_response(data["id"], error=error.to_response_error())
            raise

    def handle_message(self, message: Any) -> None:
        if self._shutdown and hasattr(message, "method") and hasattr(message, "id"):
            refused = JsonRpcInvalidRequest("the server is shutting down").to_response_error()
            self._send_response(message.id, error=refused)
        else:
            super().handle_message(message)


class _Unexpected(logging.Filter):
    """Leaves out of the log what pygls logs of a refused request: the editor is told why."""

    def filter(self, record: logging.LogRecord) -> bool:
        error = record.exc_info[1] if record.exc_info else None
        return not isinstance(error, JsonRpcException)


logging.getLogger("pygls.protocol.json_rpc").addFilter(_Unexpected())


class Server(LanguageServer):
    """A language server whose documents are schema files."""

    def __init__(self) -> None:
        sync = types.TextDocumentSyncKind.Incremental
        super().__init__("torchgen-lite", __version__, sync, protocol_cls=_Protocol)
        # One analysis at a time: a program computes its facts on demand, on one thread.
        self.worker = ThreadPoolExecutor(1)
        self.projects: dict[Path, Project] = {}

    def report_server_error(self, error: Exception, source: ServerErrors) -> None:
        """Log what is no answer to a request."""
        if not isinstance(error, JsonRpcException):
            super().report_server_error(error, source)

    @property
    def units(self) -> Units:
        return self.workspace.position_codec.client_num_units

    def project(self, uri: str) -> Project:
        """The project of a document, without an analysis if it isn't a file."""
        path = path_of(uri)
        if path:
            return self.projects.setdefault(project_of(path), Project())
        return Project()

    def changed(self, uri: str, pause: float) -> None:
        """Analyze a document's project, superseding a running analysis."""
        path = path_of(uri)
        if path is not None:
            project = self.project(uri)
            if project.task is not None:
                project.task.cancel()
            project.task = asyncio.create_task(self._analyze(project, path, pause))

    async def _analyze(self, project: Project, path: Path, pause: float) -> None:
        await asyncio.sleep(pause)
        try:
            analysis = await self.work(lambda texts: analyze(path, texts))
        except Exception:  # Report an internal error; the next analysis may succeed.
            text = traceback.format_exc()
            self.window_log_message(types.LogMessageParams(types.MessageType.Error, text))
            return
        if analysis is not None:
            project.latest = analysis
            self._report(project, analysis, path)

    def _report(self, project: Project, analysis: Analysis, path: Path) -> None:
        """Send the findings, and clear those of files that no longer have any."""
        by_file = diagnostics.publish(analysis, path, self.units)
        for gone in project.reported - set(by_file):
            by_file[gone] = []
        project.reported = {file for file, some in by_file.items() if some}
        for file, some in by_file.items():
            self.text_document_publish_diagnostics(
                types.PublishDiagnosticsParams(file.as_uri(), some)
            )

    async def work(self, run: Callable[[Mapping[Path, str]], _Answer]) -> _Answer:
        """Run a function in the background, on the current texts of open documents that are files."""
        opened = self.workspace.text_documents.items()
        texts = {path: document.source for uri, document in opened if (path := path_of(uri))}
        return await asyncio.get_running_loop().run_in_executor(self.worker, run, texts)

    async def analysis(self, uri: str) -> Analysis | None:
        """The analysis of a document's current text."""
        project = self.project(uri)
        while project.task is not None and not project.task.done():
            await asyncio.wait({project.task})
        return project.latest

    def source(self, document: types.TextDocumentIdentifier) -> Source:
        """The text of a document."""
        found = self.workspace.get_text_document(document.uri)
        return Source(found.path or "", found.source)

    def place(self, at: _At) -> Place:
        """The place of a position in a document."""
        source = self.source(at.text_document)
        return find_place(source, offset_of(source, at.position, self.units))

    async def answer(
        self, at: _At, find: Callable[[Analysis, Place], _Answer]
    ) -> tuple[Analysis, _Answer] | None:
        """The answer about a position, once its text is analyzed."""
        analysis = await self.analysis(at.text_document.uri)
        if analysis is None:
            return None
        place = self.place(at)
        return analysis, await self.work(lambda texts: find(analysis, place))


def path_of(uri: str) -> Path | None:
    """The file of a document; None if it isn't a file."""
    path = to_fs_path(uri) if uri.startswith("file:") else None
    return Path(path).resolve() if path else None


def create_server() -> Server:
    """A server that knows every feature."""
    server = Server()
    for method, feature in _FEATURES.items():
        server.feature(method, _OPTIONS.get(method))(feature)
    return server


async def _opened_or_closed(
    ls: Server, params: types.DidOpenTextDocumentParams | types.DidCloseTextDocumentParams
) -> None:
    ls.changed(params.text_document.uri, 0)


async def _changed(ls: Server, params: types.DidChangeTextDocumentParams) -> None:
    ls.changed(params.text_document.uri, PAUSE)


async def _written(ls: Server, params: object) -> None:
    """A file was written, which may be none that is open: a configuration, a kernel module."""
    for uri in list(ls.workspace.text_documents):
        ls.changed(uri, 0)


async def _hover(ls: Server, params: types.HoverParams) -> types.Hover | None:
    found = await ls.answer(params, hover)
    if found is None or found[1] is None:
        return None
    return types.Hover(types.MarkupContent(types.MarkupKind.Markdown, found[1]))


async def _complete(ls: Server, params: types.CompletionParams) -> list[types.CompletionItem]:
    uri = params.text_document.uri
    latest = ls.project(uri).latest or await ls.analysis(uri)
    if latest is not None:
        return list(complete(latest, ls.place(params)))
    return []


async def _definition(ls: Server, params: types.DefinitionParams) -> list[types.Location]:
    found = await ls.answer(params, definitions)
    if found:
        return [diagnostics.location(found[0], s, ls.units) for s in found[1]]
    return []


async def _references(ls: Server, params: types.ReferenceParams) -> list[types.Location]:
    is_wanted = params.context.include_declaration
    found = await ls.answer(params, lambda one, place: references(one, place, is_wanted))
    if found:
        return [diagnostics.location(found[0], s, ls.units) for s in found[1]]
    return []


async def _outline(ls: Server, params: types.DocumentSymbolParams) -> list[types.DocumentSymbol]:
    return outline(ls.source(params.text_document), ls.units)


async def _format(ls: Server, params: types.DocumentFormattingParams) -> list[types.TextEdit]:
    """What `fmt` writes, as one edit; nothing if the file has mistakes or is as it should be."""
    analysis = await ls.analysis(params.text_document.uri)
    if analysis is None:
        return []
    source = ls.source(params.text_document)
    program = analysis.program
    path = Path(source.path).resolve()

    def formatted(texts: object) -> str:
        read, _ = entry_reader(program.config)
        for other, after_others in each_after_others(read, program.sources):
            if analysis.path_of(other).resolve() == path:
                read = after_others
                break
        text, _ = format_text(source.text, source.path, read)
        return text

    text = await ls.work(formatted)
    if text == source.text:
        return []
    return [types.TextEdit(range_of(Span(source, 0, len(source.text)), ls.units), text)]


async def _prepare_rename(ls: Server, params: types.PrepareRenameParams) -> types.Range | None:
    try:
        found = await ls.answer(params, renamed_span)
    except CannotRename:
        return None
    return range_of(found[1], ls.units) if found else None


async def _rename(ls: Server, params: types.RenameParams) -> types.WorkspaceEdit | None:
    analysis = await ls.analysis(params.text_document.uri)
    if analysis is None:
        return None
    place = ls.place(params)
    try:
        found = await ls.work(lambda texts: rename(analysis, place, params.new_name, texts))
    except CannotRename as error:
        raise JsonRpcInvalidParams(str(error)) from None
    return diagnostics.workspace_edit(analysis, found, ls.units)


async def _code_actions(ls: Server, params: types.CodeActionParams) -> list[types.CodeAction]:
    analysis = await ls.analysis(params.text_document.uri)
    path = path_of(params.text_document.uri)
    if analysis is None or path is None:
        return []
    return diagnostics.code_actions(analysis, path, params.range, ls.units)


_FEATURES: dict[str, Callable[..., object]] = {
    types.TEXT_DOCUMENT_DID_OPEN: _opened_or_closed,
    types.TEXT_DOCUMENT_DID_CHANGE: _changed,
    types.TEXT_DOCUMENT_DID_CLOSE: _opened_or_closed,
    types.TEXT_DOCUMENT_DID_SAVE: _written,
    types.WORKSPACE_DID_CHANGE_WATCHED_FILES: _written,
    types.TEXT_DOCUMENT_HOVER: _hover,
    types.TEXT_DOCUMENT_COMPLETION: _complete,
    types.TEXT_DOCUMENT_DEFINITION: _definition,
    types.TEXT_DOCUMENT_REFERENCES: _references,
    types.TEXT_DOCUMENT_DOCUMENT_SYMBOL: _outline,
    types.TEXT_DOCUMENT_FORMATTING: _format,
    types.TEXT_DOCUMENT_PREPARE_RENAME: _prepare_rename,
    types.TEXT_DOCUMENT_RENAME: _rename,
    types.TEXT_DOCUMENT_CODE_ACTION: _code_actions,
}
_OPTIONS: dict[str, object] = {
    types.TEXT_DOCUMENT_COMPLETION: types.CompletionOptions(
        trigger_characters=[" ", ":", ",", "("]
    ),
    types.TEXT_DOCUMENT_RENAME: types.RenameOptions(prepare_provider=True),
    types.TEXT_DOCUMENT_CODE_ACTION: types.CodeActionOptions(
        [types.CodeActionKind.QuickFix, types.CodeActionKind.SourceFixAll]
    ),
}
