"""Fields that PyTorch does not have.

`loader.fakes`, `loader.autocast` and `loader.samples` declare the shapes of their fields, and
`loader.derivatives` reads formulas. They are imported when an entry has the field: PyTorch's own
entries never do.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from torchgen_lite.loader.guards import read_guard
from torchgen_lite.loader.options import Json
from torchgen_lite.loader.reader import KERNEL, KERNEL_NAME, EntryReader
from torchgen_lite.loader.shapes import Shape, comma_list, plain, words
from torchgen_lite.loader.versions import parse_range
from torchgen_lite.loader.yaml_nodes import ListNode, MapNode, Node, ScalarNode
from torchgen_lite.schema.defaults import DTYPES

if TYPE_CHECKING:
    from torchgen_lite.loader.derivatives import Derivatives


def _imported(module: str) -> Shape:
    """The shape that a module of `loader` declares."""

    def shape() -> Any:
        return import_module(f"torchgen_lite.loader.{module}").SHAPE

    return Shape(lambda tags: shape().schema(tags), lambda reader, name: shape().read(reader, name))


def _read_function(reader: EntryReader, name: str) -> str | None:
    text = reader.text(name)
    if text is not None and ("::" in text or not KERNEL_NAME.fullmatch(text)):
        reader.refuse("TG334", text, "the name of a Python function", reader.fields[name][1])
        return None
    return text


def _read_range(reader: EntryReader, name: str) -> str | None:
    text = reader.text(name)
    if text is not None and parse_range(text) is None:
        span, hint = reader.span(reader.fields[name][1]), 'write it like ">=2.6,<2.9"'
        reader.refuse("TG119", text, "a version range", span, "here", hint)
        return None
    return text


def _read_guard(reader: EntryReader, name: str) -> str | None:
    """One condition as it is written, or one that joins all conditions of a list."""
    node = reader.fields[name][1]
    if not isinstance(node, ListNode):
        text = reader.text(name)
        is_right = text is not None and _guard_condition(reader, text, node) is not None
        return text.strip() if text is not None and is_right else None
    conditions: list[str] = []
    for item in node.items:
        if not isinstance(item, ScalarNode) or item.is_null:
            reader.wrong_type(name, item, "a string")
            return None
        condition = _guard_condition(reader, item.value, item)
        if condition is None:
            return None
        conditions.append(condition)
    if not conditions:
        reader.wrong_type(name, node, "a condition, or a list of them")
        return None
    joined = f"#if {' && '.join(conditions)}"
    return joined if _guard_condition(reader, joined, node) is not None else None


def _guard_condition(reader: EntryReader, text: str, node: Node) -> str | None:
    condition = read_guard(text)
    if condition is None:
        hint = 'write it like "#ifndef USE_ROCM"'
        reader.refuse("TG122", text, "a build guard", node, "here", hint)
    return condition


def _read_dtypes(reader: EntryReader, name: str) -> tuple[str, ...]:
    found = reader.list_words(name)
    known = [word for word, at in found if reader.choice("TG107", "dtype", word, at, DTYPES)]
    return tuple(dict.fromkeys(known))


def _read_derivatives(reader: EntryReader, name: str) -> Derivatives | None:
    """Formulas by argument name; arguments that share a formula are a comma list.

    `output_differentiability` may be among the formulas, as in PyTorch's derivatives.yaml, or
    beside `derivatives`.
    """
    pairs, span = [], reader.span(reader.fields[name][1])
    if "derivatives" in reader.fields:
        node = reader.fields["derivatives"][1]
        if not isinstance(node, MapNode):
            reader.wrong_type("derivatives", node, "a mapping from arguments to formulas")
            return None
        pairs, span = list(reader.read_keys(node)), reader.span(node)
    if "output_differentiability" in reader.fields:
        pairs.append(reader.fields["output_differentiability"])
    from torchgen_lite.loader.derivatives import read_derivatives

    return read_derivatives(reader, pairs, span)


_FUNCTION = f"^{KERNEL}$"
TORCH = Shape(plain(type="string", pattern=r"^\s*(?:>=|<=|==|!=|~=|<|>)\s*[0-9]"), _read_range)
_GUARD: Json = {"type": "string", "pattern": r"^#(?:if|ifdef|ifndef)[ \t]+\S"}
GUARD = Shape(plain(anyOf=[_GUARD, {"type": "array", "items": _GUARD, "minItems": 1}]), _read_guard)
FAKE = _imported("fakes")
FUNCTION = Shape(plain(type="string", pattern=_FUNCTION), _read_function)
AUTOCAST = _imported("autocast")
DERIVATIVES = Shape(plain(type="object"), _read_derivatives)
DIFFERENTIABILITY = Shape(plain(type="array", minItems=1), _read_derivatives)
CLAIMED_DTYPES = Shape(plain(**words(comma_list(DTYPES), DTYPES)), _read_dtypes, is_words=True)
SAMPLES = _imported("samples")
