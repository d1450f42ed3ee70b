"""`fmt`: the canonical form of a schema file, a function from text to text.

Fields are in the order of the documentation and indented by two. There is one space after commas,
flags are `True` or `False`, and one or two blank lines separate entries. Comments stay where they
belong: above a field, above an entry, or at the end of a line. Lines are moved and re-indented, but
never rewritten from the model, so anything this module doesn't understand stays as it is.

Note [fmt cannot change meaning]
The result is read again. If it doesn't give the same functions, the text is returned unchanged.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import dropwhile, takewhile
from typing import NamedTuple

from torchgen_lite.diagnostics import Diagnostics, Source, has_errors
from torchgen_lite.loader.entry.fields import FIELD_ORDER, FIELDS
from torchgen_lite.loader.entry.reader import PYTORCH, Dialect
from torchgen_lite.loader.formats.native_functions import load_native_functions
from torchgen_lite.loader.yaml.nodes import ListNode, MapNode, read_yaml
from torchgen_lite.schema import parse_schema
from torchgen_lite.schema.kind import VARIANTS

_FIELD = re.compile(r"(?P<key>[A-Za-z_][A-Za-z0-9_]*)[ ]*:(?P<value>[ ].*|)$")
_COMMENT = re.compile(r"[ \t]+#.*$")
_FLAGS = {"true": "True", "TRUE": "True", "false": "False", "FALSE": "False"}
_PLAIN = re.compile(r"[^\"'|>&*!{\[#%@`].*")


def format_text(
    text: str, path: str = "<schema>", dialect: Dialect = PYTORCH
) -> tuple[str, Diagnostics]:
    """The canonical form of a file, and the errors that kept it from being formatted.

    A file whose lines all end in CRLF, as git may check it out, keeps its line ends.
    """
    source = Source(path, text)
    before, found = load_native_functions([source], dialect)
    root, _ = read_yaml(source)
    if has_errors(found):
        return text, tuple(d for d in found if d.severity == "error")
    unix = text.removeprefix("\ufeff").replace("\r\n", "\n")
    items = root.items if isinstance(root, ListNode) else [None]
    if not all(isinstance(i, MapNode) and not text.startswith("{", i.start) for i in items):
        return text, ()
    result = _format_lines(unix.split("\n"))
    after, _ = load_native_functions([Source(path, result)], dialect)
    if 0 < text.count("\n") == text.count("\r\n"):
        result = result.replace("\n", "\r\n")
    return (result if after == before else text), ()


def _format_lines(lines: list[str]) -> str:
    """Cut the lines into entries, format each, and join them with blank lines and comments."""
    starts = [i for i, line in enumerate(lines) if re.match(r"-\s+\S|-\s*$", line)]
    if not starts:
        return "\n".join(lines)
    cuts = [_leading_start(lines, start, floor) for start, floor in zip(starts, [0, *starts])]
    out = _comments(lines[: cuts[0]])
    for number, (cut, start) in enumerate(zip(cuts, starts)):
        end = cuts[number + 1] if number + 1 < len(cuts) else len(lines)
        lead = lines[cut:start]
        if out:
            # One or two blank lines, as many as there are above the comments.
            out += [""] * min(max(len([*takewhile(_is_empty, lead)]), 1), 2)
        out += _comments(lead)
        body = lines[start:end]
        while body and not body[-1].strip():
            body.pop()
        out += _format_entry(body)
    return "\n".join(out).rstrip("\n") + "\n"


def _leading_start(lines: list[str], start: int, floor: int) -> int:
    """Where the blank lines and unindented comments above an entry begin."""
    cut = start
    while cut > floor and (not lines[cut - 1].strip() or lines[cut - 1].startswith("#")):
        cut -= 1
    return cut


def _comments(lines: list[str]) -> list[str]:
    """The comments above an entry, without the blank lines before the first of them."""
    kept: list[str] = []
    for line in map(str.rstrip, dropwhile(_is_empty, lines)):
        if line or len(kept) < 2 or kept[-1] or kept[-2]:
            kept.append(line)
    return kept


def _is_empty(line: str) -> bool:
    return not line.strip()


class _Segment(NamedTuple):
    """A field: the comments above it, and its lines, of which the first has the key."""

    key: str
    comments: list[str]
    lines: list[str]


def _format_entry(body: list[str]) -> list[str]:
    """One entry with its fields in order, or as it is if its lines aren't plain fields."""
    first = re.match(r"-\s+", body[0])
    if first is None:
        return [line.rstrip() for line in body]
    indent = len(first[0])
    body = [" " * indent + body[0][indent:], *body[1:]]
    segments = _segments(body, indent)
    if segments is None:
        body[0] = "-" + body[0][1:]
        return [line.rstrip() for line in body]
    tail = segments.pop().comments
    segments.sort(key=lambda s: FIELD_ORDER.get(s.key, len(FIELD_ORDER)))
    out = []
    for number, segment in enumerate(segments):
        lines = _format_segment(segment, indent)
        margin = "  " if number else ""
        if not number:
            lines[0] = "- " + lines[0][2:]
        out += [*(margin + comment.strip() for comment in segment.comments), *lines]
    return out + ["  " + comment.strip() for comment in tail]


