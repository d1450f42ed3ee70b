"""How answers are printed as Markdown, and as a page."""

import re
from pathlib import Path

from tests.browser import assert_picture, in_a_browser, title_of, wrong_with
from tests.devtools import Look
from torchgen_lite.cli.pages import Section, render_html, render_markdown

FINDING = ("operator", "what", "finding", "place", "what to do")
REMOVED = Section(
    "what breaks",
    [
        (
            f"aten::a_long_name_of_an_operator_{number}.out",
            "an operator was removed (TG350)",
            f"operator `f{number}` was removed, <b> & all",
            f"native_functions.yaml:{number}",
            "keep it, with `Tensor(a!) out`, or write it into `breaking.toml`",
        )
        for number in range(20)
    ],
    FINDING,
)
CAUSES = Section("", [("20 removed",)], ("cause",))


def test_markdown_shows_code_as_it_stands_and_no_html() -> None:
    rows = [("`a -> b`", "<b> & `"), ("`x | y`", "`<`<i>`")]
    assert render_markdown("A", [("", rows, ("one", "two"))]) == """## A

| one | two |
|---|---|
| `a -> b` | &lt;b&gt; &amp; ` |
| `x \\| y` | `<`&lt;i&gt;` |
"""


def test_a_page_shows_each_row_once_and_code_as_code() -> None:
    page = render_html("Review against `main`", [CAUSES, REMOVED, Section("nothing else", ())])
    assert "<title>Review against main - torchgen_lite</title>" in page
    assert "<h1>Review against <code>main</code></h1>" in page
    assert page.count("operator <code>f7</code> was removed, &lt;b&gt; &amp; all") == 1
    assert '<td class="code"><code>native_functions.yaml:7</code></td>' in page
    assert '<th scope="col">what to do</th>' in page
    assert "<h2>what breaks <span>20</span></h2>" in page and "<h2>nothing else</h2>" in page
    assert not re.search(r"src=|href=.(?!#)|https?://|@import|url\(", page)


SEARCH = """
<script>
const said = [document.getElementById("find").hidden];
search.value = "OUT _7.";
search.dispatchEvent(new Event("input"));
said.push(document.getElementById("count").textContent);
said.push(rows.filter(row => row.checkVisibility()).map(row => row.cells[0].textContent));
said.push([...document.querySelectorAll("h2")].filter(one => one.checkVisibility()).length);
document.title = JSON.stringify(said);
</script>
"""


@in_a_browser
def test_a_page_is_searched(tmp_path: Path) -> None:
    """The search finds words in any order, in any column and in any case, and a short page has none."""
    path = tmp_path / "page.html"
    path.write_text(render_html("A", [CAUSES, REMOVED, Section("nothing else", ())]) + SEARCH)
    name = "aten::a_long_name_of_an_operator_7.out"
    assert title_of(path.as_uri()) == [False, "1 of 21", [name], 1]
    path.write_text(render_html("A", [CAUSES]) + SEARCH)
    assert title_of(path.as_uri())[0] is True


@in_a_browser
def test_everybody_can_read_a_page(tmp_path: Path) -> None:
    page = render_html("20 breaking changes against `main`", [CAUSES, REMOVED])
    assert wrong_with(page, tmp_path) == []


@in_a_browser
def test_a_page_is_dark_where_pages_are(tmp_path: Path) -> None:
    path, picture = tmp_path / "page.html", tmp_path / "page.png"
    probe = "<script>document.title = JSON.stringify(getComputedStyle(document.body).backgroundColor)</script>"
    path.write_text(render_html("A", [REMOVED]) + probe)
    assert title_of(path.as_uri()) == "rgb(255, 255, 255)"
    assert title_of(path.as_uri(), Look(dark=True, screenshot=picture)) == "rgb(20, 24, 31)"
    assert_picture(picture)
