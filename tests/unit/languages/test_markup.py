"""Text in Markdown and HTML; tests/hostile/test_docs.py feeds it to parsers."""

from __future__ import annotations

import pytest

from torchgen_lite.languages.markup import HTML, MARKDOWN, html, markdown


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("Plain words, 1.5 of them (more or less); a_b!", "Plain words, 1.5 of them (more or less); a_b!"),
        ("__and__ of _x and y_", "\\_\\_and\\_\\_ of \\_x and y\\_"),
        ("{{ x }} {% y %}", "&#123;&#123; x &#125;&#125; &#123;% y %&#125;"),
        ("a | b", "a &#124; b"),
        ("`code` and \\", "\\`code\\` and \\\\"),
        ("a <b> &amp;", "a &lt;b&gt; &amp;amp;"),
        ("- item: x", "&#45; item: x"),
        ("1. one", "&#49;. one"),
        ("see https://x.org", "see https&#58;//x.org"),
        ("a\tb\x00", "a\\\\tb\\\\x00"),
        ("", ""),
    ],
)  # fmt: skip
def test_markdown(text: str, said: str) -> None:
    assert markdown(text) == said


def test_html() -> None:
    assert html("\"a\" < 'b' & c") == "&quot;a&quot; &lt; &#x27;b&#x27; &amp; c"


def test_names_are_code() -> None:
    assert MARKDOWN.phrase("add_.Tensor") == ("add_.Tensor", True)
    assert MARKDOWN.phrase("structured add_out*") == ("structured add_out\\*", False)


def test_no_line_ends_its_fence() -> None:
    assert MARKDOWN.block("text", ["a ```` b\n```"]) == ("text", ("a ```` b", "```"), "`````")
    assert HTML.block("text", ["<a>"]).lines == ("&lt;a&gt;",)
