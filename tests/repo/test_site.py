"""The site of docs/: it builds without a warning, needs nothing from elsewhere, and is looked at in a browser."""

from __future__ import annotations

import functools
import os
import re
import subprocess
import sys
import threading
from collections.abc import Iterator
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from tests.browser import DARK, assert_picture, audited, audits, in_a_browser, title_of_served
from tests.conftest import ROOT, SOURCES

pytest.importorskip("mkdocs", reason="needs the extra `docs`")
pytest.importorskip("material", reason="needs the extra `docs`")
# They share the site, which takes seconds to build.
pytestmark = pytest.mark.xdist_group("site")


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site")
    done = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(folder)],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(SOURCES), "NO_MKDOCS_2_WARNING": "1"},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0 and "WARNING" not in done.stderr, done.stderr
    return folder


def test_every_page_is_on_it(site: Path) -> None:
    pages = {path.parent.relative_to(site).as_posix() for path in site.rglob("index.html")}
    assert {path.stem for path in (ROOT / "docs").glob("*.md")} <= pages
    assert {"architecture", "changelog", "contributing", "operators", "playground"} <= pages
    assert {"operators/aten/add.Tensor", "operators/aten/_softmax"} <= pages


def test_it_needs_nothing_from_elsewhere(site: Path) -> None:
    page = (site / "index.html").read_text("utf-8")
    links = re.findall(r"<(?:script|img|link)\b[^>]*?\s(?:src|href)=\"([^\"]+)\"", page)
    assert len(links) > 5 and not [link for link in links if "//" in link]


def test_it_has_the_look_of_all_pages(site: Path) -> None:
    look = (ROOT / "torchgen_lite" / "copied" / "docs" / "look.css").read_bytes()
    for folder in (site, site / "playground"):
        assert (folder / "look.css").read_bytes() == look
        assert 'href="look.css"' in (folder / "index.html").read_text("utf-8")


def test_links_are_those_of_the_repository() -> None:
    from mkdocs_hooks import _with_links

    text = "[a](docs/cli.md#b) [b](ARCHITECTURE.md) [c](examples/tour.py) [d](https://x.org)\n```\n[e](docs/f.md)\n```\n"
    said = "[a](cli.md#b) [b](architecture.md) {} [d](https://x.org)\n```\n[e](docs/f.md)\n```\n"
    assert "".join(_with_links(text, "index.md", None)) == said.format("c")
    there = "[c](https://x.org/me/lib/blob/main/examples/tour.py)"
    assert "".join(_with_links(text, "index.md", "https://x.org/me/lib/")) == said.format(there)
    assert "".join(_with_links("[a](../README.md)", "cli.md", None)) == "[a](index.md)"


def test_pages_are_edited_where_the_repository_is() -> None:
    from mkdocs.config import load_config
    from mkdocs.structure.files import File
    from mkdocs.structure.pages import Page

    def edited(path: str, **settings: str) -> str | None:
        config = load_config(str(ROOT / "mkdocs.yml"), **settings)
        file = File(path, config.docs_dir, config.site_dir, use_directory_urls=True)
        return Page(None, file, config).edit_url

    [uri] = re.findall(r"`edit_uri: (.*?)`", (ROOT / "RELEASING.md").read_text())
    there = {"repo_url": "https://github.com/me/lib", "edit_uri": uri}
    assert edited("cli.md", **there) == "https://github.com/me/lib/edit/main/docs/cli.md"
    assert edited("cli.md") is None


PROBE = """
<img src="/wait" alt="">
<script>
// Timers stand still while the image is awaited.
const found = new MutationObserver(() => {
  if (!document.querySelector(".md-search-result__link")) return;
  found.disconnect();
  fetch("/found");
});
found.observe(document.documentElement, {childList: true, subtree: true});
window.addEventListener("load", () => {
  const field = document.querySelector("[data-md-component=search-query]");
  const links = [...document.querySelectorAll(".md-search-result__link")];
  const fits = document.documentElement.scrollWidth <= innerWidth;
  document.title = JSON.stringify([fits, getComputedStyle(document.body).backgroundColor,
    field.value, links.map(link => new URL(link.href).pathname)]);
});
</script>
"""


AUDITED = [
    # One page of each kind: prose, commands, tables, consoles, an index, a code, operators.
    "",
    "cli/",
    "schema/",
    "configuration/",
    "tutorial-operators/",
    "diagnostics/TG202/",
    "operators/aten/add.Tensor/",
]


class Handler(SimpleHTTPRequestHandler):
    """Serves the site. Pages have a probe, which holds the load event until the search has answered, or an audit."""

    searches = False
    found = threading.Event()

    def do_GET(self) -> None:
        address, _, query = self.path.partition("?")
        path = Path(self.translate_path(address))
        if self.path == "/wait":
            if self.searches:
                self.found.wait(200)
            self.send_error(404)
        elif self.path == "/found":
            self.found.set()
            self.send_error(404)
        elif address == "/audits":
            pages = [f"/{page}?audit" for page in AUDITED]
            self.send(audits(pages), "text/html; charset=utf-8")
        elif (path / "index.html").is_file():
            text = (path / "index.html").read_text("utf-8")
            probed = text.replace("</body>", f"{PROBE}</body>")
            self.send(audited(text) if query == "audit" else probed, "text/html; charset=utf-8")
        else:
            super().do_GET()

    def send(self, text: str, kind: str) -> None:
        body = text.encode()
        self.send_response(200)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *arguments: object) -> None:
        pass


@pytest.fixture(scope="module")
def server(site: Path) -> Iterator[str]:
    handler = functools.partial(Handler, directory=str(site))
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


@in_a_browser
@pytest.mark.parametrize(
    ("page", "width", "dark"),
    [("operators/aten/add.Tensor/", 480, True), ("configuration/", 1000, False)],
)
def test_it_fits_the_window(server: str, tmp_path: Path, page: str, width: int, dark: bool) -> None:
    picture = tmp_path / "page.png"
    flags = [f"--window-size={width},900", f"--screenshot={picture}", *([DARK] if dark else [])]
    fits, paper, _, _ = title_of_served(f"{server}/{page}", *flags)
    assert fits
    assert (paper == "rgb(255, 255, 255)") is not dark
    assert_picture(picture)


@in_a_browser
def test_the_search(server: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Handler, "searches", True)
    picture = tmp_path / "page.png"
    flags = ["--window-size=1600,900", f"--screenshot={picture}"]
    fits, _, query, found = title_of_served(f"{server}/?q=fallthrough", *flags)
    assert fits and query == "fallthrough"
    assert "/runtime/" in found, found
    assert_picture(picture)


@in_a_browser
@pytest.mark.parametrize("flags", [[], [DARK]], ids=["light", "dark"])
def test_everybody_can_read_it(server: str, flags: list[str]) -> None:
    pytest.importorskip("axe_core_python", reason="needs axe")
    flags = ["--window-size=1300,1000", "--virtual-time-budget=200000", *flags]
    assert title_of_served(f"{server}/audits", *flags) == []
