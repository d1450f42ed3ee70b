"""How answers are printed as Markdown."""

from torchgen_lite.cli.pages import render_markdown


def test_markdown_shows_code_as_it_stands_and_no_html() -> None:
    rows = [("`a -> b`", "<b> & `"), ("`x | y`", "`<`<i>`")]
    assert render_markdown("A", [("", rows, ("one", "two"))]) == """## A

| one | two |
|---|---|
| `a -> b` | &lt;b&gt; &amp; ` |
| `x \\| y` | `<`&lt;i&gt;` |
"""
