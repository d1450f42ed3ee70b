"""Fields that PyTorch does not have: `torch`, `guard`, `fake`, `derivatives`, `samples`.

What stands in `fake` and `samples` has a language of its own, read by the targets that use it; here
their shape is checked and the text kept. `derivatives` is read by `loader.derivatives`.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from torchgen_lite.loader.reader import EntryReader, short
from torchgen_lite.loader.versions import parse_range
from torchgen_lite.loader.yaml_nodes import ListNode, MapNode, Node, ScalarNode

if TYPE_CHECKING:
    from torchgen_lite.loader.derivatives import Derivatives

_GUARD = re.compile(r"#(?:if[ \t]+\S[^\n\\]*|ifn?def[ \t]+[A-Za-z_][A-Za-z0-9_]*)", re.ASCII)


def read_own_fields(reader: EntryReader) -> dict[str, object]:
    """The fields of ours that the entry has, by attribute."""
    values: dict[str, object] = {}
    fields = reader.fields
    if "torch" in fields:
        values["torch"] = _read_range(reader)
    if "guard" in fields:
        values["guard"] = _read_guard(reader)
    if "fake" in fields:
        node = fields["fake"][1]
        if isinstance(node, (MapNode, ScalarNode)) and not _is_null(node):
            values["fake"] = _text(reader, node)
        else:
            reader.wrong_type("fake", node, "a rule or the name of a function")
    if "derivatives" in fields:
        values["derivatives"] = _read_derivatives(reader)
    if "samples" in fields:
        node = fields["samples"][1]
        if isinstance(node, ListNode):
            values["samples"] = tuple(_text(reader, item) for item in node.items)
        else:
            reader.wrong_type("samples", node, "a list")
    return values


def _is_null(node: Node) -> bool:
    return isinstance(node, ScalarNode) and node.is_null


def _text(reader: EntryReader, node: Node) -> str:
    if isinstance(node, ScalarNode):
        return node.value
    return reader.source.text[node.start : node.end].rstrip()


def _read_range(reader: EntryReader) -> str | None:
    text = reader.text("torch")
    if text is not None and parse_range(text) is None:
        message = f"`{short(text)}` is not a version range"
        span = reader.span(reader.fields["torch"][1])
        reader.report("TG119", message, span, "here", 'write it like ">=2.6,<2.9"')
        return None
    return text


def _read_guard(reader: EntryReader) -> str | None:
    text = reader.text("guard")
    if text is not None and not _GUARD.fullmatch(text.strip()):
        message = f"`{short(text)}` is not a build guard"
        span = reader.span(reader.fields["guard"][1])
        reader.report("TG122", message, span, "here", 'write it like "#ifndef USE_ROCM"')
        return None
    return text.strip() if text is not None else None


def _read_derivatives(reader: EntryReader) -> Derivatives | None:
    """Formulas by argument name; several arguments with one formula are a comma list."""
    node = reader.fields["derivatives"][1]
    if not isinstance(node, MapNode):
        reader.wrong_type("derivatives", node, "a mapping from arguments to formulas")
        return None
    # Imported here: PyTorch's own entries never have the field.
    from torchgen_lite.loader.derivatives import read_derivatives

    return read_derivatives(reader, reader.read_keys(node), reader.span(node))
