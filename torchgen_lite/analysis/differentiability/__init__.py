"""What derivative formulas mean for an operator: what is differentiable, and what backward needs saved.

`read_info` turns formulas into facts about one operator, with diagnostics for what doesn't fit;
`match_derivatives` finds the facts for every operator of a file, in-place and copying variants included.
"""

from __future__ import annotations

from torchgen_lite.analysis.differentiability.check import check_derivatives
from torchgen_lite.analysis.differentiability.info import (
    differentiable_outputs,
    is_tensor_like,
    read_info,
    return_names,
)
from torchgen_lite.analysis.differentiability.match import Matches, match_derivatives
from torchgen_lite.analysis.differentiability.model import (
    Derivative,
    DifferentiabilityInfo,
    SavedAttribute,
)
from torchgen_lite.analysis.differentiability.saved import find_saved

__all__ = [
    "Derivative",
    "DifferentiabilityInfo",
    "Matches",
    "SavedAttribute",
    "check_derivatives",
    "differentiable_outputs",
    "find_saved",
    "is_tensor_like",
    "match_derivatives",
    "read_info",
    "return_names",
]
