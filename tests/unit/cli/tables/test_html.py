"""The page of `table --html`."""

from __future__ import annotations

import json
import re
from html import unescape
from pathlib import Path
from typing import Any

import pytest

from tests.browser import LOOK, assert_picture, in_a_browser, show, wrong_with
from tests.devtools import Look
from torchgen_lite.analysis.computed_table import FALLBACK, Registrations, table
from torchgen_lite.cli.tables.html import ORIGINS, Before, Details, render_html

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
        ["ns::a", 0, [0]],
        ["ns::b", 0, [1]],
        ["ns::c", 1, [2]],
    ]
    assert data["labels"] == ["a_cpu", "</script><b>", "c"]
    for operator, (_, pattern, _) in zip(OPERATORS, data["operators"]):
        row = data["patterns"][pattern]
        assert row["kernels"] == list(operator.kernels)
        cells = table(operator)
        assert [ORIGINS[int(code)] for code in row["origin"]] == [cell.origin for cell in cells]
        assert [int(code) for code in row["step"]] == [cell.step for cell in cells]
        sources = [row["kernels"][place] if place >= 0 else "" for place in row["source"]]
        assert sources == ["" if cell.origin == FALLBACK else cell.source for cell in cells]


def test_the_page_needs_nothing_but_itself() -> None:
    page = render_html(OPERATORS, "a <b> & c")
    assert "<title>a &lt;b&gt; &amp; c - torchgen_lite</title>" in page
    assert not re.search(r"src=|href=.(?!#)|https?://|@import|url\(", page)
    assert page.count("</script>") == 4
    assert "@TITLE@" not in page and "@DATA@" not in page


def test_the_page_is_the_same_each_time() -> None:
    assert render_html(OPERATORS, "t") == render_html(list(OPERATORS), "t")


SEARCH = """
const type = (id, text) => {
  byId(id).value = text;
  byId(id).dispatchEvent(new Event("input"));
};
const names = () => [...document.querySelectorAll(".row:not([aria-hidden]) .name")].map(name => name.textContent).join(" ");
const heads = () => [...document.querySelectorAll("#head button")].map(head => head.textContent).join(" ");
const press = origin => [...document.querySelectorAll("#legend button")].find(b => b.textContent === origin).click();
"""


def browse(page: str, folder: Path, script: str = "", hash: str = "", look: Look = LOOK) -> str:
    """The DOM of the page after a script has run in it; the script pushes its results to `said`."""
    path = folder / "table.html"
    script = f"<script>{{{SEARCH}const said = [];\n{script}\ndocument.title = JSON.stringify(said);}}</script>"
    path.write_text(page + script)
    return show(f"{path.as_uri()}{hash}", look)


def said(page: str, folder: Path, script: str, hash: str = "", look: Look = LOOK) -> list[Any]:
    title = re.search("<title>(.*?)</title>", browse(page, folder, script, hash, look))
    assert title is not None
    values: list[Any] = json.loads(unescape(title[1]))
    return values


def panel(dom: str) -> str:
    aside = re.search(r"<aside.*?</aside>", dom, re.S)
    assert aside is not None
    return aside[0]


SEVERAL = [
    Registrations("lib::matmul", {"CPU": "matmul_cpu"}, {}),
    Registrations("aten::add_mm", {"CPU": "mm_helper", "CUDA": "b"}, {}),
    Registrations("aten::mm.out", {"CPU": "mm_out", "Meta": "m"}, {}),
    Registrations("aten::mm", {"CompositeImplicitAutograd": "c"}, {}),
]


