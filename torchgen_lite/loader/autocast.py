"""The field `autocast:`: the precision in which an operator runs under `torch.autocast`.

    autocast: float32               autocast: {dtype: float32, result: x}

With `result`, results are cast back to the dtype of that argument.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from torchgen_lite.diagnostics import Span
from torchgen_lite.loader.options import Json
from torchgen_lite.loader.reader import EntryReader
from torchgen_lite.loader.shapes import Shape
from torchgen_lite.loader.yaml_nodes import ListNode, ScalarNode

DTYPES = ("float32", "lower_precision")
_FIELDS = ("dtype", "result")


@dataclass(frozen=True, slots=True)
class Autocast:
    """The dtype that tensors are cast to.

    `result` is the argument whose dtype results are cast back to; it is empty if there is none.
    """

    dtype: str
    result: str = ""
    span: Span | None = field(default=None, compare=False, repr=False)


def read_autocast(reader: EntryReader, name: str) -> Autocast | None:
    """The value of the field, or None and diagnostics if it can't be read."""
    node = reader.fields[name][1]
    if isinstance(node, ScalarNode):
        text = reader.text(name)
        known = text is not None and _is_dtype(reader, node)
        return Autocast(text, span=reader.span(node)) if text is not None and known else None
    if isinstance(node, ListNode):
        reader.wrong_type(name, node, "a dtype, or a mapping such as `{dtype: float32, result: x}`")
        return None
    found: dict[str, str] = {}
    span = reader.span(node)
    for key, value in reader.read_keys(node):
        if not reader.choice("TG337", "autocast field", key.value, key, _FIELDS):
            return None
        if not isinstance(value, ScalarNode) or value.is_null or not value.value:
            reader.wrong_type(key.value, value, "a name")
            return None
        if key.value == "dtype" and not _is_dtype(reader, value):
            return None
        if key.value == "result":
            span = reader.span(value)
        found[key.value] = value.value
    if "dtype" not in found:
        reader.report("TG337", "no dtype to cast to", span, "here", "add `dtype: float32`")
        return None
    return Autocast(found["dtype"], found.get("result", ""), span)


def _is_dtype(reader: EntryReader, node: ScalarNode) -> bool:
    return reader.choice("TG337", "autocast rule", node.value, node, DTYPES)


def _schema() -> Json:
    """A dtype, or a mapping that has one."""
    dtype = {"enum": list(DTYPES)}
    mapping = {
        "type": "object",
        "properties": {"dtype": dtype, "result": {"type": "string"}},
        "additionalProperties": False,
        "required": ["dtype"],
    }
    return {"anyOf": [dtype, mapping]}


SHAPE = Shape(lambda tags: _schema(), read_autocast)
