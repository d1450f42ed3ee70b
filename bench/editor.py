"""What typing in a file of many operators is like, with the language server that an editor starts.

    python bench/editor.py [--operators N] [--keys N]

Types characters, a tenth of a second apart, into a file without mistakes, and requests completions after each. Prints
how long a completion takes, and how long after the last character the mistake that they make is shown, including the
pause that the server waits for. Needs torchgen-lite-tools.
"""

from __future__ import annotations

import argparse
import asyncio
import statistics
import sys
import tempfile
import time
from pathlib import Path

from lsprotocol import types
from pygls.lsp.client import LanguageClient

ENTRY = """\
- func: mylib::op{0}(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor
  tags: pointwise
  dispatch:
    CPU: op{0}_cpu
    Meta: op{0}_meta
"""
TYPED = "- func: mylib::last(Tensr self) -> Tensor\n"
CONFIG = (
    'schema = ["ops.yaml"]\ntargets = ["torch-python"]\n[target.torch-python]\npackage = "ops"\n'
)


class Editor(LanguageClient):
    """A client that records when it received which diagnostics of the file."""

    def __init__(self) -> None:
        super().__init__("bench", "1")
        self.told: asyncio.Queue[tuple[float, tuple[object, ...]]] = asyncio.Queue()

        @self.feature(types.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS)
        def publish(params: types.PublishDiagnosticsParams) -> None:
            codes = tuple(one.code for one in params.diagnostics)
            self.told.put_nowait((time.perf_counter(), codes))


async def measure(folder: Path, text: str, keys: int) -> tuple[list[float], float, float]:
    """Seconds of each completion, of the first diagnostics, and of those of the mistake."""
    client, uri = Editor(), (folder / "ops.yaml").as_uri()
    await client.start_io(sys.executable, "-m", "torchgen_lite", "lsp", cwd=folder)
    await client.initialize_async(types.InitializeParams(types.ClientCapabilities()))
    client.initialized(types.InitializedParams())
    begin = time.perf_counter()
    item = types.TextDocumentItem(uri, "yaml", 0, text)
    client.text_document_did_open(types.DidOpenTextDocumentParams(item))
    opened = (await client.told.get())[0] - begin
    line, asked = text.count("\n"), []
    for column, character in enumerate(TYPED[:keys]):
        at = types.Position(line, column)
        change = types.TextDocumentContentChangePartial(types.Range(at, at), character)
        document = types.VersionedTextDocumentIdentifier(column + 1, uri)
        begin = time.perf_counter()
        client.text_document_did_change(types.DidChangeTextDocumentParams(document, [change]))
        place = types.Position(line, column + 1)
        params = types.CompletionParams(types.TextDocumentIdentifier(uri), place)
        await client.text_document_completion_async(params)
        asked.append(time.perf_counter() - begin)
        await asyncio.sleep(0.1)
    while True:
        when, codes = await client.told.get()
        if "TG202" in codes:
            break
    await client.shutdown_async(None)
    client.exit(None)
    await client.stop()
    return asked, opened, when - begin


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--operators", type=int, default=650)
    options = parser.parse_args()
    text = "".join(ENTRY.format(number) for number in range(options.operators))
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name).resolve()
        (folder / "torchgen_lite.toml").write_text(CONFIG)
        (folder / "ops.yaml").write_text(text)
        asked, opened, told = asyncio.run(measure(folder, text, len(TYPED)))
    print(f"# {options.operators} operators, {len(asked)} characters typed")
    print(f"from opening to the first diagnostics   {opened:7.3f} s")
    print(f"completion while typing, median         {statistics.median(asked):7.3f} s")
    print(f"completion while typing, slowest        {max(asked):7.3f} s")
    print(f"from the last character to diagnostics  {told:7.3f} s")
    return 0


if __name__ == "__main__":
    sys.exit(main())