@in_a_browser
def test_searching_and_clicking(tmp_path: Path) -> None:
    script = """
    type("search", "ns::c");
    document.querySelector('.cell[title^="AutogradCPU"], .cell[title^="AutogradOther"]').click();
    """
    dom = browse(render_html(OPERATORS, "operators"), tmp_path, script)
    assert ">1 of 3 operators<" in dom
    aside = panel(dom)
    assert ">ns::c</a> at AutogradOther .. AutogradNestedTensor (18)</h2>" in aside
    assert (
        "<div>CompositeImplicitAutograd: <code>c</code></div><div>registered at CompositeImplicitAutograd</div>"
        in aside
    )
    assert '<li class="held">yes: CompositeImplicitAutograd has a kernel' in aside
    assert aside.count("<li") == 5


@in_a_browser
def test_whose_a_cell_is(tmp_path: Path) -> None:
    """An author's kernel over those of PyTorch is marked, in the grid and where a cell is explained."""
    one = Registrations(
        "aten::relu", {"CPU": "relu", "PrivateUse1": "mine"}, {}, own=frozenset({"PrivateUse1"})
    )
    script = """
    const titles = [...document.querySelectorAll(".cell")].map(cell => cell.title);
    said.push(titles.filter(title => title.endsWith(")")));
    said.push([...document.querySelectorAll(".cell.yours")].length);
    document.querySelector(".cell.yours").click();
    said.push(byId("why").textContent.includes("kernel (yours): mine"));
    """
    assert said(render_html([one], "operators"), tmp_path, script) == [
        ["CPU: kernel (PyTorch's)", "PrivateUse1: kernel (yours)"],
        1,
        True,
    ]


@in_a_browser
def test_filters(tmp_path: Path) -> None:
    script = """
    said.push(names());
    type("search", "mm");
    said.push(names());
    type("search", "");
    type("namespace", "lib");
    said.push(names(), byId("count").textContent);
    type("namespace", "");
    type("keys", "cpu");
    said.push(heads());
    type("keys", "cuda meta");
    said.push(heads());
    type("keys", "Meta");
    press("kernel");
    said.push(names());
    press("kernel");
    said.push(names());
    document.querySelector("#head button").click();
    said.push(byId("keys").value);
    said.push([...byId("namespace").options].map(option => option.textContent));
    """
    assert said(render_html(SEVERAL, "operators"), tmp_path, script) == [
        "aten::add_mm aten::mm.out aten::mm lib::matmul",  # aten comes first
        "aten::mm aten::mm.out aten::add_mm",  # exact matches, then overloads, then matches elsewhere in a name
        "matmul",
        "1 of 4 operators",
        "CPU",
        "CUDA Meta",
        "aten::mm.out",
        "aten::add_mm aten::mm.out aten::mm lib::matmul",
        "",
        ["all namespaces", "aten (3)", "lib (1)"],
    ]


@in_a_browser
def test_the_legend_has_the_kinds_that_are_there(tmp_path: Path) -> None:
    kinds = 'said.push([...byId("legend").children].map(button => button.textContent));'
    one = Registrations("ns::a", {"CPU": "a_cpu"}, {})
    assert said(render_html([one], "t"), tmp_path, kinds) == [["missing", "kernel"]]
    every = Registrations("ns::a", {"CompositeImplicitAutograd": "a"}, {"Tracer": "trace"})
    page = render_html([one], "t", None, Before("main", [every]))
    shown = ["missing", "kernel", "CompositeImplicitAutograd", "backend fallback"]
    assert said(page, tmp_path, kinds) == [shown]


@in_a_browser
def test_the_way_home_shows_everything(tmp_path: Path) -> None:
    script = """
    type("search", "mm.out");
    press("kernel");
    said.push(names());
    document.querySelector(".home").click();
    said.push(names(), byId("search").value, document.querySelectorAll("[aria-pressed=true]").length);
    """
    every = "aten::add_mm aten::mm.out aten::mm lib::matmul"
    shown = said(render_html(SEVERAL, "operators"), tmp_path, script)
    assert shown == ["aten::mm.out", every, "", 0]


@in_a_browser
def test_everybody_can_read_it(tmp_path: Path) -> None:
    assert wrong_with(render_html(SEVERAL, "operators"), tmp_path) == []


