"""Turns YAML text into nodes that know their place in the file, within limits.

This uses libyaml's events, not its composer: the composer recurses in C, so deep nesting crashes
the process, and it gives keys their YAML 1.1 meaning (`on` becomes a boolean). Here every scalar
stays text, and the loaders apply YAML 1.2's rules to fields that aren't strings.

Note [Recovery after a YAML error]
libyaml stops at the first mistake. The entry with the mistake is dropped, and reading resumes at
the next line that starts with `- ` after the unfinished construct, so one run still reports the
mistakes in other entries. A tag or an unknown alias drops its entry in the same way; a limit ends
the file.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection
from dataclasses import dataclass, field
from typing import Any, TypeGuard, Union

import yaml

from torchgen_lite.diagnostics import Diagnostic, Diagnostics, Label, Source, Span
from torchgen_lite.loader.yaml.keys import PROSE
from torchgen_lite.loader.yaml.python_parser import PythonParser, as_libyaml_says

MAX_CHARACTERS = 16 * 1024 * 1024
MAX_DEPTH = 32
# The number of nodes with every alias expanded. PyTorch's file has 28,000.
MAX_NODES = 500_000
MAX_RESUMES = 50

_TAG_PREFIX = "tag:yaml.org,2002:"
_PLAIN_TAGS = frozenset(
    {"!", *(_TAG_PREFIX + name for name in ("str", "int", "bool", "float", "null", "seq", "map"))}
)
_BLANKS = frozenset(" \t")
# A comment behind a value; `sign` if its text begins without a space.
_COMMENT = re.compile(r"[ \t]+(?P<comment>#(?P<sign>[^\s#])?[^\r\n]*)")
# A string in a schema or a formula; an apostrophe is no quote.
_STRING = re.compile(r"""(["'])[^\s"']*\1""")
_ALLOWED_ASCII = b"\t\n\r" + bytes(range(0x20, 0x7F))
# Compiled only when needed: for ranges this long, compiling takes as long as reading a small file.
_FORBIDDEN = "[^\t\n\r\x20-\x7e\x85\xa0-\ud7ff\ue000-\ufefe\uff00-\ufffd\U00010000-\U0010ffff]"
_PARSER: Any = getattr(yaml, "CSafeLoader", PythonParser)


@dataclass(slots=True, eq=False)
class ScalarNode:
    """A scalar: its text, how it was quoted (`""`, `'`, `"`, `|`, `>`), and where it stands."""

    value: str
    style: str
    start: int
    end: int
    weight: int = 1

    @property
    def is_verbatim(self) -> bool:
        """Whether the text is in the file as it is, on one line and without quotes."""
        return self.style == "" and self.end - self.start == len(self.value)

    @property
    def is_null(self) -> bool:
        return self.style == "" and self.value in ("", "~", "null", "Null", "NULL")


@dataclass(slots=True, eq=False)
class ListNode:
    start: int
    end: int = 0
    items: list[Node] = field(default_factory=list)
    weight: int = 1


@dataclass(slots=True, eq=False)
class MapNode:
    """A mapping, as pairs in the order written; repeated keys are all kept."""

    start: int
    end: int = 0
    items: list[tuple[Node, Node]] = field(default_factory=list)
    key: Node | None = None
    weight: int = 1


Node = Union[ScalarNode, ListNode, MapNode]


def is_text(node: Node | None) -> TypeGuard[ScalarNode]:
    """Whether there is a scalar that is not null."""
    return isinstance(node, ScalarNode) and not node.is_null


Take = Callable[[Node], bool]
"""Called with each complete item of the outermost list; returns whether the item can be dropped."""


class _Stop(Exception):
    """A limit was reached or a construct can't be read; the diagnostic is recorded.

    `entry_at` is the place of the construct whose entry is dropped; None if reading ends here.
    """

    def __init__(self, entry_at: int | None = None) -> None:
        self.entry_at = entry_at


class _Builder:
    """Builds nodes from the events of one document, without recursion."""

    def __init__(
        self,
        source: Source,
        diagnostics: list[Diagnostic],
        take: Take | None,
        fields: Collection[str],
    ) -> None:
        self.source = source
        self.diagnostics = diagnostics
        self.take = take
        self.fields = fields
        self.anchors: dict[str, Node] = {}
        self.nodes = 0
        self.restart(0)

    def restart(self, base: int) -> None:
        """Start again at a place in the source. Anchors stay known, and the node count goes on."""
        self.base = base
        self.finished = base
        self.root: Node | None = None
        self.stack: list[ListNode | MapNode] = []
        self.names: list[str | None] = []
        self.documents = 0

    def stop(self, code: str, message: str, event: Any, label: str) -> _Stop:
        """Record what ends the file, or, for what is not read (TG109), the entry."""
        start = self.base + event.start_mark.index
        self.diagnostics.append(
            Diagnostic(
                code,
                message,
                Label(
                    Span(self.source, start, max(self.base + event.end_mark.index, start + 1)),
                    label,
                ),
            )
        )
        return _Stop(start if code == "TG109" and self.documents == 1 else None)

    def add(self, node: Node, event: Any, cost: int = 1) -> None:
        self.nodes += cost
        if self.nodes > MAX_NODES:
            raise self.stop(
                "TG110",
                f"more than {MAX_NODES} nodes with aliases expanded",
                event,
                "here",
            )
        if not self.stack:
            self.root = node
            return
        parent = self.stack[-1]
        parent.weight += node.weight
        if isinstance(parent, ListNode):
            if len(self.stack) == 1:
                self.finished = node.end
                if self.take is not None and self.take(node):
                    return
            parent.items.append(node)
        elif parent.key is None:
            parent.key = node
        else:
            parent.items.append((parent.key, node))
            parent.key = None

    def open(self, node: ListNode | MapNode, event: Any) -> None:
        if len(self.stack) >= MAX_DEPTH:
            raise self.stop("TG110", f"nested deeper than {MAX_DEPTH}", event, "here")
        self.check_tag(event)
        self.stack.append(node)
        self.names.append(event.anchor)

    def close(self, event: Any) -> None:
        node = self.stack.pop()
        node.end = self.base + event.end_mark.index
        if event.start_mark.index == event.end_mark.index and node.items:
            # A block collection ends with its last item; libyaml gives the start of what follows.
            last = node.items[-1]
            node.end = (last[1] if isinstance(last, tuple) else last).end
        name = self.names.pop()
        self.add(node, event)
        if name is not None:
            self.anchors[name] = node

    def check_tag(self, event: Any) -> None:
        tag = event.tag
        if tag is not None and tag not in _PLAIN_TAGS:
            raise self.stop("TG109", "YAML tags are not read", event, "has a tag")

    def check_comment(self, node: ScalarNode) -> None:
        """Warn of a comment that looks like the rest of the value that it ends: `Rule #2`, `"(str s='a # b')"`.

        A comment of YAML has a space before its `#`, and need not have one after it.
        """
        comment = _COMMENT.match(self.source.text, node.end)
        if comment is None:
            return
        value = _STRING.sub("", node.value)
        is_inside = sum(map(value.count, "([{")) > sum(map(value.count, ")]}"))
        name = getattr(self.stack[-1], "key", None) if self.stack else None
        is_prose = isinstance(name, ScalarNode) and name.value in PROSE
        if not is_inside and not (is_prose and comment["sign"]):
            return
        at = Span(self.source, *comment.span("comment"))
        shown = at.text[:40].strip()
        whole = Span(self.source, node.start, node.end).first_line
        self.diagnostics.append(
            Diagnostic(
                "TG131",
                f"`{shown}` is a comment, and not part of the value before it",
                Label(at, "not read"),
                (Label(whole, "the whole value"),),
            )
        )

    def alias(self, event: Any) -> None:
        node = self.anchors.get(event.anchor)
        if node is None:
            raise self.stop(
                "TG109",
                f"alias `*{event.anchor}` does not refer to a complete anchor",
                event,
                "no such anchor",
            )
        self.add(node, event, node.weight)

    def document(self, event: Any) -> None:
        self.documents += 1
        if self.documents > 1:
            raise self.stop("TG109", "a second YAML document", event, "starts here")


def _feed(builder: _Builder, parser: Any) -> None:
    """Drive the builder with every event of the parser."""
    get_event = parser.get_event
    scalar_event = yaml.ScalarEvent
    base = builder.base
    text = builder.source.text
    while True:
        event = get_event()
        kind = type(event)
        if kind is scalar_event:
            start = base + event.start_mark.index
            end = base + event.end_mark.index
            node = ScalarNode(event.value, event.style or "", start, end)
            if not node.style and text[end : end + 1] in _BLANKS:
                builder.check_comment(node)
            if event.tag is not None:
                builder.check_tag(event)
            if event.anchor is not None:
                builder.anchors[event.anchor] = node
            builder.add(node, event)
        elif kind is yaml.MappingStartEvent:
            builder.open(MapNode(base + event.start_mark.index), event)
        elif kind is yaml.SequenceStartEvent:
            builder.open(ListNode(base + event.start_mark.index), event)
        elif kind is yaml.MappingEndEvent or kind is yaml.SequenceEndEvent:
            builder.close(event)
        elif kind is yaml.AliasEvent:
            builder.alias(event)
        elif kind is yaml.DocumentStartEvent:
            builder.document(event)
        elif kind is yaml.StreamEndEvent:
            return


def read_yaml(
    source: Source, take: Take | None = None, fields: Collection[str] = ()
) -> tuple[Node | None, Diagnostics]:
    """The root node of a source, or None if it is empty or unreadable. Never raises.

    Nodes take more memory than what is made from them, so the root leaves out the items that `take`
    is done with. `fields` are the keys that entries may have, for messages about what cannot be read.
    """
    text = source.text
    diagnostics: list[Diagnostic] = []
    if len(text) > MAX_CHARACTERS:
        return None, (
            Diagnostic(
                "TG110",
                f"{len(text)} characters, more than the {MAX_CHARACTERS} allowed",
                Label(Span(source, 0, 1), "starts here"),
            ),
        )
    base = 1 if text.startswith("\ufeff") else 0
    is_fine = text.isascii() and not text.encode().translate(None, _ALLOWED_ASCII)
    wrong = None if is_fine else re.compile(_FORBIDDEN).search(text, base)
    if wrong is not None:
        return None, (
            Diagnostic(
                "TG117",
                f"character U+{ord(wrong[0]):04X} is not allowed in YAML",
                Label(Span(source, *wrong.span()), "here"),
            ),
        )
    root = None
    builder = _Builder(source, diagnostics, take, fields)
    for _ in range(MAX_RESUMES):
        builder.restart(base)
        part, failed_at = _read_part(builder)
        if isinstance(root, ListNode) and isinstance(part, ListNode):
            root.items += part.items
            root.end = max(root.end, part.end)
        else:
            root = root if part is None else part
        if failed_at is None:
            break
        resume = text.find("\n- ", max(failed_at, base + 1) - 1)
        if resume < 0 or not (root is None or isinstance(root, ListNode)):
            break
        base = resume + 1
    return root, tuple(diagnostics)


def _read_part(builder: _Builder) -> tuple[Node | None, int | None]:
    """The node read from the builder's place on, and the offset where reading failed.

    The offset is None if reading did not fail, or must not resume. If reading stopped, the node is the
    list of the top-level items that were complete.
    """
    source = builder.source
    base = builder.base
    failed_at = None
    parser = None
    try:
        parser = _PARSER(source.text[base:] if base else source.text)
        _feed(builder, parser)
        return builder.root, None
    except _Stop as stop:
        failed_at = stop.entry_at
    except yaml.YAMLError as error:
        problem, context = _record(error, builder)
        failed_at = context if context > builder.finished else problem
    finally:
        if parser is not None:
            parser.dispose()
    bottom = builder.stack[0] if builder.stack else builder.root
    return bottom if isinstance(bottom, ListNode) else None, failed_at


def _record(error: yaml.YAMLError, builder: _Builder) -> tuple[int, int]:
    """Turn libyaml's exception into a diagnostic; return where it is and where it began."""
    source = builder.source
    base = builder.base
    diagnostics = builder.diagnostics
    mark = getattr(error, "problem_mark", None) or getattr(error, "context_mark", None)
    problem = getattr(error, "problem", None) or getattr(error, "reason", None) or "unreadable"
    context = str(getattr(error, "context", None) or "")
    problem = as_libyaml_says(str(problem), context)
    offset = base + mark.index if mark is not None else base
    offset = min(offset, max(len(source.text) - 1, 0))
    context_mark = getattr(error, "context_mark", None)
    began = base + context_mark.index if context_mark is not None else offset
    # Imported here: most files have no such mistake.
    from torchgen_lite.loader.yaml.mistakes import find_mistake, merge_conflict

    conflict = merge_conflict(source, offset)
    if conflict is not None:
        diagnostic, end = conflict
        diagnostics.append(diagnostic)
        # Neither side is read: together they would declare each operator twice.
        return end, end
    if began < offset and offset >= len(source.text.rstrip()) - 1:
        # Something unclosed runs to the end of the file: the mistake is where it begins.
        offset = began
    if "nesting depth" in problem:
        # libyaml has a limit too, from 0.2.6 on, and looks ahead further than what the builder has seen.
        diagnostics.append(
            Diagnostic(
                "TG110",
                f"nested deeper than {MAX_DEPTH}",
                Label(Span(source, offset, offset + 1), "here"),
            )
        )
        return offset, began
    diagnostics.append(find_mistake(source, problem, context, offset, began, builder.fields))
    return offset, began
