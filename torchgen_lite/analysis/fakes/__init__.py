"""Fakes: what an operator returns when only shapes are known.

`check_fakes` holds the rules of `fake:` against the schemas; `results.py` says which results need a rule at all.
"""

from __future__ import annotations

from torchgen_lite.analysis.fakes.check import check_fakes
from torchgen_lite.analysis.fakes.kinds import DTYPES, value_kind
from torchgen_lite.analysis.fakes.results import (
    Result,
    has_own_fake,
    is_view_rule,
    lacks_fake,
    results_of,
    rules_by_result,
)

__all__ = [
    "DTYPES",
    "Result",
    "check_fakes",
    "has_own_fake",
    "is_view_rule",
    "value_kind",
    "lacks_fake",
    "results_of",
    "rules_by_result",
]
