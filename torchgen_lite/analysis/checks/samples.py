"""Check the samples of an entry, and their reference, against its schema."""

from __future__ import annotations

from torchgen_lite.analysis.checks.references import check_reference
from torchgen_lite.analysis.differentiability.check import check_let
from torchgen_lite.analysis.finding import Findings, Found
from torchgen_lite.analysis.operators import Operator
from torchgen_lite.analysis.python_names import instead_in_a_reference
from torchgen_lite.diagnostics import Help, did_you_mean, write_instead
from torchgen_lite.diagnostics.text import quoted
from torchgen_lite.formulas import kinds
from torchgen_lite.formulas import model as nodes
from torchgen_lite.formulas.language import CONSTANTS, SAMPLES, value_kind
from torchgen_lite.formulas.tree import Scope, fits
from torchgen_lite.formulas.typed import type_formula
from torchgen_lite.loader.entry.entry import NativeFunction
from torchgen_lite.loader.entry.reader import python_names
from torchgen_lite.loader.entry.samples import BUILTINS, Reference, Sample, Samples
from torchgen_lite.loader.sources import words_beside
from torchgen_lite.loader.torch.functions import functions_of_torch
from torchgen_lite.schema import return_names
from torchgen_lite.schema.grouped import names_of

_CALLED = words_beside(__file__)
FACTORIES = _CALLED["factories"]
METHODS = _CALLED["methods"]
KEYWORDS = frozenset({"dtype", "device", "memory_format"})
_WORDS = CONSTANTS.keys() | {"None"}


def check_samples(operator: Operator, samples: Samples) -> Findings:
    """Every mistake in the calls and the reference of `samples:`."""
    for sample in samples.calls:
        wrong: list[Found] = []
        for value in (*sample.arguments, *dict(sample.keywords).values()):
            wrong += _unreadable(value)
        for problem in wrong or _bind(operator.function, sample):
            yield problem._replace(span=problem.span or sample.span)
    if samples.reference is not None:
        yield from _unknown_names(operator.function, samples.reference)
        yield from check_reference(operator, samples.reference)


def _unknown_names(function: NativeFunction, reference: Reference) -> Findings:
    """Names in an expression that are not arguments."""
    words = BUILTINS | python_names(function.func).keys()
    let = {name: span for name, _, span in reference.let}
    yield from check_let(let.items(), words | {"grads", *return_names(function.func)})
    words |= let.keys()
    if not reference.function:
        for name, span in reference.names:
            if name not in words:
                hint: Help | None = instead_in_a_reference(span) if span is not None else None
                hint = hint or did_you_mean(name, words)
                hint = hint or did_you_mean(name, functions_of_torch().torch)
                hint = hint or "functions are written `torch.exp(x)` or `exp(x)`"
                yield Found(
                    "TG335",
                    f"unknown name `{name}` in a reference",
                    span,
                    "not an argument",
                    hint,
                )


_USED = "use calls such as `randn(3)`, numbers, words, strings and lists"


def _unreadable(node: nodes.Expression) -> Findings:
    """Anything but factories, a few methods, numbers, words and lists."""
    if isinstance(node, nodes.Call):
        yield from _unreadable_call(node)
    elif isinstance(node, nodes.Name):
        if node.text not in _WORDS:
            yield Found(
                "TG335",
                f"unknown name `{node.text}` in a sample",
                node.span,
                "here",
                did_you_mean(node.text, _WORDS),
            )
    elif isinstance(node, nodes.Literal):
        if "\\" in node.text:
            yield Found(
                "TG335",
                "a backslash in a string",
                node.span,
                "strings have no escapes",
                "write a string without it",
            )
    elif not isinstance(node, (nodes.ListDisplay, nodes.Binary, nodes.Unary)):
        yield Found("TG335", f"a sample cannot use `{node}`", node.span, "here", _USED)
        return
    for child in nodes.children(node):
        yield from _unreadable(child)


def _unreadable_call(node: nodes.Call) -> Findings:
    if isinstance(node.function, nodes.Member):
        if node.function.name not in METHODS or node.function.arrow:
            yield Found(
                "TG335",
                f"no method `{node.function.name}` in samples",
                node.function.span,
                "here",
                did_you_mean(node.function.name, METHODS) or f"there are {quoted(sorted(METHODS))}",
            )
    elif str(node.function) not in FACTORIES:
        yield Found(
            "TG335",
            f"no function `{node.function}` in samples",
            node.span,
            "here",
            _function_meant(node, str(node.function)),
        )
    for keyword, value in node.keywords:
        if keyword not in KEYWORDS:
            yield Found(
                "TG335",
                f"no keyword `{keyword}` in samples",
                value.span,
                "here",
                did_you_mean(keyword, KEYWORDS) or f"there are {quoted(sorted(KEYWORDS))}",
            )


def _function_meant(node: nodes.Call, name: str) -> Help:
    """The method that is called as a function, a factory with a similar name, or all of them."""
    if name in METHODS and node.arguments and isinstance(node.arguments[0], nodes.Call):
        first, *others = map(str, node.arguments)
        return write_instead(str(node), f"{first}.{name}({', '.join(others)})")
    factories = sorted(FACTORIES)
    return did_you_mean(name, factories) or f"there are {quoted(factories)}"


def _bind(function: NativeFunction, sample: Sample) -> Findings:
    schema = function.func
    positional = schema.positional
    if len(sample.arguments) > len(positional):
        extra = sample.arguments[len(positional)]
        yield Found(
            "TG336",
            f"`{schema.full_name}` takes {len(positional)} positional arguments",
            extra.span,
            "one more",
        )
        return
    values = dict(zip(names_of(positional), sample.arguments))
    names = names_of(schema.arguments)
    spans = dict(sample.keyword_spans)
    for keyword, value in sample.keywords:
        span = spans.get(keyword, value.span)
        if keyword not in names:
            yield Found(
                "TG336",
                f"`{schema.full_name}` has no argument `{keyword}`",
                span,
                "here",
                did_you_mean(keyword, names),
            )
        elif keyword in values:
            yield Found("TG336", f"argument `{keyword}` is given twice", span, "again here")
        values[keyword] = value
    for argument in schema.arguments:
        given = values.get(argument.name)
        if given is None and argument.default is None:
            yield Found(
                "TG336",
                f"the sample leaves out `{argument.name}`",
                sample.span,
                "not given",
            )
        elif given is not None and not _fits(given, value_kind(argument.type)):
            yield Found(
                "TG336",
                f"`{given}` is given for `{argument.type} {argument.name}`",
                given.span,
                "of another type",
            )


def _fits(given: nodes.Expression, wanted: kinds.Kind) -> bool:
    tree = type_formula(given, Scope({}, language=SAMPLES))
    bare = wanted.present
    if tree.is_none:
        return wanted.is_optional or not wanted.is_known
    if tree.kind.is_list:
        return bare.is_list or not bare.is_known
    # One number stands for a fixed-size list of equal ones.
    is_repeated = tree.kind.is_number and bare == tree.kind._replace(is_list=True)
    taken = {bare, kinds.STRING} if bare == kinds.DEVICE else {bare}
    return is_repeated or fits(tree.kind, frozenset(taken))
