"""No text of the YAML becomes markup: in every parser, pages have the same tags as with harmless text."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest
from markdown import Markdown
from markdown_it import MarkdownIt

from tests.hostile.text import HOSTILE, MARK, Structure
from torchgen_lite.analysis.program import build_program
from torchgen_lite.diagnostics import Source
from torchgen_lite.loader.config.project import Config
from torchgen_lite.loader.formats.native_functions import load_native_functions
from torchgen_lite.pipeline import generate_all

HARMLESS = "Harmless words"
MARKUP = (
    f"# {MARK}",
    f"{MARK}\n    ===",
    f"- {MARK}",
    f"1. {MARK}",
    f"> {MARK}",
    f"*{MARK}* __{MARK}__ ~~{MARK}~~ ^^{MARK}^^ =={MARK}== ++{MARK}++ `{MARK}`",
    f"[{MARK}](http://{MARK}.org) ![{MARK}]({MARK}) https://{MARK}.org www.{MARK}.org x@{MARK}.org",
    f"[{MARK}]: http://{MARK}.org",
    f"a | {MARK}\n    --|--\n    b | c",
    f"!!! note\n        {MARK}",
    f"??? note\n        {MARK}",
    f'=== "{MARK}"\n        a',
    f"```{{code-block}} {MARK}\n    a\n    ```",
    f"{{ref}}`{MARK}` {{{{ {MARK} }}}} {{% raw %}} $x$ \\(x\\) \\[x\\] :smile: :{MARK}:",
    f"*[{MARK}]: x\n    [^1]: {MARK}\n    a[^1]",
    f"a {{: #{MARK} .{MARK} }}",
    f"a\n    {{: #{MARK} }}",
    f"({MARK})=\n    +++\n    % {MARK}\n    ---\n    a\n    :   {MARK}",
    f"--8<-- '{MARK}'\n    ;--8<-- {MARK}",
    f"&lt;b&gt; &amp;{MARK}; &#60;{MARK}&#62; <{MARK}> <!-- {MARK} --> <?{MARK}?>",
)
# Those that MkDocs has by itself, those that Material's pages recommend, and more that read inline text.
EXTENSIONS = (
    *("abbr", "admonition", "attr_list", "def_list", "fenced_code", "footnotes", "md_in_html"),
    *("tables", "toc", "pymdownx.arithmatex", "pymdownx.betterem", "pymdownx.caret"),
    *("pymdownx.critic", "pymdownx.details", "pymdownx.emoji", "pymdownx.keys"),
    *("pymdownx.inlinehilite", "pymdownx.magiclink", "pymdownx.mark", "pymdownx.smartsymbols"),
    *("pymdownx.snippets", "pymdownx.tabbed", "pymdownx.tasklist", "pymdownx.tilde"),
)
PARSERS: Mapping[str, tuple[str, Callable[[str], str]]] = {
    "html": (".html", lambda text: text),
    "markdown-it": (".md", MarkdownIt("gfm-like", {"linkify": False}).render),
    "python-markdown": (".md", lambda text: Markdown(extensions=EXTENSIONS).convert(text)),
}


def generated(text: str) -> dict[str, str]:
    """Pages with a text wherever the YAML and the configuration may have any."""
    entry = {"func": f"lib::f(Tensor x, str s={json.dumps(text)}) -> Tensor", "doc": text}
    block = f"Is said.\n\n{text}".replace("\n    ", "\n").replace("\n", "\n    ")
    source = Source(
        "ops.yaml",
        f"- {json.dumps(entry)}\n- func: lib::g(Tensor x) -> Tensor\n  doc: |\n    {block}\n",
    )
    functions, found = load_native_functions([source])
    assert [d for d in found if d.severity == "error"] == []
    options = {"docs": {"format": ["markdown", "html"], "title": text}}
    program = build_program(functions, Config(Path("nowhere"), target_options=options))
    result = generate_all(program, targets=["docs"])
    assert result.files
    return dict(result.files)


def structures(parser: str, files: Mapping[str, str]) -> dict[str, Structure]:
    ending, parse = PARSERS[parser]
    return {p: Structure(parse(t)) for p, t in files.items() if p.endswith(ending)}


@pytest.fixture(scope="module")
def harmless() -> dict[str, str]:
    return generated(HARMLESS)


@pytest.mark.parametrize("parser", PARSERS)
def test_the_tags_are_those_of_harmless_text(parser: str, harmless: dict[str, str]) -> None:
    usual = structures(parser, harmless)
    wrong = []
    for text in (*MARKUP, *(t for t in HOSTILE if t.isprintable())):
        for path, page in structures(parser, generated(text)).items():
            # Headings have identifiers made of their text, and paragraphs are as many as there are.
            tags, expected = (
                [
                    tag.partition(" ")[0] if tag[:2] == "h1" else tag
                    for tag in one.tags
                    if tag != "p"
                ]
                for one in (page, usual[path])
            )
            if tags != expected or page.others != usual[path].others:
                wrong.append(f"{path} with {text!r}: {set(tags) - set(expected)} {page.others}")
    assert wrong == []


@pytest.mark.parametrize("parser", PARSERS)
def test_readers_see_the_text(parser: str) -> None:
    for text in MARKUP:
        if "\n" not in text:
            pages = structures(parser, generated(text))
            seen = next(one.text for path, one in pages.items() if "/lib/g." in path)
            assert text in " ".join(seen.split())
