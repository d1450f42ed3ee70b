"""tags.yaml: the tags that entries may have, and what each means."""

from __future__ import annotations

from torchgen_lite.diagnostics import Diagnostic, Source
from torchgen_lite.loader.reader import EntryReader
from torchgen_lite.loader.yaml_nodes import ListNode, MapNode, ScalarNode, read_yaml


def load_tags(source: Source) -> tuple[dict[str, str], tuple[Diagnostic, ...]]:
    """Tag names with their descriptions, in the order of the file."""
    node, found = read_yaml(source)
    diagnostics = list(found)
    tags: dict[str, str] = {}
    if node is None:
        return tags, tuple(diagnostics)
    outer = EntryReader(source, diagnostics)
    if not isinstance(node, ListNode):
        outer.report("TG101", "not a list of tags", node, "here")
        return tags, tuple(diagnostics)
    for item in node.items:
        reader = EntryReader(source, diagnostics, node=item)
        if not isinstance(item, MapNode):
            reader.report("TG101", "a tag must be a mapping", item, "here")
            continue
        for name, (key, _) in reader.fields.items():
            reader.choice("TG102", "field", name, key, ("tag", "desc"))
        if "tag" not in reader.fields:
            reader.report("TG104", "an entry without `tag`", item, "here")
            continue
        name_node = reader.fields["tag"][1]
        if not isinstance(name_node, ScalarNode) or name_node.is_null:
            reader.wrong_type("tag", name_node, "a name")
            continue
        description = reader.text("desc") if "desc" in reader.fields else None
        tags[name_node.value] = " ".join((description or "").split())
    return tags, tuple(diagnostics)
