"""Check the rules of `fake:` against the schema, before anything fails under `torch.compile`."""

from __future__ import annotations

from torchgen_lite.analysis.fakes.results import (
    Result,
    lacks_fake,
    new_results,
    rules_by_result,
    uses_axes,
)
from torchgen_lite.analysis.finding import Findings, Found, Reported, finding, found_in
from torchgen_lite.analysis.kernels import COMPOSITE_IMPLICIT
from torchgen_lite.analysis.operators import Operator
from torchgen_lite.diagnostics import Help, did_you_mean
from torchgen_lite.diagnostics.text import counted
from torchgen_lite.formulas import kinds
from torchgen_lite.formulas.language import RULES, Wanted, kinds_of_values, value_kind
from torchgen_lite.formulas.model import Expression
from torchgen_lite.formulas.tree import Scope, every_part
from torchgen_lite.formulas.typed import type_formula
from torchgen_lite.loader.entry.fakes import Fake, FakeRule
from torchgen_lite.schema import FunctionSchema
from torchgen_lite.schema.grouped import names_of

_WANTED = {
    "dtype": frozenset({kinds.DTYPE}),
    "device": frozenset({kinds.DEVICE, kinds.STRING}),
    "shape": frozenset({kinds.INTS}),
    "stride": frozenset({kinds.INTS}),
    "memory_format": frozenset({kinds.MEMORY_FORMAT}),
    "view": frozenset({kinds.TENSOR}),
    "offset": frozenset({kinds.INT}),
    "count": frozenset({kinds.INT}),
}
# A field, and the fields that exclude it.
_EXCLUDES = {
    "view": ("like", "dtype", "device", "memory_format", "count", "value"),
    "value": ("like", "shape", "dtype", "device", "stride", "memory_format", "offset", "count"),
    "stride": ("memory_format",),
}
# A field, and the fields of which it needs at least one.
_NEEDS = {"stride": ("shape",), "offset": ("view",), "count": ("like", "shape")}


def check_fake(operator: Operator, fake: Fake) -> Findings:
    """Every mistake in a `fake:`."""
    refusal = _refusal(operator, fake)
    if refusal is not None:
        yield Found("TG331", refusal, fake.span, "no fake here", "leave it out")
    elif not fake.function:
        yield from _check_rules(operator, fake)
        for check in fake.checks:
            yield from mistakes(check.condition, frozenset({kinds.BOOL}), operator.schema)


def check_presence(operator: Operator) -> Reported:
    """TG339: nothing says what an operator gives when only shapes are known."""
    if lacks_fake(operator):
        yield finding(
            operator.function,
            "TG339",
            f"`{operator.schema.full_name}` has no fake, so `torch.compile` can't trace it",
            operator.function.place("func"),
            "here",
            "add `fake:`, or a kernel for `Meta`",
        )


def _refusal(operator: Operator, fake: Fake) -> str | None:
    """Why an operator cannot use `fake:`."""
    name = operator.schema.full_name
    if operator.is_only_composed:
        return f"`{name}` gets its fake from its {COMPOSITE_IMPLICIT} kernel"
    if "Meta" in operator.keys:
        return f"`{name}` has a kernel for `Meta`, which is its fake"
    if (fake.checks and not fake.rules) or new_results(operator.schema):
        return None
    what = "what it wrote to" if operator.schema.returns else "nothing"
    return f"`{name}` returns {what}, so its fake is derived from the schema"


def mistakes(tree: Expression, wanted: Wanted, schema: FunctionSchema) -> Findings:
    """What is wrong with an expression, which must be of a wanted kind."""
    scope = Scope(kinds_of_values(schema.arguments), language=RULES)
    for part in every_part(type_formula(tree, scope, wanted)):
        if part.mistake is not None:
            yield found_in(part, part.mistake)


