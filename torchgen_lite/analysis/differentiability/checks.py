"""The checks of formulas, in the order in which they make sense."""

from __future__ import annotations

from collections.abc import Collection

from torchgen_lite.analysis.differentiability.calls import Speech, check_formula_calls
from torchgen_lite.analysis.differentiability.check import check_derivatives
from torchgen_lite.analysis.differentiability.kinds import check_kinds
from torchgen_lite.analysis.differentiability.noted import check_noted
from torchgen_lite.analysis.differentiability.results import check_results
from torchgen_lite.analysis.finding import Reported
from torchgen_lite.analysis.resolve import Resolved
from torchgen_lite.diagnostics import has_errors


def check_formulas(
    resolved: Resolved, helpers: Collection[str] | None, speech: Speech | None
) -> Reported:
    """Formulas that can be read are typed, and asked which results have a gradient.

    With `helpers`, they may call only those functions and operators; `speech` is what they may call of PyTorch.
    """
    wrong = list(check_derivatives(resolved.functions, helpers))
    yield from wrong
    if not has_errors(wrong):
        yield from check_kinds(resolved)
        yield from check_noted(resolved)
        yield from check_results(resolved)
        if speech is not None:
            yield from check_formula_calls(resolved, speech)
