"""What a word of an entry names: an argument, a function or an operator; and where schema files name the same."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Literal, NamedTuple

from torchgen_lite.analysis.operators import Operator
from torchgen_lite.diagnostics import Span
from torchgen_lite.loader.entry.fakes import RULE_FIELDS
from torchgen_lite.targets.generation import generation_of
from torchgen_lite.targets.output import AuthorFunction
from torchgen_lite_tools.lsp.analysis import Analysis, find_operator
from torchgen_lite_tools.lsp.places import Place, find_place

# Fields whose values, or the keys below them, name arguments and functions.
EXPRESSIONS = (
    "axes",
    "checkpoint",
    "cpp_no_default_args",
    "derivatives",
    "fake",
    "flops",
    "precomputed",
    "samples",
)
_FUNCTIONS = ("dispatch", "vmap")
# In forward mode, `x_t` is the tangent of `x`, and `x_p` its primal.
_OF_FORWARD_MODE = ("_t", "_p")


class Named(NamedTuple):
    """An argument of `operator`, a function that entries name, or an operator.

    `name` is as written, with its module or namespace; `span` is the last part of it, which a new name replaces.
    """

    kind: Literal["argument", "function", "operator"]
    name: str
    operator: str
    span: Span

    @property
    def last(self) -> str:
        return _last(self.name)


class Scope(NamedTuple):
    """A part of a file in which a name has one meaning, and where it stands there."""

    span: Span
    names: tuple[Span, ...]


def named_at(analysis: Analysis, place: Place) -> Named | None:
    """What is named at a place, if it is known."""
    span = place.identifier
    field = place.keys[0] if place.keys else ""
    if not span.text or place.is_comment:
        return None
    if field in _FUNCTIONS:
        return None if place.is_key else _function(place)
    if field in ("structured_delegate", "autogen"):
        return Named("operator", place.word, place.operator, place.span)
    operator = find_operator(analysis, place.operator, place.operator)
    if operator is None:
        return None
    if field in ("func", "op"):
        return _in_schema(operator, place)
    if field in EXPRESSIONS:
        return _in_expression(analysis, operator, field, place)
    return None


def _in_schema(operator: Operator, place: Place) -> Named | None:
    start = place.identifier.start
    for argument in operator.schema.arguments:
        at = argument.name_span
        if at is not None and at.start == start:
            return Named("argument", argument.name, operator.name, place.identifier)
    at = operator.schema.name_span
    if at is not None and at.start <= start < at.end:
        return Named("operator", operator.name, operator.name, place.span)
    return None


def _in_expression(
    analysis: Analysis, operator: Operator, field: str, place: Place
) -> Named | None:
    """A name in an expression, or a key of a mapping whose keys are names."""
    source, start, end = place.identifier
    text = place.identifier.text
    before = source.text[:start][-80:]
    after = source.text[end : end + 2].lstrip(" ")
    is_member = before.endswith((".", "->", ":"))
    is_rule = place.is_key and field == "fake" and text in RULE_FIELDS
    is_axis = field == "axes" and place.before.count("[") > place.before.count("]")
    is_keyword = after.startswith("=") and not source.text.startswith("==", end)
    # A keyword of a sample is an argument of the operator, and others are of a function that is called.
    is_own = field == "samples" and place.before.count("(") == 1 + place.before.count(")")
    if is_member or is_rule or is_axis or (is_keyword and not is_own):
        return None
    if not after.startswith("("):
        names = {argument.name for argument in operator.schema.arguments}
        if text in names:
            return Named("argument", text, operator.name, place.identifier)
        if field == "derivatives" and text.endswith(_OF_FORWARD_MODE) and text[:-2] in names:
            return Named("argument", text[:-2], operator.name, Span(source, start, end - 2))
    if analysis.defined_at(text) is not None or author_functions(analysis, text):
        return Named("function", text, "", place.identifier)
    return None


def _function(place: Place) -> Named | None:
    """The function of a value that is nothing else."""
    last = _last(place.word)
    return Named("function", place.word, "", place.span._replace(start=place.span.end - len(last)))


def _last(name: str) -> str:
    return re.split(r"[.:]", name)[-1]


def author_functions(analysis: Analysis, name: str) -> list[AuthorFunction]:
    """The functions of this name, perhaps with its namespace, that the targets take from an author."""
    found = []
    for target in generation_of(analysis.program).targets:
        for function in target.author_functions(analysis.program)[0]:
            if name in (function.name, f"{function.namespace}::{function.name}"):
                found.append(function)
    return found


def scopes_in_entries(analysis: Analysis, named: Named) -> Iterator[Scope]:
    """The entries of an argument's operator, or the schema files, that name the same."""
    forward = f"(?:{'|'.join(_OF_FORWARD_MODE)})?" if named.kind == "argument" else ""
    pattern = re.compile(rf"(?<!\w){re.escape(named.last)}{forward}(?!\w)")
    for span in _where(analysis, named):
        names = []
        for match in pattern.finditer(span.source.text, span.start, span.end):
            other = named_at(analysis, find_place(span.source, match.start()))
            if other is not None and _is_same(analysis, named, other):
                names.append(other.span)
        yield Scope(span, tuple(names))


def _where(analysis: Analysis, named: Named) -> Iterator[Span]:
    if named.kind == "argument":
        for function in analysis.program.entries:
            span = function.field_spans.entry
            if function.name == named.operator and span is not None:
                yield span
        return
    for source in analysis.program.sources:
        yield Span(source, 0, len(source.text))


def _is_same(analysis: Analysis, named: Named, other: Named) -> bool:
    if other.kind != named.kind:
        return False
    if named.kind == "function":
        return analysis.defined_at(other.name) == analysis.defined_at(named.name)
    if named.kind == "argument":
        return (other.name, other.operator) == (named.name, named.operator)
    operators = [find_operator(analysis, name.name, name.operator) for name in (named, other)]
    return operators[0] is operators[1]