@in_a_browser
def test_a_link_leads_to_a_cell(tmp_path: Path) -> None:
    details = {
        "aten::mm.out": Details("aten::mm.out(...) -> Tensor", "Multiplies <b>.", "ops.yaml:7")
    }
    page = render_html(SEVERAL, "operators", details)
    dom = browse(page, tmp_path, "", "#aten::mm.out/CPU")
    assert '<a title="link to this cell" href="#aten::mm.out/CPU">aten::mm.out</a> at CPU' in panel(
        dom
    )
    assert "<code>aten::mm.out(...) -&gt; Tensor</code>" in panel(dom)
    assert "Multiplies &lt;b&gt;." in panel(dom) and ">ops.yaml:7<" in panel(dom)
    assert len(re.findall('class="cell o. chosen"', dom)) == 1
    script = """
    document.querySelector(".chosen").dispatchEvent(new KeyboardEvent("keydown", {key: "ArrowUp", bubbles: true}));
    said.push(decodeURIComponent(location.hash));
    document.querySelector(".chosen").dispatchEvent(new MouseEvent("mouseover", {bubbles: true}));
    said.push(byId("stripe").hidden, document.querySelector("#head .here").textContent);
    location.hash = "#aten::add_mm/CUDA";
    dispatchEvent(new HashChangeEvent("hashchange"));
    said.push(document.querySelector("aside h2").textContent);
    """
    assert said(page, tmp_path, script, "#aten::mm.out/CPU") == [
        "#aten::add_mm/CPU",
        False,
        "CPU",
        "aten::add_mm at CUDA",
    ]


@in_a_browser
def test_a_comparison(tmp_path: Path) -> None:
    old = [
        Registrations("aten::mm", {"CompositeImplicitAutograd": "c"}, {}),
        Registrations("aten::mm.out", {"CPU": "mm_old", "Meta": "m"}, {}),
        Registrations("aten::gone", {"CPU": "gone"}, {}),
        Registrations("aten::add_mm", {"CPU": "mm_helper", "CUDA": "b", "Meta": "m"}, {}),
    ]
    page = render_html(SEVERAL, "operators", None, Before("main", old))
    script = """
    said.push(names(), byId("only").hidden);
    said.push(document.querySelectorAll(".changed").length);
    document.querySelector('[aria-label="aten::add_mm"] .changed[title^="Meta"]').click();
    said.push(byId("why").innerText);
    byId("changes").click();
    said.push(names());
    """
    names, hidden, count, told, all_names = said(page, tmp_path, script)
    assert (names, hidden) == ("aten::add_mm aten::mm.out aten::gone lib::matmul", False)
    assert (
        count == 4
    ), "one cell of each: Meta, CPU, and those of the operators that are new or gone"
    assert told.startswith("aten::add_mm at Meta\nmain\nkernel: m\n")
    assert "\nnow\nmissing\n" in told
    assert all_names == "aten::add_mm aten::mm.out aten::mm aten::gone lib::matmul"


@in_a_browser
@pytest.mark.parametrize(("width", "dark"), [(480, True), (1000, False), (1600, True)])
def test_it_fits_the_window(tmp_path: Path, width: int, dark: bool) -> None:
    """The whole page fits the width, the panel is below a narrow grid, and dark mode has a dark background."""
    script = """
    const box = id => byId(id).getBoundingClientRect();
    said.push(document.documentElement.scrollWidth <= innerWidth, box("grid").height > 100);
    said.push(box("why").top >= box("grid").bottom, getComputedStyle(document.body).backgroundColor);
    """
    picture = tmp_path / "page.png"
    look = Look(width, 800, dark, screenshot=picture)
    fits, is_high, is_below, paper = said(
        render_html(SEVERAL, "operators"), tmp_path, script, "", look
    )
    assert fits and is_high
    assert is_below is (width <= 1000)
    assert paper == ("rgb(20, 24, 31)" if dark else "rgb(255, 255, 255)")
    assert_picture(picture)


