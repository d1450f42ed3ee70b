"""The checks of the fields that PyTorch's own entries do not have, each against the schema of its operator.

They need the language of formulas, so this module is imported by a program with such a field.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import Any

from torchgen_lite.analysis.axes import check_axes
from torchgen_lite.analysis.checks import compiled
from torchgen_lite.analysis.checks.autocast import check_autocast
from torchgen_lite.analysis.checks.samples import check_samples
from torchgen_lite.analysis.differentiability.calls import Speech, check_formula_calls
from torchgen_lite.analysis.differentiability.check import check_derivatives
from torchgen_lite.analysis.differentiability.kinds import check_kinds
from torchgen_lite.analysis.differentiability.noted import check_noted
from torchgen_lite.analysis.differentiability.results import check_results
from torchgen_lite.analysis.fakes.check import check_fake
from torchgen_lite.analysis.finding import Findings, Reported, findings
from torchgen_lite.analysis.operators import Operator
from torchgen_lite.analysis.resolve import Resolved
from torchgen_lite.analysis.torch_library import check_loop
from torchgen_lite.diagnostics import has_errors


def check_fields(
    resolved: Resolved, helpers: Collection[str] | None, speech: Speech | None
) -> Reported:
    """The findings in every field. With `helpers`, formulas may call only those functions and operators; `speech` is what
    they may call of PyTorch."""
    yield from _check_formulas(resolved, helpers, speech)
    for operator in resolved.declared:
        yield from _check_entry(operator)


def _check_formulas(
    resolved: Resolved, helpers: Collection[str] | None, speech: Speech | None
) -> Reported:
    """Formulas that can be read are typed, and asked which results have a gradient."""
    wrong = list(check_derivatives(resolved.functions, helpers))
    yield from wrong
    if not has_errors(wrong):
        yield from check_kinds(resolved)
        yield from check_noted(resolved)
        yield from check_results(resolved)
        if speech is not None:
            yield from check_formula_calls(resolved, speech)


# The fields, each with what checks its value.
_CHECKS: Sequence[tuple[str, Callable[[Operator, Any], Findings]]] = (
    ("fake", check_fake),
    ("flops", compiled.check_flops),
    ("samples", check_samples),
    ("decompose", compiled.check_decompose),
    ("checkpoint", compiled.check_checkpoint),
    ("triton", compiled.check_triton),
    ("axes", check_axes),
    ("vmap", check_loop),
    ("autocast", check_autocast),
)


def _check_entry(operator: Operator) -> Reported:
    for field, check in _CHECKS:
        value = getattr(operator.function, field)
        if value:
            mistakes = check(operator, value)
            yield from findings(operator.function, mistakes, getattr(value, "span", None))
