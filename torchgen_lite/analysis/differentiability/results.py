"""Results that would get a gradient, and have none: their fake makes them integers, no formula uses the gradient, or a
formula reads a result that is said to have none.

Note [What is read is a constant]
A formula is differentiated for second derivatives. There a result without a gradient is a constant, and what depends on
the inputs through it is lost without a word. The author answers for a formula that hands such a result to an operator of
the file: that one may have no derivative, so that it is refused, or a formula of its own that has all of it in the
gradient of another argument, and says `not_differentiable` of this one.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator

from torchgen_lite.analysis.differentiability.model import DifferentiabilityInfo
from torchgen_lite.analysis.fakes.results import rules_by_result
from torchgen_lite.analysis.finding import Reported, finding
from torchgen_lite.analysis.resolve import Resolved
from torchgen_lite.diagnostics import Diagnostic
from torchgen_lite.formulas.facts import Saved
from torchgen_lite.formulas.language import INTEGRAL_DTYPES
from torchgen_lite.formulas.model import (
    Binary,
    Call,
    Conditional,
    Literal,
    Name,
    Subscript,
    texts_in,
)
from torchgen_lite.formulas.operands import COMPARISONS
from torchgen_lite.formulas.tree import Typed
from torchgen_lite.schema import return_names


def check_results(resolved: Resolved) -> Reported:
    """Entries that lack `output_differentiability`, or a gradient in their formulas."""
    for operator, info in resolved.formulas:
        yield from _check_integers(info) or _check_unused(info)
        if not operator.function.is_pytorchs:
            yield from _check_constants(info, resolved)


def _check_integers(info: DifferentiabilityInfo) -> list[Diagnostic]:
    """libtorch rejects integers that require grad."""
    function = info.function
    if function.fake is None or not info.slots or info.output_differentiability is not None:
        return []
    integers = {}
    for index, rule in rules_by_result(function).items():
        dtype = rule.get("dtype")
        if index in info.outputs and isinstance(dtype, Name) and dtype.text in INTEGRAL_DTYPES:
            integers[index] = dtype
    if not integers:
        return []
    index, dtype = next(iter(integers.items()))
    name = return_names(function.func)[index]
    message = f"result `{name}` of `{function.func.full_name}` is `{dtype}`, and has no gradient"
    hint = "leave `derivatives` out"
    if len(integers) < len(info.outputs):
        hint = f"add `{_flags(info, integers)}`"
    assert function.derivatives is not None
    return [finding(function, "TG343", message, function.derivatives.span, "missing here", hint)]


def _check_unused(info: DifferentiabilityInfo) -> Reported:
    """A gradient that no formula uses, where formulas use others."""
    function = info.function
    names = return_names(info.schema)
    used = set[int]()
    for derivative in info.derivatives:
        used.update(_used(derivative.tree, info))
    unused = [index for position, index in enumerate(info.outputs) if position not in used]
    if not used or not unused:
        return
    gradient = f"grad_{names[unused[0]]}"
    if gradient not in info.available_gradients or "grads" in info.mentioned:
        gradient = f"grads[{info.outputs.index(unused[0])}]"
    message = f"no formula uses `{gradient}`: `{names[unused[0]]}` has the gradient zero"
    hint = f"use it, or write `{_flags(info, unused)}`"
    assert function.derivatives is not None
    yield finding(function, "TG422", message, function.derivatives.span, "missing here", hint)


def _check_constants(info: DifferentiabilityInfo, resolved: Resolved) -> Reported:
    """Results without a gradient that formulas read; see Note [What is read is a constant]."""
    function = info.function
    known = set[int]()
    for index, rule in rules_by_result(function).items():
        # `default(index_type, int64)` is one of integers, too.
        dtype = rule.get("dtype")
        if dtype is not None and not INTEGRAL_DTYPES.isdisjoint(texts_in(dtype)):
            known.add(index)
    known.update(info.outputs)
    for derivative in info.derivatives:
        for part, saved in _read_in(derivative.tree, resolved):
            if saved.result is None or saved.result in known or not saved.keeps_tensors:
                continue
            known.add(saved.result)
            name = saved.source
            yield finding(
                function,
                "TG434",
                f"`{name}` has no gradient, and a formula reads it: second derivatives take it for a constant",
                part.node.span or derivative.formula.span,
                "a constant",
                f"compute it from the inputs under `let:`, or give `{name}` a gradient",
            )


def _read_in(tree: Typed, resolved: Resolved) -> Iterator[tuple[Typed, Saved]]:
    """What a formula saves and differentiates itself, each with its place."""
    if tree.saved is not None:
        yield tree, tree.saved
        return
    is_comparison = isinstance(tree.node, Binary) and tree.node.operator in COMPARISONS
    if is_comparison:
        return
    answered = _answered(tree, resolved)
    for index, part in enumerate(tree.parts):
        is_test = isinstance(tree.node, Conditional) and index == 0
        if index not in answered and not is_test:
            yield from _read_in(part, resolved)


def _answered(tree: Typed, resolved: Resolved) -> Collection[int]:
    """The operands of a call of an operator of the file for whose derivative that operator answers."""
    callee = tree.operator
    if callee is None or not callee.is_own or not isinstance(tree.node, Call):
        return ()
    everything = range(len(tree.parts))
    operator = resolved.by_name[callee.name]
    plan = resolved.autograd.get(operator.name)
    if plan is None or plan.info is None:
        return () if operator.is_composed else everything
    keywords = tree.node.keyword_names
    count = len(tree.parts) - len(keywords)
    names = [place.name if place else "" for place in callee.by_position(count)[:count]]
    given = enumerate([*names, *keywords])
    return [index for index, name in given if name in plan.info.not_differentiable]


def _used(tree: Typed, info: DifferentiabilityInfo) -> Iterator[int]:
    """The positions of the gradients that a formula uses."""
    match tree.node:
        case Subscript(Name("grads"), Literal(text)) if text.isdigit():
            yield int(text)
            return
        case Name("grads"):
            yield from range(len(info.outputs))
        case Name("grad"):
            yield 0
        case Name(text):
            names = return_names(info.schema)
            gradients = [f"grad_{names[index]}" for index in info.outputs]
            yield from [gradients.index(text)] if text in gradients else []
    for part in tree.parts:
        yield from _used(part, info)


def _flags(info: DifferentiabilityInfo, without: Collection[int]) -> str:
    """`output_differentiability: [True, False]`, without some of the results that have a gradient now."""
    count = len(info.schema.returns)
    flags = [str(index in info.outputs and index not in without) for index in range(count)]
    return f"output_differentiability: [{', '.join(flags)}]"
