"""Results that would get a gradient, and have none: their fake makes them integers, or no formula uses the gradient."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from torchgen_lite.analysis.differentiability.model import DifferentiabilityInfo
from torchgen_lite.analysis.fakes.results import rules_by_result
from torchgen_lite.analysis.finding import Reported, finding
from torchgen_lite.analysis.resolve import Resolved
from torchgen_lite.diagnostics import Diagnostic
from torchgen_lite.formulas.language import INTEGRAL_DTYPES
from torchgen_lite.formulas.model import Literal, Name, Subscript
from torchgen_lite.formulas.tree import Typed
from torchgen_lite.schema import return_names


def check_results(resolved: Resolved) -> Reported:
    """Entries that lack `output_differentiability`, or a gradient in their formulas."""
    for operator in resolved.declared:
        for info in operator.infos.values() if operator.function.derivatives is not None else ():
            yield from _check_integers(info) or _check_unused(info)


def _check_integers(info: DifferentiabilityInfo) -> list[Diagnostic]:
    """libtorch rejects integers that require grad."""
    function = info.function
    if function.fake is None or not info.slots or info.output_differentiability is not None:
        return []
    rules = rules_by_result(function)
    dtypes = {i: rule.get("dtype") for i, rule in rules.items() if i in info.outputs}
    names = {i: d.text for i, d in dtypes.items() if isinstance(d, Name)}
    found = {i: text for i, text in names.items() if text in INTEGRAL_DTYPES}
    if not found:
        return []
    index, dtype = next(iter(found.items()))
    name = return_names(function.func)[index]
    message = f"result `{name}` of `{function.func.full_name}` is `{dtype}`, and has no gradient"
    hint = "leave `derivatives` out"
    if len(found) < len(info.outputs):
        hint = f"add `{_flags(info, found)}`"
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
