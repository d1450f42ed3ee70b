"""The page of `table --html`."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from torchgen_lite.cli.tables.explain import Registrations, table
from torchgen_lite.cli.tables.html import ORIGINS, render_html

OPERATORS = [
    Registrations("ns::a", {"CPU": "a_cpu"}, {"Tracer": "trace"}),
    Registrations("ns::b", {"CPU": "</script><b>"}, {"Tracer": "trace"}),
    Registrations("ns::c", {"CompositeImplicitAutograd": "c"}, {"Tracer": "trace"}),
]


def data_of(page: str) -> dict[str, Any]:
    match = re.search(r'<script type="application/json" id="data">(.*?)</script>', page, re.S)
    assert match is not None
    loaded: dict[str, Any] = json.loads(match[1])
    return loaded


def test_the_data_of_the_page() -> None:
    data = data_of(render_html(OPERATORS, "operators"))
    assert data["operators"] == [
        ["ns::a", 0, {"CPU": "a_cpu"}],
        ["ns::b", 0, {"CPU": "</script><b>"}],
        ["ns::c", 1, {"CompositeImplicitAutograd": "c"}],
    ]
    for operator, (_, pattern, _) in zip(OPERATORS, data["operators"]):
        row = data["patterns"][pattern]
        cells = table(operator)
        assert [ORIGINS[int(code)] for code in row["origin"]] == [cell.origin for cell in cells]
        assert [int(code) for code in row["step"]] == [cell.step for cell in cells]
        assert row["source"] == [0 if cell.source == cell.key else cell.source for cell in cells]


def test_the_page_needs_nothing_but_itself() -> None:
    page = render_html(OPERATORS, "a <b> & c")
    assert "<title>a &lt;b> &amp; c</title>" in page
    assert not re.search(r"(src|href)=|https?://|@import|url\(", page)
    assert page.count("</script>") == 2
    assert "@TITLE@" not in page and "@DATA@" not in page


def test_the_page_is_the_same_each_time() -> None:
    assert render_html(OPERATORS, "t") == render_html(list(OPERATORS), "t")


CHROMIUM = (
    shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
)
USE_THE_PAGE = """
<script>
const box = document.getElementById("search");
box.value = "ns::c";
box.dispatchEvent(new Event("input"));
document.querySelector('.cell[title^="AutogradCPU"], .cell[title^="AutogradOther"]').click();
</script>
"""


@pytest.mark.skipif(CHROMIUM is None, reason="needs Chromium")
def test_searching_and_clicking_in_a_browser(tmp_path: Path) -> None:
    assert CHROMIUM is not None
    page = tmp_path / "table.html"
    page.write_text(render_html(OPERATORS, "operators") + USE_THE_PAGE)
    flags = [
        "--headless=new",
        "--no-sandbox",
        "--disable-gpu",
        "--virtual-time-budget=2000",
        "--dump-dom",
    ]
    result = subprocess.run(
        [CHROMIUM, *flags, page.as_uri()], capture_output=True, text=True, check=True, timeout=120
    )
    assert ">1 of 3 operators<" in result.stdout
    aside = re.search(r"<aside.*?</aside>", result.stdout, re.S)
    assert aside is not None
    assert re.search(r"<h2>ns::c at AutogradOther .. AutogradNestedTensor \(18\)</h2>", aside[0])
    assert (
        "<div>math kernel: <code>c</code></div><div>registered at CompositeImplicitAutograd</div>"
        in aside[0]
    )
    assert '<li class="held">yes: CompositeImplicitAutograd has a kernel' in aside[0]
    assert aside[0].count("<li") == 5
