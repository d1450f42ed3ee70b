"""Fields that PyTorch does not have.

`loader.fakes`, `loader.derivatives` and `loader.samples` read the languages of the fields `fake`,
`derivatives` and `samples`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from torchgen_lite.loader.guards import read_guard
from torchgen_lite.loader.options import Json
from torchgen_lite.loader.reader import KERNEL, KERNEL_NAME, EntryReader
from torchgen_lite.loader.shapes import Shape, comma_list, plain, words
from torchgen_lite.loader.versions import parse_range
from torchgen_lite.loader.yaml_nodes import ListNode, MapNode, Node, ScalarNode

if TYPE_CHECKING:
    from torchgen_lite.loader.autocast import Autocast
    from torchgen_lite.loader.derivatives import Derivatives
    from torchgen_lite.loader.fakes import Fake
    from torchgen_lite.loader.samples import Samples


def _read_fake(reader: EntryReader, name: str) -> Fake | None:
    # Imported here, like the readers below: PyTorch's own entries never have these fields.
    from torchgen_lite.loader.fakes import read_fake

    return read_fake(reader, reader.fields[name][1])


def _read_autocast(reader: EntryReader, name: str) -> Autocast | None:
    from torchgen_lite.loader.autocast import read_autocast

    return read_autocast(reader, name)


def _read_samples(reader: EntryReader, name: str) -> Samples:
    from torchgen_lite.loader.samples import read_samples

    return read_samples(reader, reader.fields[name][1])


def _read_function(reader: EntryReader, name: str) -> str | None:
    text = reader.text(name)
    if text is not None and ("::" in text or not KERNEL_NAME.fullmatch(text)):
        span = reader.span(reader.fields[name][1])
        reader.refuse("TG334", text, "the name of a Python function", span)
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
        reader.refuse("TG122", text, "a build guard", reader.span(node), "here", hint)
    return condition


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


def _fake_schema() -> dict[str, object]:
    """A name, a rule, a list of rules, or a mapping from results to rules."""
    from torchgen_lite.loader.fakes import CHECK, RULE_FIELDS

    checks = {"type": "object", "additionalProperties": {"type": "string"}, "minProperties": 1}
    rule = {
        "type": "object",
        "propertyNames": {"enum": [*RULE_FIELDS, CHECK]},
        "properties": {CHECK: checks},
        "additionalProperties": {"type": ["string", "number", "array"]},
        "minProperties": 1,
    }
    named = {
        "type": "object",
        "properties": {CHECK: checks},
        "additionalProperties": rule,
        "minProperties": 1,
    }
    several = {"type": "array", "items": rule, "minItems": 1}
    return {"anyOf": [{"type": "string", "pattern": _FUNCTION}, rule, named, several]}


def _autocast_schema() -> dict[str, object]:
    """A dtype, or a mapping that has one."""
    from torchgen_lite.loader.autocast import DTYPES

    dtype = {"enum": list(DTYPES)}
    mapping = {
        "type": "object",
        "properties": {"dtype": dtype, "result": {"type": "string"}},
        "additionalProperties": False,
        "required": ["dtype"],
    }
    return {"anyOf": [dtype, mapping]}


def _samples_schema() -> dict[str, object]:
    """A list of calls, or a mapping that has one."""
    from torchgen_lite.loader.samples import DTYPES, FIELDS, GRADCHECK, TOLERANCES

    number = {"type": "number", "minimum": 0}
    settings: dict[str, object] = dict.fromkeys(GRADCHECK, number)
    settings["dtype"] = {"enum": list(DTYPES[2:])}
    calls = {"type": "array"}
    whole: dict[str, object] = dict.fromkeys(FIELDS, calls) | dict.fromkeys(TOLERANCES, number)
    whole["reference"] = {"type": "string"}
    whole["dtypes"] = words(comma_list(DTYPES), DTYPES)
    whole["gradcheck"] = {
        "anyOf": [
            {"enum": [False]},
            {"type": "object", "properties": settings, "additionalProperties": False},
        ]
    }
    mapping = {
        "type": "object",
        "properties": whole,
        "additionalProperties": False,
        "required": ["calls"],
        "dependencies": {"rtol": ["atol"], "atol": ["rtol"]},
    }
    return {"anyOf": [calls, mapping]}


_FUNCTION = f"^{KERNEL}$"
TORCH = Shape(plain(type="string", pattern=r"^\s*(?:>=|<=|==|!=|~=|<|>)\s*[0-9]"), _read_range)
_GUARD: Json = {"type": "string", "pattern": r"^#(?:if|ifdef|ifndef)[ \t]+\S"}
GUARD = Shape(plain(anyOf=[_GUARD, {"type": "array", "items": _GUARD, "minItems": 1}]), _read_guard)
FAKE = Shape(lambda tags: _fake_schema(), _read_fake)
FUNCTION = Shape(plain(type="string", pattern=_FUNCTION), _read_function)
AUTOCAST = Shape(lambda tags: _autocast_schema(), _read_autocast)
DERIVATIVES = Shape(plain(type="object"), _read_derivatives)
DIFFERENTIABILITY = Shape(plain(type="array", minItems=1), _read_derivatives)
SAMPLES = Shape(lambda tags: _samples_schema(), _read_samples)
