"""`samples:` of an entry: example arguments for generated tests.

    samples:
      - (randn(3, 4), randn(3, 4), 2.0)
      - (randn(3), dim=0)
      - self: randn(3)
        dim: 0

Each is kept as expressions; `analysis.samples` holds them against the schema.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from torchgen_lite.diagnostics import Span
from torchgen_lite.loader.fakes import parse_in, read_expression
from torchgen_lite.loader.reader import EntryReader, short
from torchgen_lite.loader.yaml_nodes import ListNode, MapNode, Node, ScalarNode
from torchgen_lite.loader.yaml_text import scalar_locator
from torchgen_lite.schema.formula import Call, Expression, ListDisplay


@dataclass(frozen=True, slots=True)
class Sample:
    """One list of arguments; `text` is as it was written."""

    text: str
    arguments: tuple[Expression, ...] = ()
    keywords: tuple[tuple[str, Expression], ...] = ()
    span: Span | None = field(default=None, compare=False, repr=False)
    keyword_spans: tuple[tuple[str, Span], ...] = field(default=(), compare=False, repr=False)


def read_samples(reader: EntryReader, node: Node) -> tuple[Sample, ...]:
    """The samples that can be read."""
    if not isinstance(node, ListNode):
        reader.wrong_type("samples", node, "a list")
        return ()
    found = [_read_sample(reader, item) for item in node.items]
    return tuple(sample for sample in found if sample is not None)


def _read_sample(reader: EntryReader, node: Node) -> Sample | None:
    span = reader.span(node)
    if isinstance(node, ScalarNode):
        return _from_text(reader, node, span)
    text = reader.source.text[node.start : node.end].rstrip()
    if isinstance(node, ListNode):
        tree = read_expression(reader, "samples", node)
        return Sample(text, tree.items, span=span) if isinstance(tree, ListDisplay) else None
    return _from_mapping(reader, node, text, span)


def _from_text(reader: EntryReader, node: ScalarNode, span: Span) -> Sample | None:
    text = node.value.strip()
    if not (text.startswith("(") and text.endswith(")")):
        hint = "write the arguments in brackets: `(randn(3), 2.0)`"
        if text[:1] == "(" or text[-1:] == ")" and text.count("(") < text.count(")"):
            hint = "in square brackets a comma ends a sample: write each behind a dash"
        message = f"`{short(text)}` is not a list of arguments"
        reader.report("TG335", message, span, "here", hint)
        return None
    locate = scalar_locator(reader.source, node)
    lead = len(node.value) - len(node.value.lstrip())

    def shifted(start: int, end: int) -> Span:
        # The name in front, which makes a call of the arguments, stands nowhere in the file.
        return locate(max(start - 1, 0) + lead, max(end - 1, 1) + lead)

    tree = parse_in(reader, "_" + text, shifted)
    if not isinstance(tree, Call) or isinstance(tree.function, Call):
        if tree is not None:
            reader.report("TG335", f"`{short(text)}` is not a list of arguments", span, "here")
        return None
    return Sample(node.value, tree.arguments, tree.keywords, span)


def _from_mapping(reader: EntryReader, node: MapNode, text: str, span: Span) -> Sample | None:
    if text.startswith("{") and "(" in text:
        hint = "a comma ends a value here; write `(name=value)`, or one name a line"
        reader.report("TG335", "a sample in curly brackets with calls", span, "here", hint)
        return None
    keywords: list[tuple[str, Expression]] = []
    spans: list[tuple[str, Span]] = []
    pairs = reader.read_keys(node)
    for key, value in pairs:
        tree = read_expression(reader, key.value, value)
        if tree is not None:
            keywords.append((key.value, tree))
            spans.append((key.value, reader.span(key)))
    if len(keywords) < len(pairs):
        return None
    return Sample(text, (), tuple(keywords), span, tuple(spans))
