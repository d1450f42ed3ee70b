"""`fmt`: the canonical form of a schema file, a function from text to text.

Fields are in the order of the documentation and indented by two. There is one space after commas,
flags are `True` or `False`, and between entries stay at most two blank lines. Comments stay where
they belong: above a field, above an entry, or at the end of a line, aligned with others there. Lines
are moved and re-indented, but never rewritten from the model, so anything this module doesn't
understand stays as it is.

Note [fmt cannot change meaning]
The result is read again. If it doesn't give the same functions, the text is returned unchanged.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from itertools import dropwhile, takewhile
from typing import NamedTuple

from torchgen_lite.diagnostics import Diagnostics, Source, errors_among, has_errors
from torchgen_lite.diagnostics.text import cut_at
from torchgen_lite.loader.entry.fields import FIELD_ORDER, FIELDS
from torchgen_lite.loader.formats.native_functions import Loaded, load_native_functions
from torchgen_lite.loader.yaml.nodes import ListNode, MapNode, read_yaml
from torchgen_lite.schema import parse_schema
from torchgen_lite.schema.kind import VARIANTS

_FIELD = re.compile(r"(?P<key>[A-Za-z_][A-Za-z0-9_]*)[ ]*:(?P<value>[ ].*|)$")
_COMMENT = re.compile(r"(?P<space>[ \t]+)(?P<text>#.*)$")
_FLAGS = {"true": "True", "TRUE": "True", "false": "False", "FALSE": "False"}
_PLAIN = re.compile(r"[^\"'|>&*!{\[#%@`].*")


Read = Callable[[Sequence[Source]], Loaded]
"""What the entries of files mean in their project."""


def format_text(
    text: str, path: str = "<schema>", read: Read = load_native_functions
) -> tuple[str, Diagnostics]:
    """The canonical form of a file, and the errors that kept it from being formatted.

    A file whose lines all end in CRLF, as git may check it out, keeps its line ends.
    """
    source = Source(path, text)
    before, diagnostics = read([source])
    if has_errors(diagnostics):
        return text, tuple(errors_among(diagnostics))
    if not _has_plain_entries(source):
        return text, ()
    unix = text.removeprefix("\ufeff").replace("\r\n", "\n")
    result = _format_lines(unix.split("\n"))
    after, _ = read([Source(path, result)])
    if after != before:
        return text, ()
    ends_in_crlf = 0 < text.count("\n") == text.count("\r\n")
    if ends_in_crlf:
        result = result.replace("\n", "\r\n")
    return result, ()


def _has_plain_entries(source: Source) -> bool:
    """Whether a file is a list of entries whose fields have lines of their own."""
    root, _ = read_yaml(source)
    if not isinstance(root, ListNode):
        return False
    for item in root.items:
        is_in_braces = source.text.startswith("{", item.start)
        if not isinstance(item, MapNode) or is_in_braces:
            return False
    return True


def _format_lines(lines: list[str]) -> str:
    """Cut the lines into entries, format each, and join them with blank lines and comments."""
    starts = [at for at, line in enumerate(lines) if re.match(r"-\s+\S|-\s*$", line)]
    if not starts:
        return "\n".join(lines)
    before = [0, *starts]
    cuts = [_leading_start(lines, start, floor) for start, floor in zip(starts, before)]
    ends = [*cuts[1:], len(lines)]
    out = _comments(lines[: cuts[0]])
    for cut, start, end in zip(cuts, starts, ends):
        lead = lines[cut:start]
        if out:
            blank = len([*takewhile(_is_empty, lead)])
            out += [""] * min(blank, 2)
        out += _comments(lead)
        body = lines[start:end]
        while body and not body[-1].strip():
            body.pop()
        out += _format_entry(body)
    return "\n".join(out).rstrip("\n") + "\n"


def _leading_start(lines: list[str], start: int, floor: int) -> int:
    """Where the blank lines and unindented comments above an entry begin."""
    cut = start
    while cut > floor:
        above = lines[cut - 1]
        if above.strip() and not above.startswith("#"):
            break
        cut -= 1
    return cut


def _comments(lines: list[str]) -> list[str]:
    """The comments above an entry, without the blank lines before the first of them."""
    kept: list[str] = []
    for line in map(str.rstrip, dropwhile(_is_empty, lines)):
        follows_two_blank = kept[-2:] == ["", ""]
        if line or not follows_two_blank:
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
    segments.sort(key=lambda segment: FIELD_ORDER.get(segment.key, len(FIELD_ORDER)))
    out = list[str]()
    for number, segment in enumerate(segments):
        lines = _format_segment(segment, indent)
        margin = "  "
        if number == 0:
            margin = ""
            lines[0] = "- " + lines[0][2:]
        out += [margin + comment.strip() for comment in segment.comments]
        out += lines
    return out + ["  " + comment.strip() for comment in tail]


def _segments(body: list[str], indent: int) -> list[_Segment] | None:
    """The fields of an entry, and a last segment without a key for the comments at the end."""
    segments = []
    comments: list[str] = []
    pending: list[str] = []
    for line in body:
        stripped = line.strip()
        depth = _depth(line)
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
    if comment is not None:
        value = value[: max(comment.start() - 1, 0)]
    line = f"  {segment.key}:"
    text = _canonical(segment.key, value.strip())
    if text:
        line += f" {text}"
    if comment is not None:
        line += comment["space"] if len(comment["space"]) > 1 else "  "
        line += comment["text"].rstrip()
    return [line]


def _reindent(lines: list[str], key: str, block: bool, indent: int) -> Iterator[str]:
    depths = [_depth(line) for line in lines if line.strip()]
    texts = [line.strip() for line in lines]
    has_items = any(text.startswith("- ") for text in texts)
    is_list = block and has_items and not _have_fields(texts)
    # In PyTorch's file, items stand below the key; in fields that it has not, two further in.
    is_ours = key in FIELDS and FIELDS[key].ours
    depth = 2 if is_list and not is_ours else 4
    shift = depth - min(depths, default=indent)
    for line in lines:
        text = line.rstrip()
        moved = " " * shift + text if shift >= 0 else text[-shift:]
        if key == "dispatch" and block:
            moved = _format_dispatch_line(moved)
        yield moved if text else ""


def _depth(line: str) -> int:
    return len(line) - len(line.lstrip(" "))


def _have_fields(texts: Sequence[str]) -> bool:
    """Whether any of these lines begins a field; items of lists and comments do not."""
    others = [text for text in texts if not text.startswith(("-", "#"))]
    return any(_FIELD.match(text) for text in others)


def _format_dispatch_line(line: str) -> str:
    """`CPU,CUDA :k` becomes `CPU, CUDA: k`."""
    match = re.match(r"(\s*)([A-Za-z0-9_, ]+?)\s*:\s+(\S.*)$", line)
    if match is None:
        return line
    margin, keys, kernel = match.groups()
    spaced = ", ".join(cut_at(keys, ","))
    return f"{margin}{spaced}: {kernel}"


def _canonical(key: str, value: str) -> str:
    """The canonical spelling of a one-line value."""
    if key == "func" and _PLAIN.fullmatch(value):
        # It has been read without a mistake, so every word that may be a class is one.
        schema, _ = parse_schema(value, opaque=re.findall(r"[\w.]+", value))
        return value if schema is None else str(schema)
    if value in _FLAGS:
        return _FLAGS[value]
    if key == "variants" and _PLAIN.fullmatch(value):
        words = cut_at(value, ",")
        return ", ".join(word for word in VARIANTS if word in words)
    if key in FIELDS and FIELDS[key].shape.is_words and _PLAIN.fullmatch(value):
        return ", ".join(cut_at(value, ","))
    return value
