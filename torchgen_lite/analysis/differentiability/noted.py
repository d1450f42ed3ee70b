"""Formulas that read what a call writes beside its results, or are for it: TG325.

Note [What is noted is not read]
Backward computes formulas later. What a call has written by then, such as running statistics, has another value than it
had before the call, and the next call changes it again; autograd raises an error for what was saved and has changed
since. Which value a formula would mean is not said, so none reads it: it computes from the inputs and the results.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator

from torchgen_lite.analysis.differentiability.model import DifferentiabilityInfo, Tangent
from torchgen_lite.analysis.finding import Findings, Found, Reported, findings
from torchgen_lite.analysis.resolve import Resolved
from torchgen_lite.diagnostics import Span
from torchgen_lite.formulas.facts import LASTING
from torchgen_lite.formulas.model import Name, walk
from torchgen_lite.formulas.tree import saving_in
from torchgen_lite.loader.entry.derivatives import AUTO_LINEAR
from torchgen_lite.schema.grouped import names_of


def check_noted(resolved: Resolved) -> Reported:
    """The formulas of operators that write beside their results. PyTorch's own say which value they mean in C++."""
    for operator, info in resolved.formulas:
        noted = set(names_of(info.noted))
        if noted and not operator.function.is_pytorchs:
            yield from findings(operator.function, _check(info, noted))


def _check(info: DifferentiabilityInfo, noted: Collection[str]) -> Findings:
    name = info.schema.full_name
    for derivative in info.derivatives:
        formula = derivative.formula
        for argument, span in zip(formula.names, formula.name_spans):
            if argument in noted:
                yield Found(
                    "TG325",
                    f"`{name}` writes to `{argument}`, which has no gradient",
                    span,
                    "no formula here",
                    "remove it: calls refuse what is written and requires a gradient",
                )
        for part, saved in saving_in(derivative.tree):
            if saved.source in noted and saved.fact not in LASTING:
                yield _unclear(name, saved.source, part.node.span or formula.span)
    for tangent in info.forward:
        for argument, place in _read_by(tangent, noted):
            yield _unclear(name, argument, place or tangent.formula.span)
        if tangent.formula.word == AUTO_LINEAR:
            yield Found(
                "TG325",
                f"`{AUTO_LINEAR}` would call `{name}` again, which writes to an argument",
                tangent.formula.span,
                "writes again",
                "write a formula",
            )


def _read_by(tangent: Tangent, noted: Collection[str]) -> Iterator[tuple[str, Span | None]]:
    """What the formula of a tangent reads of the values that are written, and of their tangents."""
    if tangent.formula.expression is None:
        return
    for node in walk(tangent.formula.expression):
        if isinstance(node, Name):
            for argument in noted:
                if node.text in (argument, f"{argument}_p", f"{argument}_t"):
                    yield argument, node.span


def _unclear(name: str, argument: str, span: Span | None) -> Found:
    return Found(
        "TG325",
        f"`{name}` writes to `{argument}`, and a formula reads it: before the call or after it?",
        span,
        "which value?",
        "compute what backward needs from the inputs, or return it as a result",
    )