def _check_rules(operator: Operator, fake: Fake) -> Findings:
    schema = operator.schema
    rules = fake.rules
    has_axes = uses_axes(operator)
    needing = new_results(schema)
    if rules and rules[0].name:
        names = names_of(needing)
        for rule in rules:
            if rule.name not in names:
                yield Found(
                    "TG331",
                    f"`{schema.full_name}` has no result `{rule.name}`",
                    rule.name_span,
                    "not a result",
                    did_you_mean(rule.name, names) or f"the results are {', '.join(names)}",
                )
        given = set(names_of(rules))
        missing = [name for name in names if name not in given]
        if missing and not has_axes:
            yield Found(
                "TG331",
                f"no rule for result `{missing[0]}`",
                fake.span,
                "missing here",
            )
    elif len(rules) != len(needing) and (rules or not has_axes):
        yield Found(
            "TG331",
            f"{counted(len(rules), 'rule')} for {counted(len(needing), 'result')}",
            fake.span,
            f"of `{schema.full_name}`",
        )
    given_rules = rules_by_result(operator.function)
    for result in needing:
        if result.index in given_rules:
            yield from _check_rule(schema, result, given_rules[result.index], has_axes)


def _check_rule(schema: FunctionSchema, result: Result, rule: FakeRule, has_axes: bool) -> Findings:
    present = {name for name, _ in rule.fields}
    spans = dict(rule.field_spans)
    for name in present:
        clash = [other for other in _EXCLUDES.get(name, ()) if other in present]
        if clash:
            yield Found(
                "TG330",
                f"`{name}` and `{clash[0]}` exclude each other",
                spans[clash[0]],
                f"not beside `{name}`",
                "keep one of them",
            )
        if name in _NEEDS and not present.intersection(_NEEDS[name]):
            yield Found(
                "TG330",
                f"`{name}` needs `{_NEEDS[name][0]}`",
                spans[name],
                "stands alone",
                f"write `{_NEEDS[name][0]}` beside it",
            )
    shaped = present if rule.gives_shape or not has_axes else {*present, "like"}
    misfit = _misfit(schema, result, rule, shaped)
    if misfit is not None:
        yield misfit
    kind = value_kind(result.value.type).present
    is_each = kind == kinds.TENSORS and "count" not in present
    wanted = {
        **_WANTED,
        "like": frozenset({kinds.TENSORS if is_each else kinds.TENSOR}),
        "value": frozenset({kind, kind._replace(is_optional=True)}),
    }
    for name, tree in rule.fields:
        # `value` is wrong for a tensor, whatever its kind.
        if name != "value" or kind not in (kinds.TENSOR, kinds.TENSORS):
            yield from mistakes(tree, wanted[name], schema)


def _misfit(
    schema: FunctionSchema, result: Result, rule: FakeRule, present: set[str]
) -> Found | None:
    """The fields must produce the type that the schema gives the result."""
    kind = value_kind(result.value.type).present
    which = "the result" if len(schema.returns) == 1 else f"result `{result.name}`"
    what = f"{which} of `{schema.full_name}`"
    places = dict(rule.field_spans)

    def wrong(message: str, label: str, hint: Help | None = None, field: str = "") -> Found:
        return Found("TG331", message, places.get(field, rule.span), label, hint)

    if kind not in (kinds.TENSOR, kinds.TENSORS):
        if present and "value" not in present:
            message = f"{what} is `{result.value.type}`, not a tensor"
            return wrong(message, "here", "give it a `value`")
        if not kind.is_known:
            message = f"a rule cannot make a `{result.value.type}`"
            return wrong(message, "here", "name a Python function")
        return None
    source = result.source
    kinds_given = kinds_of_values(schema.arguments).values()
    if source is not None and "view" not in present:
        return wrong(
            f"{what} shares the memory of `{source.name}`",
            "makes a new tensor",
            f"write `view: {source.name}`, with `shape` and `stride`",
        )
    if source is None and "view" in present:
        return wrong(f"{what} is a new tensor by its schema", "shares memory", None, "view")
    if source is not None and str(rule.get("view")) != source.name:
        return wrong(f"{what} is a view of `{source.name}`", "of something else", None, "view")
    if "value" in present:
        return wrong(f"{what} is a tensor", "no tensor", None, "value")
    if not present & {"like", "shape", "view"}:
        return wrong(f"the rule does not give the shape of {what}", "here", "add `like` or `shape`")
    if kind == kinds.TENSORS and not present & {"like", "count"}:
        return wrong(f"{what} is a list of tensors", "one tensor", "add `count`")
    if kind == kinds.TENSOR and "count" in present:
        return wrong(f"{what} is one tensor", "a list", None, "count")
    if not present & {"like", "dtype", "view"} and kinds.TENSOR not in kinds_given:
        like = "`like` or " if kinds.TENSORS in kinds_given else ""
        return wrong(f"the rule does not give the dtype of {what}", "here", f"add {like}`dtype`")
    return None
