"""A page as Chromium shows it: what programs see of it, a picture, and an audit."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from collections.abc import Callable, Sequence
from functools import cache
from html import unescape
from importlib import resources
from pathlib import Path
from typing import Any

import pytest

from tests.devtools import Browser, Look

CHROMIUM = (
    shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
)
LOOK = Look()
FLAGS = ["--headless=new", "--no-sandbox", "--disable-gpu", "--virtual-time-budget=2000"]
DARK = "--force-dark-mode"
# As wide as a phone, and as a screen.
WIDTHS = (390, 1280)
# What a page that is audited tells the one that has it in a frame: by how much it is too wide, and what axe finds.
AUDIT = """
<script>AXE</script>
<script>
addEventListener("load", async () => {
  // Scripts of the page may still change it.
  await new Promise(done => setTimeout(done, 1000));
  const { violations } = await axe.run();
  const found = violations.map(rule => [rule.id, rule.nodes.length, rule.nodes[0].html.slice(0, 200)]);
  const wide = document.documentElement.scrollWidth - innerWidth;
  parent.postMessage(wide > 0 ? [...found, ["overflow", wide, ""]] : found, "*");
});
</script>
"""
# A window can't be as narrow as a phone, but a frame can.
AUDITS = """
<!doctype html>
<meta charset="utf-8">
<meta name="color-scheme" content="light dark">
<body>
<script>
const found = [], left = PAGES.flatMap(page => WIDTHS.map(width => [page, width]));
const frame = document.body.appendChild(document.createElement("iframe"));
function next() {
  if (!left.length) { document.title = JSON.stringify(found); return; }
  frame.style.cssText = `height: 900px; width: ${left[0][1]}px`;
  frame.src = left[0][0];
}
addEventListener("message", ({data}) => {
  const [page, width] = left.shift();
  found.push(...data.map(one => [page, width, ...one]));
  next();
});
next();
</script>
"""
_skip = pytest.mark.skipif(CHROMIUM is None, reason="needs Chromium")


def in_a_browser(test: Callable[..., None]) -> Callable[..., None]:
    """A test that is run where there is Chromium, on one Python."""
    return pytest.mark.tools(_skip(test))


@cache
def _browser() -> Browser:
    assert CHROMIUM is not None
    return Browser(CHROMIUM)


def show(address: str, look: Look = LOOK) -> str:
    """The page after its scripts have run, as HTML."""
    return _browser().show(address, look)


def assert_picture(path: Path) -> None:
    """A PNG with something on it."""
    assert path.read_bytes().startswith(b"\x89PNG") and path.stat().st_size > 5000


def title_of(address: str, look: Look = LOOK) -> Any:
    """The title of the page after its scripts have run, which they set to what they found, as JSON."""
    return _title(show(address, look))


def title_of_served(address: str, *flags: str) -> Any:
    """The same of a page that asks a server for more while its scripts run, by a Chromium of its own: the protocol's
    clock stands still for as long as a worker's request does.
    """
    assert CHROMIUM is not None
    command = [CHROMIUM, *FLAGS, "--dump-dom", *flags, address]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=300)
    return _title(done.stdout)


def _title(dom: str) -> Any:
    title = re.search("<title>(.*?)</title>", dom, re.DOTALL)
    assert title is not None
    return json.loads(unescape(title[1]))


def audited(page: str) -> str:
    """The page with a script that audits it for those who cannot see it, or not well."""
    folder = resources.files(pytest.importorskip("axe_core_python", reason="needs axe"))
    script = AUDIT.replace("AXE", (folder / "axe.min.js").read_text("utf-8"), 1)
    return page.replace("</body>", f"{script}</body>")


def audits(pages: Sequence[str]) -> str:
    """A page whose title becomes what is wrong with each of these pages, which are audited ones, at each width."""
    return AUDITS.replace("PAGES", json.dumps(pages)).replace("WIDTHS", json.dumps(WIDTHS))


def wrong_with(page: str, folder: Path) -> list[Any]:
    """What is wrong with a page in light and in dark, on a phone and on a screen."""
    (folder / "audited.html").write_text(audited(page), "utf-8")
    path = folder / "audits.html"
    path.write_text(audits(["audited.html"]), "utf-8")
    light = Look(1300, 1000, milliseconds=60_000)
    dark = light._replace(dark=True)
    return [*title_of(path.as_uri(), light), *title_of(path.as_uri(), dark)]
