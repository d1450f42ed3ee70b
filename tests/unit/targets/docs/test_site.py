"""The site of target `docs` in a browser."""

from __future__ import annotations

import json
import re
from html import unescape
from pathlib import Path
from typing import Any

import pytest

from tests.browser import LOOK, assert_picture, in_a_browser, show
from tests.devtools import Look
from torchgen_lite import load
from torchgen_lite.loader.config.project import Config
from torchgen_lite.pipeline import generate_all

OPS = """\
- func: lib::addmm(Tensor self, Tensor mat1, Tensor mat2) -> Tensor
  doc: A product, and a sum.
- func: lib::mm(Tensor self, Tensor mat2) -> Tensor
  dispatch:
    CPU: mm_cpu_with_a_name_that_is_long_enough_not_to_fit_into_any_cell_of_a_narrow_window
    CompositeExplicitAutograd: mm
- func: lib::mm.out(Tensor self, Tensor mat2, *, Tensor(a!) out) -> Tensor(a!)
- func: other::sum(Tensor self) -> Tensor
"""


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site")
    (folder / "native_functions.yaml").write_text(OPS)
    config = Config(folder, target_options={"docs": {"format": "html", "folder": "."}})
    for path, text in generate_all(load(config=config), targets=["docs"]).files.items():
        (folder / path).parent.mkdir(exist_ok=True)
        (folder / path).write_text(text)
    return folder


FOUND = {
    "": (["addmm", "mm", "mm.out", "sum"], []),
    "mm": (["addmm", "mm", "mm.out"], ["mm"]),
    "SUM": (["addmm", "sum"], ["sum"]),
    "mm.out": (["mm.out"], ["mm.out"]),
    "lib:: product": (["addmm"], ["addmm"]),
    "nothing": ([], []),
}


def scripted(page: Path, script: str, query: str = "", look: Look = LOOK) -> Any:
    """The result of a script that runs after the page has been loaded."""
    probe = page.with_name(f"probe-{page.name}")
    script = (
        f"<script type=module>document.title = JSON.stringify((() => {{{script}}})());</script>"
    )
    probe.write_text(page.read_text().replace("</body>", f"{script}</body>"))
    title = re.search("<title>(.*?)</title>", show(probe.as_uri() + query, look))
    assert title is not None
    return json.loads(unescape(title[1]))


@in_a_browser
def test_the_search(site: Path) -> None:
    script = f"""
    const field = document.querySelector("input");
    const names = selector => [...document.querySelectorAll(selector)].map(name => name.textContent);
    const said = {{ first: [field.value, names("li:not([hidden]) code")] }};
    for (const query of {json.dumps(list(FOUND))}) {{
      field.value = query;
      field.dispatchEvent(new Event("input"));
      said[query] = [names("li:not([hidden]) code"), names(".best code")];
      if (names("#found")[0] !== (query ? `${{said[query][0].length}} found` : "")) said.wrong = query;
    }}
    return said;
    """
    said = scripted(site / "index.html", script, "?q=sum")
    assert said.pop("first") == ["sum", ["addmm", "sum"]]
    assert said == {query: list(both) for query, both in FOUND.items()}


def test_pages_lead_to_the_search(site: Path) -> None:
    """The search form works without scripts."""
    page = (site / "lib" / "mm.html").read_text()
    assert '<form action="../index.html" role="search">' in page and 'name="q"' in page


@in_a_browser
@pytest.mark.parametrize(
    ("page", "width", "dark"),
    [("index.html", 480, False), ("lib/mm.html", 480, True), ("lib/mm.html", 1600, False)],
)
def test_it_fits_the_window(site: Path, tmp_path: Path, page: str, width: int, dark: bool) -> None:
    script = """
    return [document.documentElement.scrollWidth <= innerWidth, getComputedStyle(document.body).backgroundColor];
    """
    picture = tmp_path / "page.png"
    said = scripted(site / page, script, "", Look(width, 800, dark, screenshot=picture))
    assert said == [True, "rgb(20, 24, 31)" if dark else "rgb(255, 255, 255)"]
    assert_picture(picture)