def _segments(body: list[str], indent: int) -> list[_Segment] | None:
    """The fields of an entry, and a last segment without a key for the comments at the end."""
    segments = []
    comments: list[str] = []
    pending: list[str] = []
    for line in body:
        stripped = line.strip()
        depth = len(line) - len(line.lstrip(" "))
        field = _FIELD.match(line[indent:]) if depth == indent else None
        if field is not None:
            segments.append(_Segment(field["key"], comments + pending, [line]))
            comments = []
            pending = []
        elif stripped.startswith("#") and depth <= indent:
            pending.append(line)
        elif not stripped:
            # A blank line matters only inside a block of text, where the next line is indented.
            if segments and re.search(r":\s*[|>][-+0-9]*\s*(#.*)?$", segments[-1].lines[0]):
                pending.append(line)
        elif not segments:
            return None
        else:
            segments[-1].lines.extend([*pending, line])
            pending = []
    segments.append(_Segment("", [line for line in pending if line.strip()], []))
    return segments


def _format_segment(segment: _Segment, indent: int) -> list[str]:
    """The lines of a field: the first at column 2, nested lines at the usual depth."""
    head = segment.lines[0][indent:].rstrip()
    nested = segment.lines[1:]
    field = _FIELD.match(head)
    assert field is not None
    value = field["value"].strip()
    if nested:
        block = not value or value.startswith("#")
        return ["  " + head, *_reindent(nested, segment.key, block, indent)]
    if value.startswith(("'", '"')):
        return ["  " + head]
    comment = _COMMENT.search(" " + value)
    bare, note = (value[: max(comment.start() - 1, 0)], comment[0]) if comment else (value, "")
    text = _canonical(segment.key, bare.strip())
    return [f"  {segment.key}:{' ' + text if text else ''}{note and '  ' + note.strip()}"]


def _reindent(lines: list[str], key: str, block: bool, indent: int) -> Iterator[str]:
    least = min((len(x) - len(x.lstrip(" ")) for x in lines if x.strip()), default=indent)
    texts = [x.strip() for x in lines]
    has_fields = any(_FIELD.match(x) for x in texts if not x.startswith(("-", "#")))
    is_list = block and any(x.startswith("- ") for x in texts) and not has_fields
    shift = (2 if is_list else 4) - least
    for line in lines:
        text = line.rstrip()
        moved = " " * shift + text if shift >= 0 else text[-shift:]
        if key == "dispatch" and block:
            moved = _format_dispatch_line(moved)
        yield moved if text else ""


def _format_dispatch_line(line: str) -> str:
    """`CPU,CUDA :k` becomes `CPU, CUDA: k`."""
    match = re.match(r"(\s*)([A-Za-z0-9_, ]+?)\s*:\s+(\S.*)$", line)
    keys = ", ".join(key.strip() for key in match[2].split(",")) if match else ""
    return f"{match[1]}{keys}: {match[3]}" if match else line


def _canonical(key: str, value: str) -> str:
    """The canonical spelling of a one-line value."""
    if key == "func" and _PLAIN.fullmatch(value):
        # It has been read without a mistake, so every word that may be a class is one.
        schema, _ = parse_schema(value, opaque=re.findall(r"[\w.]+", value))
        return value if schema is None else str(schema)
    if value in _FLAGS:
        return _FLAGS[value]
    if key == "variants" and _PLAIN.fullmatch(value):
        words = {word.strip() for word in value.split(",")}
        return ", ".join(word for word in VARIANTS if word in words)
    if key in FIELDS and FIELDS[key].shape.is_words and _PLAIN.fullmatch(value):
        return ", ".join(word.strip() for word in value.split(","))
    return value
