"""The field `fake:`: rules for the shapes of an operator's results, or a Python function's name.

    fake: my_fake                     fake: {like: x}
    fake:                             fake:
      shape: [x.size(0), n]             values: {like: x, shape: [x.size(0), k]}
      dtype: promote(x, y)              indices: {shape: [x.size(0), k], dtype: int64}
      check:
        x.dim() == 2: x is a matrix

Expressions become trees whose nodes know their place in the file. `analysis.fakes` works out what
they mean for an operator.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import chain
from typing import NamedTuple

from torchgen_lite.diagnostics import (
    Help,
    Locate,
    Span,
    Suggestion,
    did_you_mean,
    meant,
    not_compared,
)
from torchgen_lite.formulas.mistakes import answer_in_a_rule, correction_in_a_rule
from torchgen_lite.formulas.model import Expression, ListDisplay
from torchgen_lite.formulas.parser import parse_formula
from torchgen_lite.formulas.prefix import TORCH, without_prefix
from torchgen_lite.loader.entry.reader import KERNEL_NAME, EntryReader, short
from torchgen_lite.loader.entry.shapes import Shape, plain
from torchgen_lite.loader.yaml.nodes import ListNode, MapNode, Node, ScalarNode, is_text
from torchgen_lite.schema.grouped import without_none

RULE_FIELDS = tuple("like shape dtype device stride memory_format view offset count value".split())
CHECK = "check"


class FakeCheck(NamedTuple):
    """A condition that a valid call meets, and the message for a call that does not."""

    condition: Expression
    message: str


@dataclass(frozen=True, slots=True)
class FakeRule:
    """The rule for one result: expressions by field. `name` is the result's if rules are named."""

    fields: tuple[tuple[str, Expression], ...]
    name: str = ""
    checks: tuple[FakeCheck, ...] = ()
    span: Span | None = not_compared()
    name_span: Span | None = not_compared()
    field_spans: tuple[tuple[str, Span], ...] = not_compared(())

    @property
    def gives_shape(self) -> bool:
        """Whether it says what shape the result has; `axes` may, too."""
        return not {"like", "shape", "view", "value"}.isdisjoint(dict(self.fields))

    def get(self, name: str) -> Expression | None:
        return dict(self.fields).get(name)


@dataclass(frozen=True, slots=True)
class Fake:
    """The value of `fake:`: the name of a function, or rules. `text` is the source.

    `checks` has the checks of all rules, and those written beside the rules.
    """

    text: str
    function: str = ""
    rules: tuple[FakeRule, ...] = ()
    checks: tuple[FakeCheck, ...] = ()
    span: Span | None = not_compared()


def read_fake(reader: EntryReader, name: str, node: Node) -> Fake | None:
    """The value of `fake:`, or None and diagnostics if it can't be read."""
    span = reader.span(node)
    if isinstance(node, ScalarNode):
        if reader.scalar(name, node, "a rule or the name of a function") is None:
            return None
        function = node.value.strip()
        if "::" not in function and KERNEL_NAME.fullmatch(function):
            return Fake(node.value, function, span=span)
        reader.refuse(
            "TG330",
            function,
            "the name of a Python function",
            span,
            help=reader.missing_space(node) or "write a rule as `fake: {like: x}`",
        )
        return None
    text = reader.written(node).rstrip()
    beside = []
    if isinstance(node, ListNode):
        rules = [_read_rule(reader, item, "") for item in node.items]
    else:
        pairs = reader.read_keys(node)
        named = [(key, value) for key, value in pairs if key.value != CHECK]
        is_rule = any(key.value in RULE_FIELDS for key, _ in pairs)
        if is_rule or not all(isinstance(value, MapNode) for _, value in named):
            rules = [_read_rule(reader, node, "")]
        else:
            rules = [_read_rule(reader, value, key.value, reader.span(key)) for key, value in named]
            beside = [read_checks(reader, value) for key, value in pairs if key.value == CHECK]
            if None in beside:
                return None
    if rules == [FakeRule(())] or not (rules or beside):
        reader.report("TG330", "an empty rule", span, "here", "write `like: x` or `shape: [...]`")
        return None
    kept = tuple(without_none(rules))
    if len(kept) < len(rules):
        return None
    checks = chain(without_none(beside), [rule.checks for rule in kept])
    return Fake(text, "", kept, tuple(chain.from_iterable(checks)), span)


def read_checks(reader: EntryReader, node: Node) -> tuple[FakeCheck, ...] | None:
    """Conditions with their messages, or None and diagnostics if they can't be read."""
    if not isinstance(node, MapNode):
        reader.wrong_type(CHECK, node, "a mapping from conditions to messages")
        return None
    checks = []
    pairs = reader.read_keys(node)
    hint = "write `x.dim() == 2: x is a matrix`"
    if not pairs:
        reader.report("TG330", "an empty check", node, "here", hint)
        return None
    for key, value in pairs:
        condition = parse_in(reader, key.value, reader.locator(key))
        if not is_text(value) or not value.value.strip():
            reader.report("TG330", "a check without a message", key, "here", hint)
        elif condition is not None:
            checks.append(FakeCheck(condition, " ".join(value.value.split())))
    return tuple(checks) if len(checks) == len(pairs) else None


