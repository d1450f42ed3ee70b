"""The field `samples:`: example arguments for generated tests, and what to compare with, and how.

    samples:                                samples:
      - (randn(3, 4), randn(3, 4), 2.0)       calls: [(randn(3, 4))]
      - (randn(3), dim=0)                     reference: torch.relu(x)
      - self: randn(3)                        dtypes: [float32, bfloat16]
        dim: 0                                gradcheck: {eps: 1e-3, atol: 1e-2, rtol: 1e-2}

Each call is kept as expressions; `analysis.samples` checks them against the schema.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

from torchgen_lite.diagnostics import Span, did_you_mean
from torchgen_lite.formulas import Call, Expression, ListDisplay
from torchgen_lite.loader.fakes import parse_in, read_expression
from torchgen_lite.loader.options import Json
from torchgen_lite.loader.reader import TRUTH, EntryReader, short
from torchgen_lite.loader.references import Reference, read_reference
from torchgen_lite.loader.shapes import Shape, comma_list, words
from torchgen_lite.loader.yaml_nodes import ListNode, MapNode, Node, ScalarNode
from torchgen_lite.loader.yaml_text import scalar_locator


@dataclass(frozen=True, slots=True)
class Sample:
    """One list of arguments; `text` is what is written."""

    text: str
    arguments: tuple[Expression, ...] = ()
    keywords: tuple[tuple[str, Expression], ...] = ()
    span: Span | None = field(default=None, compare=False, repr=False)
    keyword_spans: tuple[tuple[str, Span], ...] = field(default=(), compare=False, repr=False)


# The dtypes that the floating-point tensors of samples may have.
DTYPES = ("float16", "bfloat16", "float32", "float64")
TOLERANCES = ("rtol", "atol")
GRADCHECK = ("dtype", "eps", "atol", "rtol", "nondet_tol", "check_batched_grad")
FIELDS = ("calls", "reference", "dtypes", *TOLERANCES, "gradcheck")
Settings = tuple[tuple[str, float | str], ...]


@dataclass(frozen=True, slots=True)
class Samples:
    """What is written under `samples:`: the calls and the settings.

    `gradcheck` is None if gradients are not to be checked.
    """

    calls: tuple[Sample, ...]
    reference: Reference | None = None
    dtypes: tuple[str, ...] = ()
    tolerances: tuple[tuple[str, float], ...] = ()
    gradcheck: Settings | None = ()


def read_samples(reader: EntryReader, name: str) -> Samples:
    """A list of calls, or a mapping that has the calls and settings for all of them."""
    node = reader.fields[name][1]
    if isinstance(node, ListNode):
        return Samples(_read_calls(reader, node))
    if not isinstance(node, MapNode):
        hint = "write each sample behind a dash"
        reader.wrong_type("samples", node, "a list, or a mapping with `calls`", hint)
        return Samples(())
    values = {}
    for key, value in reader.read_keys(node):
        if key.value in FIELDS:
            values[key.value] = value
            continue
        near = did_you_mean(key.value, FIELDS) or "write each sample behind a dash"
        message = f"unknown field `{short(key.value)}` of `samples`"
        reader.report("TG335", message, key, "not a field", near)
    if "calls" not in values:
        if len(values) == len(node.items):
            hint = "write the samples as a list under `calls:`"
            reader.report("TG335", "`samples` without `calls`", node, "here", hint)
        return Samples(())
    return Samples(
        _read_calls(reader, values["calls"]),
        read_reference(reader, values["reference"]) if "reference" in values else None,
        _read_dtypes(reader, values["dtypes"]) if "dtypes" in values else (),
        _read_tolerances(reader, values),
        _read_gradcheck(reader, values["gradcheck"]) if "gradcheck" in values else (),
    )


def _read_calls(reader: EntryReader, node: Node) -> tuple[Sample, ...]:
    """The samples that can be read."""
    if not isinstance(node, ListNode):
        reader.wrong_type("calls", node, "a list")
        return ()
    found = [_read_sample(reader, item) for item in node.items]
    return tuple(sample for sample in found if sample is not None)


def _read_dtypes(reader: EntryReader, node: Node) -> tuple[str, ...]:
    found = reader.words_of("dtypes", node)
    known = [w for w, at in found if reader.choice("TG335", "dtype of samples", w, at, DTYPES)]
    return tuple(dict.fromkeys(known))


def _read_tolerances(reader: EntryReader, values: dict[str, Node]) -> tuple[tuple[str, float], ...]:
    """Both or neither, as `torch.testing.assert_close` takes them."""
    given = [name for name in TOLERANCES if name in values]
    found = [(name, _number(reader, name, values[name])) for name in given]
    if len(given) == 1:
        missing = TOLERANCES[1 - TOLERANCES.index(given[0])]
        message, span = f"`{given[0]}` without `{missing}`", reader.span(values[given[0]])
        reader.report("TG335", message, span, "alone", "write both; one may be 0")
    return tuple((name, number) for name, number in found if number is not None)


def _number(reader: EntryReader, name: str, node: Node) -> float | None:
    if not isinstance(node, ScalarNode) or node.is_null:
        reader.wrong_type(name, node, "a number")
        return None
    try:
        number = float(node.value)
    except ValueError:
        number = math.nan
    if not 0 <= number < math.inf:
        message = f"`{name}` takes a non-negative number, not `{short(node.value)}`"
        reader.report("TG106", message, node, "not a number")
        return None
    return number


def _read_gradcheck(reader: EntryReader, node: Node) -> Settings | None:
    """None for `false`, or the settings that `torch.autograd.gradcheck` is given."""
    if isinstance(node, ScalarNode) and node.value.lower() == "false" and not node.style:
        return None
    if not isinstance(node, MapNode):
        reader.wrong_type("gradcheck", node, "`false`, or a mapping such as `{eps: 1e-3}`")
        return ()
    found: list[tuple[str, float | str]] = []
    for key, value in reader.read_keys(node):
        if not reader.choice("TG335", "setting of gradcheck", key.value, key, GRADCHECK):
            continue
        if key.value == "dtype":
            given = reader.words_of("dtype", value)
            kinds = DTYPES[2:]
            if len(given) == 1 and reader.choice("TG335", "dtype of gradcheck", *given[0], kinds):
                found.append(("dtype", given[0][0]))
        elif key.value == "check_batched_grad":
            if isinstance(value, ScalarNode) and value.value in TRUTH:
                found.append((key.value, TRUTH[value.value]))
            else:
                reader.wrong_type(key.value, value, "`true` or `false`")
        elif (number := _number(reader, key.value, value)) is not None:
            found.append((key.value, number))
    return tuple(found)


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
        reader.refuse("TG335", text, "a list of arguments", span, "here", hint)
        return None
    locate = scalar_locator(reader.source, node)
    lead = len(node.value) - len(node.value.lstrip())

    def shifted(start: int, end: int) -> Span:
        # The `_` in front, which makes the arguments a call, is not in the file.
        return locate(max(start - 1, 0) + lead, max(end - 1, 1) + lead)

    tree = parse_in(reader, "_" + text, shifted)
    if not isinstance(tree, Call) or isinstance(tree.function, Call):
        if tree is not None:
            reader.refuse("TG335", text, "a list of arguments", span, "here")
        return None
    return Sample(node.value, tree.arguments, tree.keywords, span)


def _from_mapping(reader: EntryReader, node: MapNode, text: str, span: Span) -> Sample | None:
    if text.startswith("{") and "(" in text:
        hint = "write `(name=value)`, or one name a line: in curly brackets a comma ends a value"
        reader.report("TG335", "a sample in curly brackets cannot have calls", span, "here", hint)
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


def _schema() -> Json:
    """A list of calls, or a mapping that has one."""
    number = {"type": "number", "minimum": 0}
    settings: dict[str, object] = dict.fromkeys(GRADCHECK, number)
    settings |= {"dtype": {"enum": list(DTYPES[2:])}, "check_batched_grad": {"type": "boolean"}}
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


SHAPE = Shape(lambda tags: _schema(), read_samples)
