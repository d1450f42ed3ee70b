"""Text that tries to break out of its place in generated code, and functions that tell whether it did."""

from __future__ import annotations

import io
import re
import tokenize
from collections.abc import Iterator, Mapping
from html.parser import HTMLParser
from pathlib import PurePosixPath
from typing import Any

from torchgen_lite.emit.header import MARKER

MARK = "PWNED"
HOSTILE = (
    *(
        f'" {MARK} "',
        f"' {MARK} '",
        f'""" {MARK}',
        f"''' {MARK}",
        f'\\" {MARK}',
        f'\\\\" {MARK}',
        f'R"( {MARK}',
    ),
    *(
        f"a{end}{MARK}{end}"
        for end in ("\n", "\r", "\r\n", "\x0b", "\x0c", "\x1c", "\x85", "\u2028", "\u2029")
    ),
    *(
        f"*/ {MARK} /*",
        f"/* {MARK}",
        f"// \\\n{MARK}",
        f"//\\\n{MARK}",
        f"# {MARK} \\",
        f"a // ??/\n{MARK}",
    ),
    *(
        f"a\n#define {MARK}",
        f"#ifdef\tA\n{MARK}",
        f"#if 1\r{MARK}\r#if 1",
        f"#if A) || ({MARK}",
        "#if A \\",
        "#if '",
    ),
    *(
        "a\\",
        "\\",
        "??/",
        "\\N{DIGIT ONE}",
        "\\u0022",
        "\\x22",
        "%s{0}",
        "\udcff",
        "\0",
        "\ufeff",
        "é",
        "\u202e",
    ),
    *(
        f"</script><b>{MARK}</b>",
        f"--> {MARK}",
        f'")\n{MARK}(',
        f"${{{MARK}}} $<{MARK}> ; ]] ]=]",
        f"{{{{ {MARK} }}}}",
    ),
    *(
        f"f({MARK} :=1)",
        f"x); {MARK}(",
        f"x}} {MARK} {{",
        f"x: {MARK}\n",
        f"x, {MARK} y",
        f"x = {MARK}",
        f"x;{MARK}",
    ),
)
RESERVED = (
    "class def from None True __debug__ print self lambda match and new int namespace template this NULL "
    "errno assert default std at torch TORCH_LIBRARY __FILE__ __LINE__ __class__ __dict__ __init__ _ __ __all__ index time TORCH_CHECK"
).split()  # fmt: skip

# What a value needs beside the one that gets a text, and the names that a table has where any are allowed.
_BESIDE = {
    "like": "x",
    "calls": ["(ones(1))"],
    "dtype": "float32",
    "rtol": 1,
    "atol": 1,
    "kernel": "k",
}
_NAMES = ("x", "CPU", "Device")


def places(schema: Mapping[str, Any], text: str) -> Iterator[object]:
    """Values with a text in each place that a JSON Schema has for one, and in place of what has to be something else.

    >>> [*places({"anyOf": [{"type": "string"}, {"type": "array", "items": {"enum": ["a"]}}]}, "b")]
    ['b', ['b']]
    """
    yield text
    for one in schema.get("anyOf", [schema]):
        types = one.get("type", "array" if "items" in one else "")
        if "array" in types:
            yield from ([value] for value in places(one.get("items", {}), text))
        if "object" in types:
            yield from _places_in_table(one, text)


def _places_in_table(schema: Mapping[str, Any], text: str) -> Iterator[object]:
    others = schema.get("additionalProperties", {})
    if others is not False:
        yield {text: "x"}
        names = schema.get("propertyNames", {}).get("enum", _NAMES)
        # Some mean nothing without the first.
        beside = {name: _BESIDE[name] for name in names[:1] if name in _BESIDE}
        for name in names:
            yield from ({**beside, name: value} for value in places(others, text))
    needed = {*schema.get("required", ()), *schema.get("dependencies", ())}
    for name, inner in schema.get("properties", {}).items():
        beside = {other: _BESIDE[other] for other in needed - {name}}
        yield from ({**beside, name: value} for value in places(inner, text))


# Most files of two runs are the same.
_SEEN: set[str] = set()
_CPP = re.compile(
    r"""
      //[^\n]*
    | /\*.*?\*/
    | "(?:[^"\\\n]|\\[^\n])*"
    | '(?:[^'\\\n]|\\[^\n])*'
    | (?P<other>[^/"']+|.)
    """,
    re.VERBOSE | re.DOTALL,
)


def cpp_code(text: str) -> str:
    """What a C++ compiler reads as code: comments and literals are taken out.

    >>> cpp_code('f("a\\\\"b"); // c')
    'f(); '
    """
    # Some compilers end a line at these.
    assert not re.search("[\r\x0b\x0c\x85\u2028\u2029]", text), "a line end that not all agree on"
    text = text.replace("??/", "\\").replace("\\\n", "")
    return "".join(match["other"] or "" for match in _CPP.finditer(text))


def python_code(text: str) -> str:
    """The names and operators of Python, and nothing that is in strings and comments.

    Where the mark is nowhere they are not asked for, only whether it is Python.
    """
    compile(text, "generated", "exec")
    if MARK not in text:
        return ""
    tokens = tokenize.generate_tokens(io.StringIO(text, newline="\n").readline)
    kept = (tokenize.NAME, tokenize.OP, tokenize.NUMBER)
    return " ".join(token.string for token in tokens if token.type in kept)


# What our own pages have; emphasis, images, quotes and scripts are not among it.
_TAGS = frozenset(
    "a body code dd div dl dt form h1 h2 head header html input li link main meta p pre script section "
    "table tbody td th thead title tr ul".split()
)


class Structure(HTMLParser):
    """The tags of a page with their attributes, and what is neither a tag nor text."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.others: list[str] = []
        self.text = ""
        self.feed(page)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(f"{tag} {attrs}" if attrs else tag)
        if tag not in _TAGS or tag == "script" and [name for name, _ in attrs] != ["src", "defer"]:
            self.others.append(f"{MARK} {tag}")

    def handle_data(self, data: str) -> None:
        self.text += data

    def handle_comment(self, data: str) -> None:
        # What marks a page as generated has the name of the schema file, and ends where it has to.
        if not data.startswith(f" {MARKER}"):
            self.others.append(data)

    handle_decl = handle_pi = unknown_decl = handle_comment


def markup_code(text: str) -> str:
    """What is not text in HTML: tags that our pages do not have carry the mark."""
    page = Structure(text)
    return " ".join([*page.tags, *page.others])


def markdown_code(text: str) -> str:
    """The same of Markdown, as MyST and other parsers of CommonMark read it."""
    from markdown_it import MarkdownIt

    return markup_code(MarkdownIt("commonmark").enable("table").render(text))


def comments_alone(text: str) -> str:
    """What is in a file that has nothing but comments."""
    return "".join(line for line in text.splitlines() if not line.startswith("#"))


_CODE = {
    ".py": python_code,
    ".pyi": python_code,
    ".html": markup_code,
    ".md": markdown_code,
    ".typed": comments_alone,
}


def escaped(files: Mapping[str, str]) -> Iterator[str]:
    """The files in which the mark has become code."""
    for path, text in files.items():
        if text in _SEEN:
            continue
        _SEEN.add(text)
        code = _CODE.get(PurePosixPath(path).suffix, cpp_code)(text)
        if MARK in code:
            yield f"{path}: {[line for line in text.splitlines() if MARK in line]}"