@in_a_browser
@pytest.mark.parametrize("width", [390, 1280])
def test_names_are_not_cut(tmp_path: Path, width: int) -> None:
    """The longest of PyTorch are smaller; a namespace that all operators have is left out."""
    long = "aten::_fake_quantize_per_tensor_affine_cachemask_tensor_qparams.out"
    many = [long, "aten::add.Tensor", *(f"aten::mm{i}" for i in range(50)), "lib::f"]
    script = """
    const rows = () => [...document.querySelectorAll(".row:not([aria-hidden])")];
    const cells = rows().map(row => row.querySelector(".name"));
    said.push(cells.every(name => name.scrollWidth <= name.clientWidth && name.clientWidth <= innerWidth));
    said.push(cells.slice(0, 2).map(name => name.textContent));
    const head = byId("head").getBoundingClientRect(), grid = byId("grid").getBoundingClientRect();
    said.push(rows()[0].getBoundingClientRect().top >= head.bottom - 1);
    const inside = rows().filter(row => row.getBoundingClientRect().bottom <= grid.bottom);
    said.push(inside.length >= 5);
    byId("namespace").value = "lib";
    byId("namespace").dispatchEvent(new Event("input"));
    said.push(rows().map(row => row.querySelector(".name").textContent));
    const cut = [...document.querySelectorAll("#head button")].filter(key => key.scrollHeight > key.clientHeight);
    said.push(cut.map(key => key.textContent));
    """
    page = render_html([Registrations(name, {"CPU": "k"}, {}) for name in many], "operators")
    assert said(page, tmp_path, script, "", Look(width, 844)) == [
        True,
        [long, "aten::add.Tensor"],
        True,
        True,
        ["f"],
        [],
    ]


@in_a_browser
def test_it_prints_on_one_sheet(tmp_path: Path) -> None:
    many = [Registrations(f"ns::f{i}", {"CPU": "k"}, {}) for i in range(500)]
    browse(render_html(many, "t"), tmp_path, "", "", Look(pdf=tmp_path / "page.pdf"))
    assert (tmp_path / "page.pdf").read_bytes().count(b"/Type /Page\n") == 1


@in_a_browser
def test_rows_that_are_used_again_show_what_fresh_ones_do(tmp_path: Path) -> None:
    """After searching, choosing and scrolling, the rows equal those of a fresh page at the same position."""
    many = [
        Registrations(f"ns::f{i:03}", {"CPU": f"k{i}"} if i % 3 else {"CUDA": "c", "Meta": "m"}, {})
        for i in range(200)
    ]
    rows = """
    const rows = () => [...document.querySelectorAll(".row:not([aria-hidden])")].map(row =>
      [row.style.top, row.getAttribute("aria-label"), ...[...row.children].map(c => [c.className, c.title, c.tabIndex])]);
    const scroll = top => { byId("grid").scrollTop = top; draw(); };
    """
    used = """
    type("search", "f01");
    document.querySelector('.cell[title^="CPU"]').click();
    type("search", "f1");
    type("search", "nothing");
    type("search", "");
    press("kernel");
    press("kernel");
    scroll(900); scroll(960); scroll(2400); scroll(1000);
    """
    [fresh] = said(render_html(many, "t"), tmp_path, f"{rows} scroll(1000); said.push(rows());")
    [again] = said(render_html(many, "t"), tmp_path, f"{rows} {used} said.push(rows());")
    assert len(fresh) > 15 and again == fresh
    script = f"{rows} {used} scroll(0); said.push(document.querySelectorAll('.chosen').length, rows().length);"
    chosen, count = said(render_html(many, "t"), tmp_path, script)
    assert chosen == 1 and count > 10
    script = f"{rows} {used} type('search', 'f199'); said.push(document.querySelectorAll('.chosen').length);"
    assert said(render_html(many, "t"), tmp_path, script) == [0]
