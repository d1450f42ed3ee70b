"""What derivative formulas mean for an operator: what is differentiable, and what backward needs saved.

`plan_autograd` says what autograd does for every operator of a file; `read_info` turns the formulas of one entry
into facts, and `match_derivatives` finds these for in-place and copying variants. `check_derivatives` reports
what doesn't fit.
"""

from __future__ import annotations

from torchgen_lite.analysis.differentiability.check import check_derivatives
from torchgen_lite.analysis.differentiability.facts import Fact, Saved
from torchgen_lite.analysis.differentiability.info import (
    differentiable_outputs,
    read_info,
    return_names,
)
from torchgen_lite.analysis.differentiability.match import Matches, match_derivatives
from torchgen_lite.analysis.differentiability.model import (
    Derivative,
    DifferentiabilityInfo,
    TensorArgument,
)
from torchgen_lite.analysis.differentiability.plan import (
    AutogradPlan,
    Category,
    Tracking,
    plan_autograd,
)

__all__ = [
    "AutogradPlan",
    "Category",
    "Derivative",
    "DifferentiabilityInfo",
    "Fact",
    "Matches",
    "Saved",
    "TensorArgument",
    "Tracking",
    "check_derivatives",
    "differentiable_outputs",
    "match_derivatives",
    "plan_autograd",
    "read_info",
    "return_names",
]