def _read_rule(
    reader: EntryReader, node: Node, name: str, name_span: Span | None = None
) -> FakeRule | None:
    if not isinstance(node, MapNode):
        reader.wrong_type(name or "fake", node, "a mapping such as `{like: x}`")
        return None
    fields = []
    checks: tuple[FakeCheck, ...] | None = ()
    pairs = reader.read_keys(node)
    for key, value in pairs:
        if key.value == CHECK:
            checks = read_checks(reader, value)
        elif key.value in RULE_FIELDS:
            tree = read_expression(reader, key.value, value)
            if tree is not None:
                fields.append((key.value, tree))
        else:
            hint: Help | None = reader.as_a_field(key.value)
            is_argument = isinstance(value, ScalarNode) and value.value in reader.names
            if is_argument:
                hint = hint or meant(key.value, "like")
            hint = hint or did_you_mean(key.value, (*RULE_FIELDS, CHECK))
            assigned = re.fullmatch(r"(\w+)(?:\s*=\s*|\s+)(.+)", key.value)
            if assigned is not None:
                hint = f"write `{assigned[1]}: {assigned[2]}`"
            if ")" in key.value or "(" in key.value:
                hint = "a comma ends a value here; write the rule on separate lines"
            reader.report(
                "TG330",
                f"unknown field `{short(key.value)}` in a rule",
                key,
                "not a field",
                hint,
            )
    places = tuple((key.value, reader.span(key)) for key, _ in pairs if key.value != CHECK)
    if checks is None or len(fields) < len(places):
        return None
    return FakeRule(tuple(fields), name, checks, reader.span(node), name_span, places)


def read_expression(reader: EntryReader, name: str, node: Node) -> Expression | None:
    """A scalar as an expression, or a YAML list as a list of expressions."""
    if not isinstance(node, ListNode):
        scalar = reader.scalar(
            name, node, "an expression", f"write the expression behind `{name}:`"
        )
        return None if scalar is None else parse_in(reader, scalar.value, reader.locator(scalar))
    quoted = any(isinstance(item, ScalarNode) and item.style for item in node.items)
    if reader.source.text.startswith("[", node.start) and not quoted:
        # YAML splits a flow list at every comma, even inside calls, so the text itself is parsed.
        text = reader.written(node)
        return parse_in(reader, text, reader.source.locator(node.start))
    items = [read_expression(reader, name, item) for item in node.items]
    kept = tuple([item for item in items if item is not None])
    return ListDisplay(kept, span=reader.span(node)) if len(kept) == len(items) else None


_LANGUAGE = "write an expression of names, numbers, calls and `+ - * /`; docs/torch-python-target.md has the language"


def parse_in(
    reader: EntryReader, text: str, locate: Locate, *, is_condition: bool = False
) -> Expression | None:
    """The tree of an expression of this entry; mistakes are recorded as diagnostics."""
    tree, mistakes = parse_formula(text, locate=locate, is_condition=is_condition)
    if mistakes:
        advice = answer_in_a_rule(text) or _LANGUAGE
        reader.repeat(mistakes, _applicable(advice, text, locate(0, len(text))))
    if tree is None or TORCH not in text:
        return tree
    return without_prefix(tree, reader.names)


def _applicable(advice: str, text: str, place: Span) -> Help:
    """The help with the edit that it means, where the expression stands in the file as it is."""
    correction = correction_in_a_rule(text)
    source = place.source.text
    if correction is None or place.text != text:
        return advice
    new = correction.new
    span = place._replace(start=place.start + correction.start, end=place.start + correction.end)
    # In braces of YAML a comma ends a value.
    ends_at_comma = source[place.end :].lstrip(" ")[:1] in (",", "}") and text[:1] != "["
    if ends_at_comma and '"' not in text:
        span = place
        new = f'"{correction.applied(text)}"'
    return Suggestion(advice, span, new, correction.is_certain)


# A name, a rule, a list of rules, or a mapping from results to rules.
_TEXTS = {"type": "object", "additionalProperties": {"type": "string"}, "minProperties": 1}
_RULE = {
    "type": "object",
    "propertyNames": {"enum": [*RULE_FIELDS, CHECK]},
    "properties": {CHECK: _TEXTS},
    "additionalProperties": {"type": ["string", "number", "array"]},
    "minProperties": 1,
}
_NAMED = {
    "type": "object",
    "properties": {CHECK: _TEXTS},
    "additionalProperties": _RULE,
    "minProperties": 1,
}
_SEVERAL = {"type": "array", "items": _RULE, "minItems": 1}
_ANY = [{"type": "string", "pattern": f"^{KERNEL_NAME.pattern}$"}, _RULE, _NAMED, _SEVERAL]
SHAPE = Shape(plain(anyOf=_ANY), read_fake)
FLOPS = Shape(plain(type=["string", "integer"]), read_expression)
