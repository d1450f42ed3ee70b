"""What the site has beside the files of docs/: pages from elsewhere in the repository, one for each diagnostic code
among them, the reference of our operators, the look, and the playground.

Links of a page are those of its file in the repository. One that leads to a file which is no page leads to the repository
where `repo_url` says where that is, and is only its text otherwise.
"""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from posixpath import dirname, join, normpath, relpath

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

from torchgen_lite import generate, load
from torchgen_lite.diagnostics import code_names, read_code

ROOT = Path(__file__).parent
# Pages by the file that they are from.
FROM_ROOT = {
    "README.md": "index.md",
    "ARCHITECTURE.md": "architecture.md",
    "CHANGELOG.md": "changelog.md",
    "CONTRIBUTING.md": "contributing.md",
}
# The pages of diagnostic codes, which `explain` reads too.
OF_CODES = {
    f"torchgen_lite/diagnostics/codes/{name}.md": f"diagnostics/{name}.md" for name in code_names()
}
LOOK = "torchgen_lite/copied/docs/look.css"
PLAYGROUND = {"docs/playground/README.md": "playground/index.html"}
PAGES = {**FROM_ROOT, **OF_CODES, **PLAYGROUND}
OPERATORS = "operators"
FENCE = re.compile(r"^( *```.*?^ *```)", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"(!?)\[([^\]]*)\]\(([^)\s]+)\)")


def on_files(files: Files, config: MkDocsConfig) -> Files:
    look = {"look.css": (ROOT / LOOK).read_text("utf-8")}
    for path, text in {**_pages_from_root(), **_codes(), **_operators(), **look}.items():
        files.append(File.generated(config, path, content=text))
    return files


def on_post_build(config: MkDocsConfig) -> None:
    """The playground, with Pyodide if `npm ci` has been run there."""
    script = ROOT / "docs" / "playground" / "build.py"
    subprocess.run([sys.executable, script, Path(config.site_dir) / "playground"], check=True)


def _pages_from_root() -> dict[str, str]:
    return {page: (ROOT / path).read_text("utf-8") for path, page in FROM_ROOT.items()}


def _codes() -> dict[str, str]:
    """The pages of diagnostic codes, with a heading in place of the front matter."""
    return {OF_CODES[path]: _code_page(path) for path in OF_CODES}


def _code_page(path: str) -> str:
    code = read_code(Path(path).stem)
    _, _, text = (ROOT / path).read_text("utf-8").split("---\n", 2)
    where = f" The bad example needs more: it runs {code.where}." if code.where else ""
    return f"# {code.code}: {code.title}\n\n*{code.severity.capitalize()}, since {code.since}.*{where}\n{text}"


def _operators() -> dict[str, str]:
    """The pages of target `docs` for the operators of this repository."""
    program = load(root=ROOT)
    options = {"docs": {"folder": OPERATORS, "title": "Reference operators"}}
    options = {**program.config.target_options, **options}
    config = replace(program.config, target_options=options)
    return generate(replace(program, config=config), targets=["docs"])


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    uri = page.file.src_uri
    if uri.startswith(f"{OPERATORS}/"):
        # There are so many that a search would find nothing else.
        page.meta["search"] = {"exclude": uri != f"{OPERATORS}/index.md"}
        return markdown
    if uri == "index.md":
        # The first page has its room for what it says.
        page.meta["hide"] = ["toc"]
    return "".join(_with_links(markdown, uri, config.repo_url))


def on_post_page(output: str, page: Page, config: MkDocsConfig) -> str:
    """What the theme leaves out for readers who use a keyboard or listen: what scrolls takes the focus, a dialog has a name."""
    for part in ("<pre><span></span><code", "<table"):
        output = output.replace(f"{part}>", f'{part} tabindex="0">')
    return output.replace('role="dialog">', 'role="dialog" aria-label="Search">')


def _with_links(markdown: str, uri: str, repository: str | None) -> Iterator[str]:
    """The text with the links of the site; what is in fences stays as it is."""
    origin = {page: path for path, page in PAGES.items()}.get(uri, f"docs/{uri}")

    def link(match: re.Match[str]) -> str:
        mark, text, target = match.groups()
        path, hash, anchor = target.partition("#")
        if "://" in target or not path:
            return match[0]
        file = normpath(join(dirname(origin), path))
        there = PAGES.get(file) or (file[5:] if file.startswith("docs/") else "")
        if there:
            return f"{mark}[{text}]({relpath(there, dirname(uri) or '.')}{hash}{anchor})"
        return f"[{text}]({repository.rstrip('/')}/blob/main/{file})" if repository else text

    for part in FENCE.split(markdown):
        yield part if FENCE.match(part) else LINK.sub(link, part)
